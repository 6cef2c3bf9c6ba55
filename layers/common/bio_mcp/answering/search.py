"""Retrieve papers for a question: both legs, fusion, relevance feedback, quality. Every search tool uses it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import Failure, IndexUnavailable, InvalidInput
from bio_mcp.ports import Backends
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.excerpts import best_chunk
from bio_mcp.retrieval.passages import Candidate, Filters, PassageQuery
from bio_mcp.retrieval.question import expansion
from bio_mcp.retrieval.ranking import FEEDBACK_PAPERS, Fused, Ranked, feedback_papers, fuse, move_towards, rank, rerank
from bio_mcp.retrieval.relevance import answerable, background, relevance

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

DEPTH = 200  # documents per leg
LOST = (
    "Papers are stored, and the index has none of them: it is being written, or was lost. Search again in a minute; if "
    "nobody writes it, bio-mcp admin reindex does."
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the corpus. `synonyms` adds MeSH entry terms and drug names to the words."""

    text: str
    filters: Filters = field(default_factory=Filters)
    quality_bias: bool = True
    synonyms: bool = True


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Ranked papers, with the analysed words and the vector of the question for excerpts.

    `warnings` are sentences for the user: an empty corpus, no match, matches by meaning alone. `relevance` has the
    probability of each ranked paper to be relevant, by PMID, `answerable` that of any among the first ten.
    """

    ranked: list[Ranked]
    terms: frozenset[str]
    vector: "Vectors"
    warnings: tuple[str, ...] = ()
    relevance: Mapping[str, float] = field(default_factory=dict)
    answerable: float = 0.0


def search_papers(question: Question, backends: Backends, deadline: Deadline = NEVER) -> Retrieved:
    """Rank the papers that fit `question`.

    Raises `InvalidInput` for a question without a letter or digit, `ModelMismatch`, `EmbeddingFailed` and
    `IndexUnavailable`; a leg that fails never shortens or worsens the list.
    """
    text = readable(question.text)
    terms = query_terms(text, expansion if question.synonyms else None)
    embeddings, passages = backends.embeddings, backends.passages
    passages.check_model(embeddings.fingerprint, embeddings.dim)
    deadline.check("embedding the question")
    vector = embeddings.embed_questions([text])[0]
    deadline.check("searching")
    candidates = passages.hybrid_search(PassageQuery(terms, vector, question.filters, DEPTH))
    fused = _with_feedback(candidates, vector, question.filters, backends)
    ranked = rank(candidates, fused, backends.today(), quality_bias=question.quality_bias)
    query_words = frozenset(term for term, _ in query_terms(text))
    warnings = tuple(_warnings(candidates, question.filters, backends))
    behind = background(ranked, len(query_words))
    return Retrieved(ranked, query_words, vector, warnings, relevance(ranked, behind), answerable(ranked, behind))


def journal_keys(journal: str) -> frozenset[str]:
    """The keys under which the index may have a journal: the NLM id, or the title in lower case."""
    return frozenset({journal.strip(), journal.strip().lower()})


def check_years(first: int | None, last: int | None) -> None:
    """Raise `InvalidInput` for a range of years that ends before it begins."""
    if first and last and first > last:
        raise InvalidInput(f"{first} is after the last year, {last}", field="filters.year_from")


def readable(text: str) -> str:
    """Return `text` as valid Unicode. Raises `InvalidInput` when it has no letter or digit."""
    valid = text.encode("utf-8", "replace").decode()
    if not any(character.isalnum() for character in valid):
        raise InvalidInput("it has no word; say what to look for, as you would ask a librarian", field="query")
    return valid


def _with_feedback(
    candidates: Sequence[Candidate], vector: "Vectors", filters: Filters, backends: Backends
) -> dict[str, Fused]:
    """Fuse, move the query towards the best papers, score the same candidates again, fuse again.

    With fewer than `FEEDBACK_PAPERS` papers that are not retracted, the first fusion stands.
    """
    first = fuse(candidates, DEPTH)
    best = feedback_papers(candidates, first)
    if len(best) < FEEDBACK_PAPERS:
        return first
    papers = backends.passages.document_vectors(best)
    nearer = move_towards(vector, [(first[pmid].score, papers[pmid]) for pmid in best if pmid in papers])
    pmids = frozenset(each.pmid for each in candidates)
    rescored = backends.passages.hybrid_search(PassageQuery((), nearer, filters, len(pmids), within=pmids))
    return fuse(candidates, DEPTH, {each.pmid: each.sim for each in rescored if each.sim is not None})


def _warnings(candidates: Sequence[Candidate], filters: Filters, backends: Backends) -> list[str]:
    """Sentences for the user on an empty corpus, an empty result, and hits by meaning alone.

    Raises `IndexUnavailable` where papers are stored, and none is in the index.
    """
    if not candidates:
        if backends.passages.count()[0] == 0:
            if backends.documents.count():
                raise IndexUnavailable(LOST)
            return ["The corpus is empty. Sync a PubMed query or import PubMed XML files first."]
        return ["No paper in the corpus passes the filters." if filters else "No paper in the corpus fits the query."]
    if all(each.bm25 is None for each in candidates):
        where = "the papers that pass the filters" if filters else "the corpus"
        return [f"None of the query's words occurs in {where}: these papers were found by meaning alone."]
    return []


BEST = 30  # papers that are read; the others stay behind them
FAILED = "The reranker did not answer, so the hits are in the order of the search: {}"


def find_reranked(question: Question, backends: Backends, deadline: Deadline = NEVER) -> Retrieved:
    """Find papers as `find` does, with the best `BEST` in the order of the reranker, if there is one.

    Where it fails the order is that of the search, and a warning says why. Raises what `find` raises, and
    `DeadlineExceeded` only where the call's own time is over.
    """
    retrieved = search_papers(question, backends, deadline)
    reranker = backends.reranker
    if reranker is None or len(retrieved.ranked) < 2:
        return retrieved
    texts = _texts(retrieved.ranked[:BEST], retrieved, backends)
    if not texts:
        return retrieved
    try:
        scores = reranker.scores(question.text, list(texts.values()), deadline)
    except Failure as failure:
        deadline.check("answering in the order of the search")
        return replace(retrieved, warnings=(*retrieved.warnings, FAILED.format(failure)))
    return replace(retrieved, ranked=rerank(retrieved.ranked, dict(zip(texts, scores, strict=True))))


def _texts(best: Sequence[Ranked], retrieved: Retrieved, backends: Backends) -> dict[str, str]:
    """The title and the best passage of each paper that is still there, by PMID."""
    pmids, texts = [each.candidate.pmid for each in best], {}
    documents, chunks = backends.documents.get_many(pmids), backends.passages.chunks(pmids, None)
    for each in best:
        pmid = each.candidate.pmid
        if pmid in documents and chunks.get(pmid):
            title = documents[pmid].article.title or ""
            passage = best_chunk(chunks[pmid], each.candidate.chunk_id, retrieved.terms).text
            texts[pmid] = passage if passage.startswith(title) else f"{title} {passage}"
    return texts
