"""Answer a question with sentences of papers, each quoted from a stored version; or withhold it, and say why.

An answer rests on at least `LEAST_PAPERS` papers that are not retracted, and on a confidence of at least tau. Papers
are taken by relevance alone: a better study of something else answers nothing.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from bio_mcp.answering.composing import compose, text_of
from bio_mcp.answering.confidence import confidence_of
from bio_mcp.answering.extracts import Extract, extracts
from bio_mcp.answering.retractions import FLAGGED
from bio_mcp.answering.retrieving import Question, Retrieved, find
from bio_mcp.answering.writing import EXTRACTIVE, Written
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import StoreFailed
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.answers import StoredAnswer
from bio_mcp.retrieval.passages import Filters

LEAST_PAPERS = 3  # the contract's policy
MOST_PAPERS = 5  # cited
LIKELY = 0.2  # relevance from which a retracted paper is named
SPARE = 10  # papers read beyond those asked for, in the place of retracted ones
_NOT_STORED = "The answer could not be stored: it will not be flagged if a paper that it cites is retracted."
_LEFT_OUT = "PMID {} seems relevant, but was retracted: it is not cited."
_OUTDATED = "The earlier answer {} to this question cites PMID {}, retracted since: do not rely on it."
_NEVER_CITED = {RetractionStatus.RETRACTED, RetractionStatus.NOTICE}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to answer from the best `top_k` papers that pass the filters."""

    text: str
    top_k: int = 5
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or what was found where it is withheld: then `text` is "" and `reason` says why.

    `text` cites `cited` by their numbers from 1. `mode` says who wrote it.
    """

    answer_id: str
    text: str
    cited: tuple[Extract, ...]
    retrieval: float
    confidence: float
    mode: str
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def answer(asked: Asked, backends: Backends, deadline: Deadline = NEVER) -> Answer:
    """Answer the question, and store the answer.

    Raises what `find` raises, and `StoreFailed` where documents cannot be read; an answer that cannot be stored is
    given with a warning.
    """
    retrieved = find(Question(asked.text, asked.filters, quality_bias=False), backends, deadline)
    deadline.check("reading the papers")
    read = retrieved.ranked[: asked.top_k + SPARE]
    documents = backends.documents.get_many([each.candidate.pmid for each in read])
    citable = [each for each in read if _may_be_cited(documents.get(each.candidate.pmid))][: asked.top_k]
    deadline.check("choosing sentences")
    cited = _cited(extracts(retrieved, citable, documents, backends))
    given = _judged(asked, retrieved, cited, backends, deadline)
    retracted = [pmid for pmid, each in documents.items() if each.article.retraction is RetractionStatus.RETRACTED]
    left_out = [pmid for pmid in sorted(retracted, key=int) if retrieved.relevance[pmid] >= LIKELY]
    given = replace(given, warnings=(*given.warnings, *map(_LEFT_OUT.format, left_out)))
    return _stored(asked, given, retracted, backends)


def _may_be_cited(document: Document | None) -> bool:
    return document is not None and document.article.retraction not in _NEVER_CITED


def _cited(found: Sequence[Extract]) -> tuple[Extract, ...]:
    """The best sentence of each paper that has one which fits, best first; the same words are cited once."""
    best: dict[str, Extract] = {}
    quotes: set[str] = set()
    for each in found:
        if each.fits and each.span.pmid not in best and each.span.quote not in quotes:
            best[each.span.pmid] = each
            quotes.add(each.span.quote)
    return tuple(best.values())[:MOST_PAPERS]


def _judged(
    asked: Asked, retrieved: Retrieved, cited: tuple[Extract, ...], backends: Backends, deadline: Deadline
) -> Answer:
    """The answer with its confidence; its text is empty where the policy withholds it."""
    confidence = round(confidence_of(retrieved, [each.span.pmid for each in cited]), 4)
    reason = _withheld(asked, cited, confidence, backends.answer_tau)
    nothing = Written((), EXTRACTIVE)
    written = nothing if reason else compose(asked.text, cited, LEAST_PAPERS, backends, deadline)
    text = text_of(written.sentences)
    return Answer(
        answer_id=_answer_id(asked.text, text, cited),
        text=text,
        cited=cited,
        retrieval=round(max((each.relevance for each in cited), default=0.0), 4),
        confidence=confidence,
        mode=written.mode,
        reason=reason,
        warnings=(*retrieved.warnings, *written.warnings, *_concerns(cited)),
    )


def _withheld(asked: Asked, cited: Sequence[Extract], confidence: float, tau: float) -> str | None:
    """Why the answer is withheld; None where it is given."""
    if asked.top_k < LEAST_PAPERS:
        return f"retrieval.top_k is {asked.top_k}, and an answer rests on at least {LEAST_PAPERS} papers"
    if len(cited) < LEAST_PAPERS:
        return (
            f"{len(cited)} of the papers found have a sentence that fits the question and are not retracted; "
            f"an answer rests on at least {LEAST_PAPERS}"
        )
    if confidence < tau:
        return f"the confidence, {confidence:.2f}, is below {tau:.2f}: the papers found may not answer the question"
    return None


def _concerns(cited: Sequence[Extract]) -> list[str]:
    """A sentence for each cited paper that has an expression of concern."""
    papers = [(each.document.article.title or "", each.span.pmid, each.document.article.retraction) for each in cited]
    return [
        f"{title} (PMID {pmid}) {FLAGGED[status]}: say so where you cite it."
        for title, pmid, status in papers
        if status in FLAGGED
    ]


def _answer_id(question: str, text: str, cited: Sequence[Extract]) -> str:
    """The same for the same question, text and spans."""
    spans = [[each.span.pmid, each.span.version, each.span.where] for each in cited]
    return sha256(json.dumps([question, text, spans]).encode()).hexdigest()[:20]


def _stored(asked: Asked, given: Answer, retracted: Iterable[str], backends: Backends) -> Answer:
    """The answer, stored; with a warning where it cannot be, and for each earlier one that cites what was retracted."""
    spans = tuple(each.span for each in given.cited)
    stored = StoredAnswer(given.answer_id, asked.text, given.text, spans, given.confidence, backends.now())
    try:
        backends.answers.put(stored)
        citing = [each for pmid in retracted for each in backends.answers.citing(pmid) if each.question == asked.text]
    except StoreFailed:
        return replace(given, warnings=(*given.warnings, _NOT_STORED))
    earlier = {each.answer_id: _OUTDATED.format(each.answer_id, ", ".join(each.flagged)) for each in citing}
    return replace(given, warnings=(*given.warnings, *earlier.values()))
