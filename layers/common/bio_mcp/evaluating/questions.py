"""Sets of judged questions: of a file, or shipped with the product; and the corpora that they are asked of."""

import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources import as_file, files
from itertools import chain, islice
from typing import Any

from bio_mcp.deadline import Deadline, Progress
from bio_mcp.errors import InvalidInput
from bio_mcp.jobs.runner import TimeBudget
from bio_mcp.literature.identifiers import parse_pmid
from bio_mcp.literature.records import AbstractSection, Article, PartialDate, PublicationType, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.syncing.applying import apply_records

MOST = 10_000  # questions of a set
LONGEST = 2_000  # characters of a question
FORM = '{"id": "q1", "question": "...", "pmids": ["34093513"]}'


@dataclass(frozen=True, slots=True)
class Rationale:
    """A passage of a paper that answers the question, quoted to the byte."""

    pmid: str
    quote: str


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with the papers that answer it; without any it is one that the corpus cannot answer.

    `retracted` are papers that say the same and are retracted: none may be cited. `corrections` are passages which say
    that what the question takes for granted is not so.
    """

    question_id: str
    text: str
    pmids: tuple[str, ...] = ()
    rationale: tuple[Rationale, ...] = ()
    retracted: tuple[str, ...] = ()
    corrections: tuple[Rationale, ...] = ()

    @property
    def passages(self) -> tuple[Rationale, ...]:
        """What an answer should quote."""
        return self.rationale + self.corrections

    @property
    def citable(self) -> frozenset[str]:
        """The papers that an answer should cite."""
        return frozenset(self.pmids) | {each.pmid for each in self.corrections}


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Questions and the corpus that they are asked of; without `articles` that is the running one.

    `version` differs where questions or articles do.
    """

    name: str
    version: str
    questions: tuple[JudgedQuestion, ...]
    articles: Callable[[], Iterable[Article]] | None = None


def version_of(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]


def questions_in(content: bytes) -> tuple[JudgedQuestion, ...]:
    """Read JSON lines of `{"id", "question", "pmids"}`, and where it is known `"evidence"` and `"corrected_by"` as
    `[{"pmid", "quote"}]`, and `"retracted"` as PMIDs.

    Raises `InvalidInput`, which names the line, for anything else, for an id that comes twice and for too many.
    """
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InvalidInput("the file is not UTF-8 text", field="questions") from None
    found: dict[str, JudgedQuestion] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        question = _question(line, number)
        if question.question_id in found:
            raise InvalidInput(f"line {number} has the id of an earlier line", field="questions")
        found[question.question_id] = question
        if len(found) > MOST:
            raise InvalidInput(f"the file has more than {MOST:,}; evaluate a part of them", field="questions")
    if not found:
        raise InvalidInput(f"the file has none; a line is {FORM}", field="questions")
    return tuple(found.values())


def _question(line: str, number: int) -> JudgedQuestion:
    try:
        return _judged(json.loads(line))
    except (ValueError, RecursionError):
        raise InvalidInput(f"line {number} is not JSON; a line is {FORM}", field="questions") from None
    except InvalidInput as problem:
        raise InvalidInput(f"line {number} {problem}; a line is {FORM}", field="questions") from None


def _judged(given: Any) -> JudgedQuestion:
    if not isinstance(given, dict):
        raise InvalidInput("is no object")
    id_, text = given.get("id"), given.get("question")
    if not (isinstance(id_, str | int) and 0 < len(str(id_)) <= 200):
        raise InvalidInput("has no id, or one of more than 200 characters")
    if not (isinstance(text, str) and any(map(str.isalnum, text)) and len(text) <= LONGEST):
        raise InvalidInput(f"has no question, or one of more than {LONGEST:,} characters")
    pmids, retracted = (
        tuple(dict.fromkeys(_pmid(each) for each in _listed(given, name))) for name in ("pmids", "retracted")
    )
    evidence, corrected = (
        tuple(_rationale(each) for each in _listed(given, name)) for name in ("evidence", "corrected_by")
    )
    return JudgedQuestion(str(id_), text, pmids, evidence, retracted, corrected)


def _listed(given: Mapping[str, Any], name: str) -> list[Any]:
    value = given.get(name, [])
    if not isinstance(value, list) or len(value) > MOST:
        raise InvalidInput(f"has {name} that are no list")
    return value


def _pmid(given: Any) -> str:
    try:
        return parse_pmid(str(given))
    except InvalidInput:
        raise InvalidInput("names something that is no PMID") from None


def _rationale(given: Any) -> Rationale:
    if not (isinstance(given, dict) and isinstance(given.get("quote"), str) and given["quote"].strip()):
        raise InvalidInput("has evidence without a quote")
    return Rationale(_pmid(given.get("pmid")), given["quote"])


SAMPLE = "samples/pubmed.xml.gz"
SMOKE = "evaluating/sets/smoke.jsonl"
ANSWERS = "evaluating/sets/answers"
HALVES = ("development.jsonl", "held_out.jsonl")
PUBMEDQA = "evaluating/sets/pubmedqa.jsonl.xz"
TENTH = 10
FIRST_TWIN = 99_000_000  # PMIDs of the retracted copies count on from here
RETRACTED_PUBLICATION = PublicationType("D016441", "Retracted Publication")


@cache
def smoke() -> EvaluationSet:
    """Some sixty questions to the bundled sample of PubMed records, a quarter of which it cannot answer."""
    content = (files("bio_mcp") / SMOKE).read_bytes()
    questions = with_retracted(questions_in(content))
    return EvaluationSet("smoke", version_of(content), questions, lambda: _with_twins(_records(SAMPLE), questions))


@cache
def answers() -> EvaluationSet:
    """220 questions to the sample and five records more, with the sentences that answer them: one paper or several,
    near misses, false premises, retracted papers alone, and what is no subject of the corpus."""
    content = b"".join((files("bio_mcp") / ANSWERS / half).read_bytes() for half in HALVES)
    return EvaluationSet(
        "answers",
        version_of(content),
        questions_in(content),
        lambda: chain(_records(SAMPLE), _records(f"{ANSWERS}/records.xml.gz")),
    )


def _records(name: str) -> Iterator[Article]:
    from bio_mcp.literature.medline import open_records

    with as_file(files("bio_mcp") / name) as path:
        yield from (each for each in open_records(path) if isinstance(each, Article))


@cache
def curated() -> EvaluationSet:
    """500 questions of PubMedQA, each answered by the abstract that it was drawn from, above all by its conclusion."""
    content = (files("bio_mcp") / PUBMEDQA).read_bytes()
    records = [json.loads(line) for line in lzma.decompress(content).splitlines()]
    asked = []
    for each in records:
        pmid = each["pmid"]
        asked.append(JudgedQuestion(pmid, each["question"], (pmid,), (Rationale(pmid, each["conclusion"]),)))
    questions = with_retracted(asked)
    return EvaluationSet(
        "curated", version_of(content), questions, lambda: _with_twins(map(_abstract, records), questions)
    )


def with_retracted(questions: Sequence[JudgedQuestion]) -> tuple[JudgedQuestion, ...]:
    """The questions, every tenth of those with an answer with a retracted copy of its first paper."""
    answerable = [each.question_id for each in questions if each.pmids]
    chosen = {each: str(FIRST_TWIN + number) for number, each in enumerate(answerable[::TENTH])}
    return tuple(
        replace(each, retracted=(chosen[each.question_id],)) if each.question_id in chosen else each
        for each in questions
    )


def _with_twins(articles: Iterable[Article], questions: Iterable[JudgedQuestion]) -> Iterator[Article]:
    twins = {each.pmids[0]: each.retracted[0] for each in questions if each.retracted}
    for article in articles:
        yield article
        if twin := twins.get(article.pmid):
            types = (*article.publication_types, RETRACTED_PUBLICATION)
            status = RetractionStatus.RETRACTED
            yield replace(article, pmid=twin, doi=None, pmcid=None, publication_types=types, retraction=status)


def _abstract(record: Mapping[str, Any]) -> Article:
    sections = [*record["sections"], ["CONCLUSION", record["conclusion"]]]
    return Article(
        pmid=record["pmid"],
        abstract=tuple(AbstractSection(label, None, text) for label, text in sections),
        publication_date=PartialDate(record["year"], int(record["year"])) if record["year"] else None,
        retraction=RetractionStatus.CLEAR,
    )


BATCH = 200


def fill(articles: Iterable[Article], backends: Backends, deadline: Deadline, progress: Progress) -> bool:
    """Bring the articles into the corpus; False where the time ended before all were in. What is in costs little."""
    budget, waiting, done = TimeBudget(), iter(articles), 0
    while batch := list(islice(waiting, BATCH)):
        settled = apply_records(batch, backends, before_slice=lambda _: budget.allows(deadline))
        done += len(settled.changes)
        progress(done, None, "papers")
        if len(settled.changes) < len({each.pmid for each in batch}):
            return False
    return True
