"""Answers with citations: the evidence for a question, the confidence, and the text."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256

from bio_mcp.answering.conflicts import Conflict, Statement, conflicts
from bio_mcp.answering.extracts import Extract, extracts
from bio_mcp.answering.project_search import doubts
from bio_mcp.answering.search import NO_THAI, Question, Retrieved, readable, search_papers
from bio_mcp.answering.writing import EXTRACTIVE, GENERATED, Written, WrittenSentence, write
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import InvalidInput, StoreFailed
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import StoredAnswer
from bio_mcp.retrieval.analysis import QUERY_STOP_WORDS
from bio_mcp.retrieval.chunking import study_of
from bio_mcp.retrieval.concepts import Asked, PaperWords, asked_about
from bio_mcp.retrieval.passages import Filters
from bio_mcp.retrieval.question import parse_question
from bio_mcp.retrieval.quotes import unrepeated
from bio_mcp.retrieval.relevance import LIKELY, answers

LEAST_CITED = 3  # sentences that an answer rests on: the contract's policy
MOST_CITED = 5
SPARE = 10  # papers read beyond those asked for, in the place of retracted ones
ANSWERS_FROM, ALSO_FROM = 0.65, 0.8  # the least probability that a paper answers: of the likeliest, of another
_NEVER_CITED = {RetractionStatus.RETRACTED, RetractionStatus.NOTICE}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Sentences to cite, the most direct first, with what was found for the question.

    `retracted` are the PMIDs of retracted papers among those that were read, which are not cited; `missing` are things
    that the question names and no paper has that could be cited, beside `had`, the others. `confidence` is the
    probability that the first of `cited` is of a paper that answers.
    """

    retrieved: Retrieved
    cited: tuple[Extract, ...]
    retracted: tuple[str, ...]
    confidence: float
    missing: tuple[str, ...] = ()
    had: tuple[str, ...] = ()


def evidence(question: Question, top_k: int, backends: Backends, deadline: Deadline = NEVER) -> Evidence:
    """Choose sentences of at most `top_k` papers that may be cited: retracted ones and notices may not.

    A paper is cited that has all that the question names and probably answers it. Raises what `search_papers` raises,
    and `StoreFailed`.
    """
    found = search_papers(question, backends, deadline)
    deadline.check("reading the papers")
    order = [each.candidate.pmid for each in found.ranked[: top_k + SPARE]]
    documents = backends.documents.get_many(order)
    retracted = [pmid for pmid, each in documents.items() if each.article.retraction is RetractionStatus.RETRACTED]
    words = {
        pmid: PaperWords(documents[pmid].article)
        for pmid in order
        if pmid in documents and documents[pmid].article.retraction not in _NEVER_CITED
    }
    asked = asked_about(question.text, words.values())
    likely = {
        pmid: probability
        for pmid, paper in words.items()
        if is_about(paper, asked)
        and (probability := answers(found.relevance[pmid], paper.share(asked.words))) >= ANSWERS_FROM
    }
    best = sorted(likely, key=lambda pmid: (-likely[pmid], order.index(pmid)))[:top_k]
    best = [pmid for pmid in best if pmid == best[0] or likely[pmid] >= ALSO_FROM]
    deadline.check("choosing sentences")
    cited: list[Extract] = []  # the same words once
    for extract in extracts(found, {pmid: likely[pmid] for pmid in best}, documents, backends):
        if unrepeated(extract.span.quote, [other.span.quote for other in cited]):
            cited.append(extract)
    cited = cited[:MOST_CITED]
    confidence = round(likely[cited[0].span.pmid], 4) if cited else 0.0
    missing, had = _missing(asked, {each.span.pmid for each in cited}, words)
    return Evidence(found, tuple(cited), tuple(sorted(retracted, key=int)), confidence, missing, had)


def is_about(paper: PaperWords, asked: Asked) -> bool:
    """Whether the paper has all that the question names, or something of a list."""
    has = [paper.has(each) for each in asked.concepts]
    return all(has) or (asked.listed and any(has))


def _missing(
    asked: Asked, cited: Collection[str], words: Mapping[str, PaperWords]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the question names that no cited paper has, or where none is cited the nearest paper; and the others."""
    nearest = max(words.values(), key=lambda each: sum(map(each.has, asked.concepts)), default=None)
    papers = [words[pmid] for pmid in cited] or [each for each in (nearest,) if each]
    has = {each.text: any(paper.has(each) for paper in papers) for each in asked.concepts}
    return tuple(name for name, is_had in has.items() if not is_had), tuple(name for name in has if has[name])


class RestsOn(StrEnum):
    ONE_PAPER = "one_paper"
    PAPERS = "papers"


ANY_PAPER = Filters()
_NOT_STORED = "The answer could not be stored: it will not be flagged if a paper that it cites is retracted."
_IN_ENGLISH = "The papers are quoted in English."
_LEFT_OUT = "PMID {} seems relevant, but was retracted: it is not cited."
_OUTDATED = "The earlier answer {} to this question cites PMID {}, retracted since: do not rely on it."
_CONFLICT = "[{}] and [{}] contradict each other on {}: {}."
_ONE_PAPER = "All of it is from one paper{}."
_TOO_FEW = f"What the language model wrote rests on fewer than {LEAST_CITED} sentences, so the answer is the extract."


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or what was found where it is withheld: then `text` is "", `reason` says why, `confidence` is 0.

    `text` cites the sentences `cited` by their numbers from 1; `sentences` are its own. `mode` says who wrote it,
    `confidence` is the share of answers like it whose first citation is of a right paper. `missing` are things that the
    question names and the papers do not have.
    """

    answer_id: str
    text: str
    cited: tuple[Extract, ...]
    confidence: float
    mode: str
    conflicts: tuple[Conflict, ...]
    reason: str | None = None
    rests_on: RestsOn | None = None
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    sentences: tuple[WrittenSentence, ...] = field(default=())


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
        raise InvalidInput(NO_THAI, field="question")
    found = evidence(Question(bare(read.english), filters, quality_bias=False), top_k, backends, deadline)
    reason = _withheld(found, backends.answer_tau)
    contradictions = _contradictions(read.english, found.cited)
    cited = _side_by_side(found.cited, contradictions)
    contradictions = _contradictions(read.english, cited)
    written, text = Written((), EXTRACTIVE), ""
    rests_on = None
    if not reason:
        written = _written(question, cited, backends, deadline)
        rests_on = RestsOn.PAPERS if len({each.span.pmid for each in cited}) > 1 else RestsOn.ONE_PAPER
        opposed = [_CONFLICT.format(each.one + 1, each.other + 1, each.outcome, each.reason) for each in contradictions]
        numbered = [f"{each.text} {''.join(f'[{at + 1}]' for at in each.cites)}" for each in written.sentences]
        alone = [_ONE_PAPER.format(_design(cited[0].document))] if rests_on is RestsOn.ONE_PAPER else []
        text = " ".join([*numbered, *opposed, *alone])
    confidence = 0.0 if reason else found.confidence
    told = [*read.told, _IN_ENGLISH] if read.thai else []
    warnings = (*told, *_warnings(found), *written.warnings)
    spans = [[each.span.pmid, each.span.version, each.span.where] for each in cited]
    id_ = sha256(json.dumps([question, text or reason, spans]).encode()).hexdigest()[:20]
    stored = StoredAnswer(
        id_,
        question,
        text,
        tuple(each.span for each in cited),
        confidence,
        backends.now(),
        reason=reason or "",
        warnings=warnings,
    )
    return Answer(
        id_,
        text,
        cited,
        confidence,
        written.mode,
        contradictions,
        reason,
        rests_on,
        found.missing if reason else (),
        (*warnings, *_stored(stored, found.retracted, backends)),
        written.sentences,
    )


_POLITE = re.compile(
    r"\b(?:please|kindly|thank(?:s| you)|(?:(?:can|could) you )?(?:please )?tell me|i (?:want|would like) to know)\b"
    r"[,!.]?",
    re.IGNORECASE,
)


def bare(question: str) -> str:
    """The question without what changes nothing of it: capitals, politeness, and punctuation at its end.

    A word that is left out of queries keeps its capitals, as ALL and IT may be names.
    """
    shouted = question.isupper()
    words = _POLITE.sub(" ", question).split()
    kept = [each if each.isupper() and _is_small(each) and not shouted else each.lower() for each in words]
    return " ".join(kept).rstrip(" ?!.") or question


def _is_small(word: str) -> bool:
    return len(word) > 1 and word.strip("?!.,;:()").lower() in QUERY_STOP_WORDS


def _contradictions(question: str, cited: Sequence[Extract]) -> tuple[Conflict, ...]:
    statements = [Statement(each.span.pmid, each.span.quote, each.document.article.title or "") for each in cited]
    return tuple(conflicts(question, statements))


def _side_by_side(cited: Sequence[Extract], contradictions: Sequence[Conflict]) -> tuple[Extract, ...]:
    """The sentences in their order, but each with those behind it that contradict it."""
    order: dict[int, None] = {}
    for at in range(len(cited)):
        if at not in order:
            order |= dict.fromkeys([at, *(each.other for each in contradictions if each.one == at)])
    return tuple(cited[at] for at in order)


def _design(document: Document) -> str:
    """What kind of study it is, as words behind "one paper"; "" where it does not say."""
    design = study_of(document.article).facts.design
    return f", a study of this design: {design}" if design else ""


def _written(question: str, cited: Sequence[Extract], backends: Backends, deadline: Deadline) -> Written:
    """An answer that rests on at least `LEAST_CITED` sentences, as the extracts do that it is made of.

    Raises what `write` raises.
    """
    quotes = [each.span.quote for each in cited]
    written = write(question, quotes, backends, deadline)
    if written.mode == GENERATED:
        if len({at for sentence in written.sentences for at in sentence.cites}) >= LEAST_CITED:
            return written
        written = Written((), EXTRACTIVE, (_TOO_FEW,))
    return replace(written, sentences=tuple(WrittenSentence(quote, (at,)) for at, quote in enumerate(quotes)))


def _withheld(found: Evidence, tau: float) -> str | None:
    """Why the answer is withheld, in a sentence; None where it is given."""
    if found.missing:
        with_ = f" with {_listed(found.had)}" if found.had else ""
        return f"nothing on {_listed(found.missing)}{with_} was found"
    if not found.cited:
        return "no paper that was found answers the question"
    if len(found.cited) < LEAST_CITED:
        few = "one sentence" if len(found.cited) == 1 else f"{len(found.cited)} sentences"
        return f"only {few} on it could be cited, and an answer rests on at least {LEAST_CITED}"
    return "the papers found may well be about something else" if found.confidence < tau else None


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _warnings(found: Evidence) -> list[str]:
    """What to know of doubtful papers that are cited, and of retracted ones that are not."""
    papers = {each.span.pmid: each.document.article for each in found.cited}.values()
    doubtful = doubts((f"{each.title or ''} (PMID {each.pmid})", each.retraction) for each in papers)
    relevant = [pmid for pmid in found.retracted if found.retrieved.relevance.get(pmid, 0.0) >= LIKELY]
    return [*found.retrieved.warnings, *doubtful, *map(_LEFT_OUT.format, relevant)]


def _stored(given: StoredAnswer, retracted: Sequence[str], backends: Backends) -> list[str]:
    """Store the answer. Returns a warning where that fails, and for each earlier one that cites what was retracted."""
    try:
        backends.answers.put(given)
        citing = [each for pmid in retracted for each in backends.answers.citing(pmid)]
    except StoreFailed:
        return [_NOT_STORED]
    outdated = {each.answer_id: ", ".join(each.flagged) for each in citing if each.question == given.question}
    return [_OUTDATED.format(answer_id, pmids) for answer_id, pmids in outdated.items()]


_CLAIM = re.compile(r"(.*?)((?:\s?\[\d+\])+)(?=\s|$)\s*", re.DOTALL)


def claims(text: str) -> list[tuple[str, list[int]]]:
    """The sentences of an answer, each with the numbers of its citations, which end it; none of the last sentences."""
    found: list[tuple[str, list[int]]] = []
    end = 0
    for each in _CLAIM.finditer(text):
        found.append((each[1].strip(), [int(number) for number in re.findall(r"\d+", each[2])]))
        end = each.end()
    rest = text[end:].strip()
    return [*found, *([(rest, [])] if rest else [])]
