"""Answer a question with sentences of papers, each quoted from a stored version; or withhold it, and say why.

An answer rests on at least `LEAST_PAPERS` papers that are not retracted, and on a confidence of at least tau.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from bio_mcp.answering.composing import compose, text_of
from bio_mcp.answering.conflicts import Conflict, Statement, conflicts
from bio_mcp.answering.evidence import LIKELY, Evidence, evidence
from bio_mcp.answering.extracts import Extract
from bio_mcp.answering.retractions import FLAGGED
from bio_mcp.answering.retrieving import Question, readable
from bio_mcp.answering.writing import EXTRACTIVE, Written, WrittenSentence
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import InvalidInput, StoreFailed
from bio_mcp.ports import Backends
from bio_mcp.ports.answers import StoredAnswer
from bio_mcp.retrieval.asked import Asked as ReadQuestion
from bio_mcp.retrieval.asked import asked as read_question
from bio_mcp.retrieval.passages import Filters

LEAST_PAPERS = 3  # the contract's policy
_NOT_STORED = "The answer could not be stored: it will not be flagged if a paper that it cites is retracted."
_LEFT_OUT = "PMID {} seems relevant, but was retracted: it is not cited."
_OUTDATED = "The earlier answer {} to this question cites PMID {}, retracted since: do not rely on it."
_FEW = "{} of the {} papers cited probably answer the question: see the relevance of each."
_OPEN = "The part {!r} of the question is probably not answered: the confidence is {:.2f}."
_CONFLICT = "[{}] and [{}] contradict each other on {}: {}."


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to answer from the best `top_k` papers that pass the filters; `language` is th, en or auto."""

    text: str
    top_k: int = 5
    filters: Filters = field(default_factory=Filters)
    language: str = "auto"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or what was found where it is withheld: then `text` is "" and `reason` says why.

    `text` cites `evidence.cited` by their numbers from 1; `sentences` are its own. `mode` says who wrote it.
    """

    answer_id: str
    text: str
    evidence: Evidence
    mode: str
    conflicts: tuple[Conflict, ...]
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    sentences: tuple[WrittenSentence, ...] = ()

    @property
    def cited(self) -> tuple[Extract, ...]:
        """The sentences that are cited."""
        return self.evidence.cited

    @property
    def confidence(self) -> float:
        """The probability that a right paper is cited."""
        return self.evidence.confidence

    @property
    def retrieval(self) -> float:
        """The probability of the best cited paper to be relevant; 0 without one."""
        return round(max((each.relevance for each in self.cited), default=0.0), 4)


def answer(asked: Asked, backends: Backends, deadline: Deadline = NEVER) -> Answer:
    """Answer the question, and store the answer. Papers are found by relevance alone, whatever their quality.

    A Thai question is looked up in English, by the dictionary. Raises `InvalidInput` for one that the dictionary has no
    word of, and what `evidence` raises; an answer that cannot be stored is given with a warning.
    """
    read = read_question(readable(asked.text), None if asked.language == "auto" else asked.language)
    if not read.english:
        raise InvalidInput(
            "question: the Thai dictionary has none of its words; ask in English, or name it in English too"
        )
    found = evidence(Question(read.english, asked.filters, quality_bias=False), asked.top_k, backends, deadline)
    reason = _withheld(asked, found, backends.answer_tau)
    contradictions = _conflicts(read.english, found.cited)
    nothing = Written((), EXTRACTIVE)
    written = nothing if reason else compose(asked.text, found.cited, LEAST_PAPERS, backends, deadline)
    text = "" if reason else " ".join([text_of(written.sentences), *map(_shown, contradictions)])
    warnings = (*_translated(read), *_warnings(found, backends.answer_tau), *written.warnings)
    id_ = _answer_id(asked.text, text, found.cited)
    given = Answer(id_, text, found, written.mode, contradictions, reason, warnings, written.sentences)
    return _stored(asked, given, backends)


def _translated(read: ReadQuestion) -> Iterator[str]:
    """What the user of a Thai question should know."""
    if read.is_thai:
        yield f"Looked up in English as: {read.english}. The papers are quoted in English."
        if read.unknown:
            yield f"The Thai dictionary does not have {', '.join(read.unknown)}: ask for that in English too."


def _withheld(asked: Asked, found: Evidence, tau: float) -> str | None:
    """Why the answer is withheld; None where it is given."""
    if asked.top_k < LEAST_PAPERS:
        return f"retrieval.top_k is {asked.top_k}, and an answer rests on at least {LEAST_PAPERS} papers"
    if len(found.cited) < LEAST_PAPERS:
        return (
            f"{len(found.cited)} of the papers found have a sentence that fits the question and are not retracted; "
            f"an answer rests on at least {LEAST_PAPERS}"
        )
    if found.confidence < tau:
        return (
            f"the confidence, {found.confidence:.2f}, is below {tau:.2f}: the papers found may not answer the question"
        )
    return None


def _conflicts(question: str, cited: Sequence[Extract]) -> tuple[Conflict, ...]:
    statements = [Statement(each.span.pmid, each.span.quote, each.document.article.title or "") for each in cited]
    return tuple(conflicts(question, statements))


def _shown(conflict: Conflict) -> str:
    return _CONFLICT.format(conflict.one + 1, conflict.other + 1, conflict.outcome, conflict.reason)


def _warnings(found: Evidence, tau: float) -> list[str]:
    """What to know of the question's parts, of doubtful papers that are cited, and of retracted ones that are not."""
    papers = [each.document.article for each in found.cited]
    doubtful = [
        f"{each.title or ''} (PMID {each.pmid}) {FLAGGED[each.retraction]}: say so where you cite it."
        for each in papers
        if each.retraction in FLAGGED
    ]
    likely = sum(each.relevance >= LIKELY for each in found.cited)
    few = [_FEW.format(likely, len(found.cited))] if likely < LEAST_PAPERS <= len(found.cited) else []
    of_parts = zip(found.parts, found.of_parts, strict=True)
    still_open = [_OPEN.format(each.part.subject, confidence) for each, confidence in of_parts if confidence < tau]
    return [*found.whole.warnings, *few, *still_open, *doubtful, *map(_LEFT_OUT.format, found.seemingly_relevant)]


def _answer_id(question: str, text: str, cited: Sequence[Extract]) -> str:
    """The same for the same question, text and spans."""
    spans = [[each.span.pmid, each.span.version, each.span.where] for each in cited]
    return sha256(json.dumps([question, text, spans]).encode()).hexdigest()[:20]


def _stored(asked: Asked, given: Answer, backends: Backends) -> Answer:
    """The answer, stored; with a warning where it cannot be, and for each earlier one that cites what was retracted."""
    spans = tuple(each.span for each in given.cited)
    stored = StoredAnswer(given.answer_id, asked.text, given.text, spans, given.confidence, backends.now())
    try:
        backends.answers.put(stored)
        citing = [each for pmid in given.evidence.retracted for each in backends.answers.citing(pmid)]
    except StoreFailed:
        return replace(given, warnings=(*given.warnings, _NOT_STORED))
    outdated = {each.answer_id: ", ".join(each.flagged) for each in citing if each.question == asked.text}
    earlier = [_OUTDATED.format(answer_id, pmids) for answer_id, pmids in outdated.items()]
    return replace(given, warnings=(*given.warnings, *earlier))
