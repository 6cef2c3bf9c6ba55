"""What an answer rests on: sentences of papers that were found for the question or for a part of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bio_mcp.answering.confidence import confidence_of
from bio_mcp.answering.extracts import EMBEDDED, Extract, extracts
from bio_mcp.answering.question_parts import FoundPart, find_parts, in_turns
from bio_mcp.answering.retrieving import Question, Retrieved, find
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.distinctive_words import distinctive_shares
from bio_mcp.retrieval.overlaps import unrepeated
from bio_mcp.retrieval.ranking import Ranked

MOST_PAPERS = 5  # cited
SPARE = 10  # papers read beyond those asked for, in the place of retracted ones
DISTINCTIVE_FROM = 0.1  # of the weight of the question's words, for a paper that may be cited
LIKELY = 0.2  # relevance of a paper that probably answers: on SciFact every second one cited with so much was judged to
_NEVER_CITED = {RetractionStatus.RETRACTED, RetractionStatus.NOTICE}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Sentences to cite, best first, one of each paper, with what was found for the question and for its parts.

    `retracted` are the PMIDs of retracted papers among those that were read, which are not cited.
    """

    whole: Retrieved
    parts: tuple[FoundPart, ...]
    cited: tuple[Extract, ...]
    retracted: tuple[str, ...]

    @property
    def pmids(self) -> tuple[str, ...]:
        """The papers that are cited."""
        return tuple(each.span.pmid for each in self.cited)

    @property
    def confidence(self) -> float:
        """The probability that a right paper is cited: for the whole question, or for each of its parts."""
        whole = confidence_of(self.whole, self.pmids)
        return round(max(whole, min(self.of_parts, default=0.0)), 4)

    @property
    def of_parts(self) -> list[float]:
        """The same of each part."""
        return [round(confidence_of(each.retrieved, self.pmids), 4) for each in self.parts]

    @property
    def seemingly_relevant(self) -> list[str]:
        """Those of the retracted papers that would probably answer the question."""
        return [pmid for pmid in self.retracted if self.whole.relevance.get(pmid, 0.0) >= LIKELY]


def evidence(question: Question, top_k: int, backends: Backends, deadline: Deadline = NEVER) -> Evidence:
    """Choose sentences of the best `top_k` papers that may be cited: retracted ones and notices may not.

    Raises what `find` raises, and `StoreFailed`.
    """
    whole = find(question, backends, deadline)
    parts = find_parts(question, backends, deadline)
    deadline.check("reading the papers")
    read = in_turns(whole, parts, top_k + SPARE)
    documents = backends.documents.get_many([each.candidate.pmid for each in read])
    sources = [whole, *(each.retrieved for each in parts)]
    on_it = _on_the_question(documents, sources)
    citable = [each for each in read if each.candidate.pmid in on_it][:top_k]
    deadline.check("choosing sentences")
    retracted = [pmid for pmid, each in documents.items() if each.article.retraction is RetractionStatus.RETRACTED]
    cited = _cited(_extracts(sources, citable, documents, backends))
    if parts:  # each has its turn among the papers, also among those that are cited
        turns = [each.candidate.pmid for each in citable if each.candidate.pmid in cited][:MOST_PAPERS]
        cited = {pmid: each for pmid, each in cited.items() if pmid in turns}
    return Evidence(whole, parts, tuple(cited.values())[:MOST_PAPERS], tuple(sorted(retracted, key=int)))


def _on_the_question(documents: Mapping[str, Document], sources: Sequence[Retrieved]) -> set[str]:
    """PMIDs of the papers that may be cited: not retracted, no notice, and with distinctive words of the question or of
    a part. One that shares only what all have, such as COVID-19, is about something else."""
    words = {pmid: set(analyse(_text(each))) for pmid, each in documents.items()}
    shares = [distinctive_shares(each.terms, words) for each in sources]
    return {
        pmid
        for pmid, each in documents.items()
        if each.article.retraction not in _NEVER_CITED and max(by[pmid] for by in shares) >= DISTINCTIVE_FROM
    }


def _text(document: Document) -> str:
    return f"{document.article.title or ''} {abstract_text(document.article)}"


def _extracts(
    sources: Sequence[Retrieved], papers: Sequence[Ranked], documents: Mapping[str, Document], backends: Backends
) -> Iterator[Extract]:
    """The sentences of each paper, scored against the question or the part that it is most relevant to."""
    nearest = {each.candidate.pmid: _nearest(each.candidate.pmid, sources) for each in papers}
    for at, source in enumerate(sources):
        own = [each for each in source.ranked if nearest.get(each.candidate.pmid) == at]
        yield from extracts(source, own, documents, backends, EMBEDDED // len(sources))


def _nearest(pmid: str, sources: Sequence[Retrieved]) -> int:
    """The number of the source that the paper is most relevant to, the first of equals."""
    relevance = [each.relevance.get(pmid, 0.0) for each in sources]
    return relevance.index(max(relevance))


def _cited(found: Iterator[Extract]) -> dict[str, Extract]:
    """The best sentence of each paper that has one which fits, by PMID; the same words are cited once."""
    best: dict[str, Extract] = {}
    for each in found:
        if each.fits and each.span.pmid not in best and not _is_quoted(each, best.values()):
            best[each.span.pmid] = each
    return best


def _is_quoted(extract: Extract, chosen: Iterable[Extract]) -> bool:
    """Whether a chosen sentence has the same words, or all of them."""
    return not unrepeated(extract.span.quote, [each.span.quote for each in chosen])
