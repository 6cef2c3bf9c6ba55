"""Answers with citations: the parts of a question, the evidence for it, the confidence, and the text."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import zip_longest

from bio_mcp.answering.conflicts import Conflict, Statement, conflicts
from bio_mcp.answering.extracts import EMBEDDED, Extract, extracts
from bio_mcp.answering.project_search import FLAGGED
from bio_mcp.answering.search import Question, Retrieved, readable, search_papers
from bio_mcp.answering.writing import EXTRACTIVE, GENERATED, Written, WrittenSentence, write
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import InvalidInput, StoreFailed
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import StoredAnswer
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.findings import alternatives
from bio_mcp.retrieval.passages import Filters
from bio_mcp.retrieval.question import ParsedQuestion, distinctive_shares, parse_question
from bio_mcp.retrieval.quotes import unrepeated
from bio_mcp.retrieval.ranking import Ranked
from bio_mcp.retrieval.relevance import UNLIKELY, any_relevant, background


def confidence_of(retrieved: Retrieved, cited: Collection[str]) -> float:
    """The probability that at least one of the papers `cited`, by PMID, answers the question; 0 where none was found.

    It is fitted to questions asked twice, once with their judged papers taken out of the corpus, so that papers which
    are merely the nearest do not pass for right ones.
    """
    papers = [each for each in retrieved.ranked if each.candidate.pmid in cited]
    return any_relevant("confidence", papers, background(retrieved.ranked, len(retrieved.terms)))


_TOO_FEW = "What the language model wrote rests on fewer than {} papers, so the answer is the extract."


def compose(question: str, cited: Sequence[Extract], least: int, backends: Backends, deadline: Deadline) -> Written:
    """An answer that rests on at least `least` papers, as the extracts do that it is made of.

    Raises what `write` raises.
    """
    quotes = [each.span.quote for each in cited]
    written = write(question, quotes, backends, deadline)
    if written.mode == GENERATED:
        papers = {cited[at].span.pmid for sentence in written.sentences for at in sentence.cites}
        if len(papers) >= least:
            return written
        written = Written((), EXTRACTIVE, (_TOO_FEW.format(least),))
    return replace(written, sentences=tuple(WrittenSentence(quote, (at,)) for at, quote in enumerate(quotes)))


MOST_PARTS = 4
LONGEST = 1_000  # characters of a question that is split
FIRST = 10  # papers of a part that it is said to have found
_LIST = re.compile(r"\s*[,;]\s*(?:and\s+|or\s+)?|\s+and\s+")
_REFERS_BACK = re.compile(r"\b(it|its|they|them|their|this|that|these|those|he|she|his|her)\b", re.IGNORECASE)
_HEADING = re.compile(
    r"(?:^|[\s;,.|(])(?P<role>[PICO]|populations?|patients?|interventions?|exposures?|comparisons?|comparators?|controls?"
    r"|outcomes?)\)?\s*[:=]\s*",
    re.IGNORECASE,
)
_ROLES = {"p": "population", "i": "intervention", "e": "intervention", "c": "comparison", "o": "outcome"}  # by letter


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a question: `subject` is what only it asks about, `question` what was searched."""

    subject: str
    question: str
    retrieved: Retrieved

    def found(self, pmid: str) -> bool:
        """Whether the paper is among the first of the part."""
        return any(each.candidate.pmid == pmid for each in self.retrieved.ranked[:FIRST])


def parts_of(question: str) -> list[tuple[str, str]]:
    """The parts of a question, in its order, as subjects and questions of their own: none for one that a single search
    answers, else two to `MOST_PARTS`."""
    ways = (_by_headings, _by_questions, alternatives) if len(question) <= LONGEST else ()
    found = ([each for each in way(question) if any(map(str.isalnum, each[0]))] for way in ways)
    return next((each for each in found if len(each) > 1), [])[:MOST_PARTS]


def find_parts(question: Question, backends: Backends, deadline: Deadline = NEVER) -> tuple[Part, ...]:
    """Search each part of `question` with its filters; none for a question without parts. Raises what `find` does."""
    return tuple(
        Part(subject, alone, search_papers(replace(question, text=alone), backends, deadline))
        for subject, alone in parts_of(question.text)
    )


def in_turns(whole: Retrieved, parts: Sequence[Part], count: int) -> list[Ranked]:
    """The first `count` papers of the whole question and of each part, in turns and each paper once.

    A part that probably nothing answers has no turn. The best paper of each other part is among them if `count` is
    above the number of parts.
    """
    answered = [each.retrieved.ranked for each in parts if each.retrieved.answerable >= UNLIKELY]
    chosen: dict[str, Ranked] = {}
    for turn in zip_longest(whole.ranked, *answered):
        for each in filter(None, turn):
            chosen.setdefault(each.candidate.pmid, each)
    return list(chosen.values())[:count]


def _by_headings(question: str) -> list[tuple[str, str]]:
    """Intervention and comparison of a question with PICO headings, each with its population and outcome.

    Without a comparison each outcome is a part, with the intervention and the population.
    """
    found = list(_HEADING.finditer(question))
    ends = [each.start() for each in found[1:]] + [len(question)] * bool(found)
    texts = {
        _ROLES[each["role"][0].lower()]: question[each.end() : end].strip(" ;,.|()?\n")
        for each, end in zip(found, ends, strict=True)
    }
    arms = [texts[role] for role in ("intervention", "comparison") if texts.get(role)]
    rest = [texts[role] for role in ("population", "outcome") if texts.get(role)]
    if len(arms) == 1:
        arms, rest = _LIST.split(texts.get("outcome", "")), [*arms, texts.get("population", "")]
    return [(arm, ", ".join(filter(None, [arm, *rest]))) for arm in arms] if rest else []


def _by_questions(question: str) -> list[tuple[str, str]]:
    """Each of several questions; one that refers back is searched with the first before it."""
    several = [each.strip() for each in question.split("?")[:-1] if each.strip()]
    return [
        (each, f"{several[0]}? {each}?" if at and _REFERS_BACK.search(each) else f"{each}?")
        for at, each in enumerate(several)
    ]


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
    parts: tuple[Part, ...]
    cited: tuple[Extract, ...]
    retracted: tuple[str, ...]

    @property
    def confidence(self) -> float:
        """The probability that a right paper is cited: for the whole question, or for each of its parts."""
        whole = confidence_of(self.whole, {each.span.pmid for each in self.cited})
        return round(max(whole, min(self.of_parts, default=0.0)), 4)

    @property
    def of_parts(self) -> list[float]:
        """The same of each part."""
        cited = {each.span.pmid for each in self.cited}
        return [round(confidence_of(each.retrieved, cited), 4) for each in self.parts]


def evidence(question: Question, top_k: int, backends: Backends, deadline: Deadline = NEVER) -> Evidence:
    """Choose sentences of the best `top_k` papers that may be cited: retracted ones and notices may not.

    Raises what `find` raises, and `StoreFailed`.
    """
    whole = search_papers(question, backends, deadline)
    parts = find_parts(question, backends, deadline)
    deadline.check("reading the papers")
    read = in_turns(whole, parts, top_k + SPARE)
    documents = backends.documents.get_many([each.candidate.pmid for each in read])
    sources = [whole, *(each.retrieved for each in parts)]
    on_it = _on_the_question(documents, sources)
    citable = [each for each in read if each.candidate.pmid in on_it][:top_k]
    deadline.check("choosing sentences")
    retracted = [pmid for pmid, each in documents.items() if each.article.retraction is RetractionStatus.RETRACTED]
    cited: dict[str, Extract] = {}  # the best sentence of each paper that has one which fits; the same words once
    for each in _extracts(sources, citable, documents, backends):
        quotes = [other.span.quote for other in cited.values()]
        if each.fits and each.span.pmid not in cited and unrepeated(each.span.quote, quotes):
            cited[each.span.pmid] = each
    if parts:  # each has its turn among the papers, also among those that are cited
        turns = [paper.candidate.pmid for paper in citable if paper.candidate.pmid in cited][:MOST_PAPERS]
        cited = {pmid: each for pmid, each in cited.items() if pmid in turns}
    return Evidence(whole, parts, tuple(cited.values())[:MOST_PAPERS], tuple(sorted(retracted, key=int)))


def _on_the_question(documents: Mapping[str, Document], sources: Sequence[Retrieved]) -> set[str]:
    """PMIDs of the papers that may be cited: not retracted, no notice, and with distinctive words of the question or of
    a part. One that shares only what all have, such as COVID-19, is about something else."""
    words = {
        pmid: set(analyse(f"{each.article.title or ''} {abstract_text(each.article)}"))
        for pmid, each in documents.items()
    }
    shares = [distinctive_shares(each.terms, words) for each in sources]
    return {
        pmid
        for pmid, each in documents.items()
        if each.article.retraction not in _NEVER_CITED and max(by[pmid] for by in shares) >= DISTINCTIVE_FROM
    }


def _extracts(
    sources: Sequence[Retrieved], papers: Sequence[Ranked], documents: Mapping[str, Document], backends: Backends
) -> Iterator[Extract]:
    """The sentences of each paper, scored against the question or the part that it is most relevant to, the first of
    equals."""
    nearest = {
        pmid: max(range(len(sources)), key=lambda at: sources[at].relevance.get(pmid, 0.0))
        for pmid in (each.candidate.pmid for each in papers)
    }
    for at, source in enumerate(sources):
        own = [each for each in source.ranked if nearest.get(each.candidate.pmid) == at]
        yield from extracts(source, own, documents, backends, EMBEDDED // len(sources))


ANY_PAPER = Filters()
LEAST_PAPERS = 3  # the contract's policy
_NOT_STORED = "The answer could not be stored: it will not be flagged if a paper that it cites is retracted."
_LEFT_OUT = "PMID {} seems relevant, but was retracted: it is not cited."
_OUTDATED = "The earlier answer {} to this question cites PMID {}, retracted since: do not rely on it."
_FEW = "{} of the {} papers cited probably answer the question: see the relevance of each."
_OPEN = "The part {!r} of the question is probably not answered: the confidence is {:.2f}."
_CONFLICT = "[{}] and [{}] contradict each other on {}: {}."


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
        written = compose(question, found.cited, LEAST_PAPERS, backends, deadline)
        opposed = [_CONFLICT.format(each.one + 1, each.other + 1, each.outcome, each.reason) for each in contradictions]
        numbered = [f"{each.text} {''.join(f'[{at + 1}]' for at in each.cites)}" for each in written.sentences]
        text = " ".join([*numbered, *opposed])
    warnings = (*_translated(read), *_warnings(found, backends.answer_tau), *written.warnings)
    id_ = _answer_id(question, text, found.cited)
    given = Answer(id_, text, found, written.mode, contradictions, reason, warnings, written.sentences)
    return _stored(question, given, backends)


def _translated(read: ParsedQuestion) -> Iterator[str]:
    """What the user of a Thai question should know."""
    if read.is_thai:
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
    still_open = [_OPEN.format(each.subject, confidence) for each, confidence in of_parts if confidence < tau]
    relevant = [pmid for pmid in found.retracted if found.whole.relevance.get(pmid, 0.0) >= LIKELY]
    return [*found.whole.warnings, *few, *still_open, *doubtful, *map(_LEFT_OUT.format, relevant)]


def _answer_id(question: str, text: str, cited: Sequence[Extract]) -> str:
    """The same for the same question, text and spans."""
    spans = [[each.span.pmid, each.span.version, each.span.where] for each in cited]
    return sha256(json.dumps([question, text, spans]).encode()).hexdigest()[:20]


def _stored(question: str, given: Answer, backends: Backends) -> Answer:
    """The answer, stored; with a warning where it cannot be, and for each earlier one that cites what was retracted."""
    spans = tuple(each.span for each in given.cited)
    stored = StoredAnswer(given.answer_id, question, given.text, spans, given.confidence, backends.now())
    try:
        backends.answers.put(stored)
        citing = [each for pmid in given.evidence.retracted for each in backends.answers.citing(pmid)]
    except StoreFailed:
        return replace(given, warnings=(*given.warnings, _NOT_STORED))
    outdated = {each.answer_id: ", ".join(each.flagged) for each in citing if each.question == question}
    earlier = [_OUTDATED.format(answer_id, pmids) for answer_id, pmids in outdated.items()]
    return replace(given, warnings=(*given.warnings, *earlier))
