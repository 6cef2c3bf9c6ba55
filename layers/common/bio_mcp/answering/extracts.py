"""Choose the sentences that answer a question best from the papers that were found for it.

Every sentence is scored by its words and by the windows that it stands in, whose vectors are stored; the best of them
are embedded by themselves and scored again. A sentence is a span of the title or abstract of a stored version.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bio_mcp.answering.search import Retrieved
from bio_mcp.literature.records import CitedSpan, Document
from bio_mcp.ports import Backends
from bio_mcp.retrieval.chunking import abstract_text, citable_spans, sentence_spans
from bio_mcp.retrieval.excerpts import overlap
from bio_mcp.retrieval.passages import StoredChunk
from bio_mcp.retrieval.ranking import Ranked
from bio_mcp.retrieval.relevance import COVERAGE_WEIGHT
from bio_mcp.retrieval.sentence_scores import bm25_among, combined, says_what_was_found

EMBEDDED = 6  # sentences of an answer that are embedded by themselves, 8 ms each
SHORTEST_TITLE = 60  # characters of a title that no sentence of findings has by chance
LONGEST = 1_000  # characters of a sentence that may be cited
FITS_FROM = 0.61  # on SciFact the best sentence of 99 % of the judged papers does


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a paper. `late` is 0 for the first of its abstract and 1 for the last, and for a title."""

    span: CitedSpan
    late: float


@dataclass(frozen=True, slots=True)
class Extract:
    """A sentence that may answer the question. `score` orders those of one answer; the others compare between answers.

    `relevance` is the probability that its paper is relevant, `sim` the sentence's cosine to the question, `coverage`
    the share of the question's words that it has.
    """

    document: Document
    span: CitedSpan
    score: float
    relevance: float
    sim: float
    coverage: float

    @property
    def fits(self) -> bool:
        """Whether it fits the question, by meaning and words, so well that it may be cited."""
        return self.sim + COVERAGE_WEIGHT * self.coverage >= FITS_FROM


def extracts(
    retrieved: Retrieved,
    places: Sequence[Ranked],
    documents: Mapping[str, Document],
    backends: Backends,
) -> list[Extract]:
    """The sentences of the papers in `places` that fit the question best, best first: `EMBEDDED` at most, or one of
    each paper.

    Papers that are not in `documents` have none.
    """
    papers = {each.candidate.pmid: each.fused.score for each in places if each.candidate.pmid in documents}
    every = (each for pmid in papers for each in sentences_of(documents[pmid]))
    sentences = [each for each in every if len(each.span.quote) <= LONGEST]
    if not sentences:
        return []
    chunks = backends.passages.chunks(list(papers), retrieved.vector)
    first = _scores(sentences, [_window_sim(each.span, chunks) for each in sentences], papers, retrieved)
    chosen = _shortlist(sentences, first)
    sims = [float(sim) for sim in backends.embeddings.embed([each.span.quote for each in chosen]) @ retrieved.vector]
    scores = _scores(chosen, sims, papers, retrieved)
    terms = retrieved.terms
    found = [
        Extract(
            documents[pmid := each.span.pmid],
            each.span,
            score,
            retrieved.relevance[pmid],
            sim,
            overlap(each.span.quote, terms) / len(terms),
        )
        for each, score, sim in zip(chosen, scores, sims, strict=True)
    ]
    return sorted(found, key=lambda each: (-each.score, -int(each.span.pmid), each.span.start))


def sentences_of(document: Document) -> Iterator[Sentence]:
    """The sentences of the abstract, without labels of sections; the title, where there is no abstract.

    A sentence that repeats the title, as a reference to the paper does, is none.
    """
    article, version = document.article, document.version
    text = abstract_text(article)
    spans = [
        (start + first, start + last)
        for start, end in citable_spans(article)
        for first, last in sentence_spans(text[start:end])
        if not _refers_to(text[start + first : start + last], article.title or "")
    ]
    for place, (start, end) in enumerate(spans):
        late = place / (len(spans) - 1) if len(spans) > 1 else 1.0
        yield Sentence(CitedSpan(article.pmid, version, "abstract", start, end, text[start:end]), late)
    if not spans and article.title:
        yield Sentence(CitedSpan(article.pmid, version, "title", 0, len(article.title), article.title), 1.0)


def _refers_to(sentence: str, title: str) -> bool:
    """Whether the sentence names the paper by its title, with more around it, as "How to cite this" does."""
    named = title.rstrip(".").casefold()
    return len(named) >= SHORTEST_TITLE and len(sentence) > len(title) + 1 and named in sentence.casefold()


def _scores(
    sentences: Sequence[Sentence], sims: Sequence[float], papers: Mapping[str, float], retrieved: Retrieved
) -> list[float]:
    quotes = [each.span.quote for each in sentences]
    places = [(each.late, says_what_was_found(each.span.quote), papers[each.span.pmid]) for each in sentences]
    return combined(sims, bm25_among(quotes, retrieved.terms), places)


def _window_sim(span: CitedSpan, chunks: Mapping[str, Sequence[StoredChunk]]) -> float:
    """The cosine of the best window that the sentence stands in."""
    windows = chunks.get(span.pmid, ())
    return max(
        (each.sim or 0.0 for each in windows if each.char_start < span.end and span.start < each.char_end), default=0.0
    )


def _shortlist(sentences: Sequence[Sentence], scores: Sequence[float]) -> list[Sentence]:
    """The best `EMBEDDED` sentences, the best of every paper before all others."""
    ranked = sorted(range(len(sentences)), key=lambda at: -scores[at])
    first: dict[str, int] = {}
    for at in ranked:
        first.setdefault(sentences[at].span.pmid, at)
    order = dict.fromkeys([*first.values(), *ranked])
    return [sentences[at] for at in list(order)[: max(EMBEDDED, len(first))]]
