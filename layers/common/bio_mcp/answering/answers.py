"""Answers with citations: the evidence for a question, the confidence, and the text."""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from bio_mcp.answering.conflicts import Conflict, Statement, conflicts
from bio_mcp.answering.extracts import Extract, extracts
from bio_mcp.answering.project_search import doubts
from bio_mcp.answering.search import Question, Retrieved, readable, search_papers
from bio_mcp.answering.writing import EXTRACTIVE, GENERATED, Written, WrittenSentence, write
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import InvalidInput, StoreFailed
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import StoredAnswer
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.passages import Filters
from bio_mcp.retrieval.question import ParsedQuestion, distinctive_shares, parse_question
from bio_mcp.retrieval.quotes import unrepeated
from bio_mcp.retrieval.relevance import any_relevant, background


def confidence_of(retrieved: Retrieved, cited: Collection[str]) -> float:
    """The probability that at least one of the papers `cited`, by PMID, answers the question; 0 where none was found.

    It is fitted to questions asked twice, once with their judged papers taken out of the corpus, so that papers which
    are merely the nearest do not pass for right ones.
    """
    papers = [each for each in retrieved.ranked if each.candidate.pmid in cited]
    return any_relevant("confidence", papers, background(retrieved.ranked, len(retrieved.terms)))


LEAST_PAPERS = 3  # the contract's policy
_TOO_FEW = f"What the language model wrote rests on fewer than {LEAST_PAPERS} papers, so the answer is the extract."


def _written(question: str, cited: Sequence[Extract], backends: Backends, deadline: Deadline) -> Written:
    """An answer that rests on at least `LEAST_PAPERS`, as the extracts do that it is made of.

    Raises what `write` raises.
    """
    quotes = [each.span.quote for each in cited]
    written = write(question, quotes, backends, deadline)
    if written.mode == GENERATED:
        papers = {cited[at].span.pmid for sentence in written.sentences for at in sentence.cites}
        if len(papers) >= LEAST_PAPERS:
            return written
        written = Written((), EXTRACTIVE, (_TOO_FEW,))
    return replace(written, sentences=tuple(WrittenSentence(quote, (at,)) for at, quote in enumerate(quotes)))


MOST_PAPERS = 5  # cited
SPARE = 10  # papers read beyond those asked for, in the place of retracted ones
DISTINCTIVE_FROM = 0.1  # of the weight of the question's words, for a paper that may be cited
LIKELY = 0.2  # relevance of a paper that probably answers: on SciFact every second one cited with so much was judged to
_NEVER_CITED = {RetractionStatus.RETRACTED, RetractionStatus.NOTICE}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Sentences to cite, best first, one of each paper, with what was found for the question.

    `retracted` are the PMIDs of retracted papers among those that were read, which are not cited; `confidence` is the
    probability that a right paper is cited.
    """

    retrieved: Retrieved
    cited: tuple[Extract, ...]
    retracted: tuple[str, ...]
    confidence: float


def evidence(question: Question, top_k: int, backends: Backends, deadline: Deadline = NEVER) -> Evidence:
    """Choose sentences of the best `top_k` papers that may be cited: retracted ones and notices may not.

    Raises what `search_papers` raises, and `StoreFailed`.
    """
    found = search_papers(question, backends, deadline)
    deadline.check("reading the papers")
    read = found.ranked[: top_k + SPARE]
    documents = backends.documents.get_many([each.candidate.pmid for each in read])
    # a paper that shares only what all have with the question, such as COVID-19, is about something else
    words = {
        pmid: set(analyse(f"{each.article.title or ''} {abstract_text(each.article)}"))
        for pmid, each in documents.items()
    }
    shares = distinctive_shares(found.terms, words)
    on_it = {
        pmid
        for pmid, each in documents.items()
        if each.article.retraction not in _NEVER_CITED and shares[pmid] >= DISTINCTIVE_FROM
    }
    citable = [each for each in read if each.candidate.pmid in on_it][:top_k]
    deadline.check("choosing sentences")
    retracted = [pmid for pmid, each in documents.items() if each.article.retraction is RetractionStatus.RETRACTED]
    cited: dict[str, Extract] = {}  # the best sentence of each paper that has one which fits; the same words once
    for extract in extracts(found, citable, documents, backends):
        quotes = [other.span.quote for other in cited.values()]
        if extract.fits and extract.span.pmid not in cited and unrepeated(extract.span.quote, quotes):
            cited[extract.span.pmid] = extract
    best = tuple(cited.values())[:MOST_PAPERS]
    confidence = round(confidence_of(found, {each.span.pmid for each in best}), 4)
    return Evidence(found, best, tuple(sorted(retracted, key=int)), confidence)


ANY_PAPER = Filters()
_NOT_STORED = "The answer could not be stored: it will not be flagged if a paper that it cites is retracted."
_LEFT_OUT = "PMID {} seems relevant, but was retracted: it is not cited."
_OUTDATED = "The earlier answer {} to this question cites PMID {}, retracted since: do not rely on it."
_FEW = "{} of the {} papers cited probably answer the question: see the relevance of each."
_CONFLICT = "[{}] and [{}] contradict each other on {}: {}."


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or what was found where it is withheld: then `text` is "" and `reason` says why.

    `text` cites the sentences `cited` by their numbers from 1; `sentences` are its own. `mode` says who wrote it,
    `confidence` is the probability that a right paper is cited.
    """

    answer_id: str
    text: str
    cited: tuple[Extract, ...]
    confidence: float
    mode: str
    conflicts: tuple[Conflict, ...]
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    sentences: tuple[WrittenSentence, ...] = ()


def answer(
    question: str,
    backends: Backends,
    deadline: Deadline = NEVER,
    *,
    top_k: int = 5,
    filters: Filters = ANY_PAPER,
    language: str = "auto",
) -> Answer:
    """Answer the question from the best `top_k` papers that pass the filters, and store the answer. `language` is th,
    en or auto. Papers are found by relevance alone, whatever their quality.

    A Thai question is looked up in English, by the dictionary. Raises `InvalidInput` for one that the dictionary has no
    word of, and what `evidence` raises; an answer that cannot be stored is given with a warning.
    """
    read = parse_question(readable(question), None if language == "auto" else language)
    if not read.english:
        raise InvalidInput(
            "the Thai dictionary has none of its words; ask in English, or name it in English too", field="question"
        )
    found = evidence(Question(read.english, filters, quality_bias=False), top_k, backends, deadline)
    reason = _withheld(top_k, found, backends.answer_tau)
    statements = [Statement(each.span.pmid, each.span.quote, each.document.article.title or "") for each in found.cited]
    contradictions = tuple(conflicts(read.english, statements))
    written, text = Written((), EXTRACTIVE), ""
    if not reason:
        written = _written(question, found.cited, backends, deadline)
        opposed = [_CONFLICT.format(each.one + 1, each.other + 1, each.outcome, each.reason) for each in contradictions]
        numbered = [f"{each.text} {''.join(f'[{at + 1}]' for at in each.cites)}" for each in written.sentences]
        text = " ".join([*numbered, *opposed])
    warnings = (*_translated(read), *_warnings(found), *written.warnings)
    spans = [[each.span.pmid, each.span.version, each.span.where] for each in found.cited]
    id_ = sha256(json.dumps([question, text, spans]).encode()).hexdigest()[:20]
    cited = tuple(each.span for each in found.cited)
    stored = StoredAnswer(id_, question, text, cited, found.confidence, backends.now())
    return Answer(
        id_,
        text,
        found.cited,
        found.confidence,
        written.mode,
        contradictions,
        reason,
        (*warnings, *_stored(stored, found.retracted, backends)),
        written.sentences,
    )


def _translated(read: ParsedQuestion) -> Iterator[str]:
    """What the user of a Thai question should know."""
    if read.thai:
        yield f"Looked up in English as: {read.english}. The papers are quoted in English."
        if read.unknown:
            yield f"The Thai dictionary does not have {', '.join(read.unknown)}: ask for that in English too."


def _withheld(top_k: int, found: Evidence, tau: float) -> str | None:
    """Why the answer is withheld; None where it is given."""
    if top_k < LEAST_PAPERS:
        return f"at most {top_k} papers may be used, and an answer rests on at least {LEAST_PAPERS}"
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


def _warnings(found: Evidence) -> list[str]:
    """What to know of doubtful papers that are cited, and of retracted ones that are not."""
    papers = [each.document.article for each in found.cited]
    doubtful = doubts((f"{each.title or ''} (PMID {each.pmid})", each.retraction) for each in papers)
    likely = sum(each.relevance >= LIKELY for each in found.cited)
    few = [_FEW.format(likely, len(found.cited))] if likely < LEAST_PAPERS <= len(found.cited) else []
    relevant = [pmid for pmid in found.retracted if found.retrieved.relevance.get(pmid, 0.0) >= LIKELY]
    return [*found.retrieved.warnings, *few, *doubtful, *map(_LEFT_OUT.format, relevant)]


def _stored(given: StoredAnswer, retracted: Sequence[str], backends: Backends) -> list[str]:
    """Store the answer. Returns a warning where that fails, and for each earlier one that cites what was retracted."""
    try:
        backends.answers.put(given)
        citing = [each for pmid in retracted for each in backends.answers.citing(pmid)]
    except StoreFailed:
        return [_NOT_STORED]
    outdated = {each.answer_id: ", ".join(each.flagged) for each in citing if each.question == given.question}
    return [_OUTDATED.format(answer_id, pmids) for answer_id, pmids in outdated.items()]
