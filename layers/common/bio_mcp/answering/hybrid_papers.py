"""Papers among the hits of a search of everything."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bio_mcp.answering.hybrid_hits import PAPER, Found, Hit, HybridQuestion
from bio_mcp.answering.retractions import FLAGGED
from bio_mcp.answering.retrieving import DEPTH, Question, Retrieved, find
from bio_mcp.deadline import Deadline
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.asked import Asked
from bio_mcp.retrieval.excerpts import best_chunk, snippet
from bio_mcp.retrieval.passages import Candidate, Filters, StoredChunk
from bio_mcp.retrieval.ranking import RETRACTED_FACTOR
from bio_mcp.retrieval.reciprocal_ranks import reciprocal_ranks

SOURCE = "PubMed"


@dataclass(slots=True)
class _Searched:
    """Legs of PMIDs, best first, with the papers that they name; and what is to be said of the search."""

    legs: list[list[str]] = field(default_factory=list)
    candidates: dict[str, Candidate] = field(default_factory=dict)
    terms: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    reasons: list[str] = field(default_factory=list)


def papers(question: HybridQuestion, backends: Backends, deadline: Deadline) -> Found:
    """Find papers of the corpus. A retracted one has half of its score.

    An English question has two legs, words and meaning. A Thai one has what `find` ranks for its English words, and
    the multilingual index where there is one.
    """
    searched = _searched(question, backends, deadline)
    of, fused = searched.candidates, reciprocal_ranks(searched.legs)
    scores = {pmid: round(score * _factor(of[pmid]), 6) for pmid, score in fused.items()}
    best = sorted(scores, key=lambda pmid: (-scores[pmid], -int(pmid)))[: question.top_k]
    deadline.check("reading the passages")
    documents, chunks = backends.documents.get_many(best), backends.passages.chunks(best)
    shown = [pmid for pmid in best if pmid in documents and chunks.get(pmid)]
    hits = [_hit(of[pmid], scores[pmid], documents[pmid], chunks[pmid], searched.terms) for pmid in shown]
    gone = [f"{len(best) - len(shown)} papers were deleted during the search"] if len(shown) < len(best) else []
    return Found(hits, [*searched.warnings, *_flagged(hits)], [*searched.reasons, *gone])


def _searched(question: HybridQuestion, backends: Backends, deadline: Deadline) -> _Searched:
    searched, filters = _Searched(), Filters(question.year_from, question.year_to)
    if question.asked.is_thai and (second := backends.multilingual):
        deadline.check("searching the multilingual index")
        found = second.search(question.asked.text, filters, DEPTH)
        searched.candidates = {each.pmid: replace(each, chunk_id=None) for each in found}
        searched.legs.append([each.pmid for each in found])
        searched.reasons += _missing(second.count(), backends.documents.count())
    if question.asked.english:
        asked = Question(question.asked.english, filters, quality_bias=False)
        retrieved = find(asked, backends, deadline)
        searched.candidates |= {each.candidate.pmid: each.candidate for each in retrieved.ranked}
        searched.legs += _legs(retrieved, question.asked)
        searched.terms, searched.warnings = retrieved.terms, retrieved.warnings
    return searched


def _legs(retrieved: Retrieved, asked: Asked) -> list[list[str]]:
    """What is ranked by English: by words and by meaning, or both as one leg beside the multilingual one."""
    if asked.is_thai:
        return [[each.candidate.pmid for each in retrieved.ranked]]
    candidates = [each.candidate for each in retrieved.ranked]
    return [_leg(candidates, "bm25"), _leg(candidates, "sim")]


def _missing(there: int, papers: int) -> list[str]:
    """A reason, where the multilingual index does not have every paper."""
    if there >= papers:
        return []
    return [f"the multilingual index has {there} of {papers} papers; `bio-mcp reindex` adds the others"]


def _leg(candidates: Iterable[Candidate], name: str) -> list[str]:
    """PMIDs of the papers that a leg returned, best first."""
    scored = [(getattr(each, name), each.pmid) for each in candidates]
    return [pmid for _, _, pmid in sorted((-score, -int(pmid), pmid) for score, pmid in scored if score is not None)]


def _factor(candidate: Candidate) -> float:
    return RETRACTED_FACTOR if candidate.retraction is RetractionStatus.RETRACTED else 1.0


def _hit(
    candidate: Candidate, score: float, document: Document, chunks: Sequence[StoredChunk], terms: Collection[str]
) -> Hit:
    article = document.article
    title = article.title or article.vernacular_title or f"PMID {article.pmid}"
    text = snippet(best_chunk(chunks, candidate.chunk_id, terms).text, terms) or title
    return Hit(f"pmid:{article.pmid}", PAPER, title, text, score, SOURCE, article.pmid, retraction=candidate.retraction)


def _flagged(hits: Sequence[Hit]) -> Iterator[str]:
    """A sentence for each paper that should not be relied on."""
    for hit in hits:
        if hit.retraction in FLAGGED:
            yield f"PMID {hit.pmid} {FLAGGED[hit.retraction]}: say so where you cite it."
