"""Judged questions: what was asked, which papers answer it, and where in them."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NoReturn

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import parse_pmid
from bio_mcp.literature.records import Article

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

    `retracted` are papers that say the same and are retracted: none may be cited.
    """

    question_id: str
    text: str
    pmids: tuple[str, ...] = ()
    rationale: tuple[Rationale, ...] = ()
    retracted: tuple[str, ...] = ()


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
    """The version of a set that is read from this file."""
    return sha256(content).hexdigest()[:12]


def questions_in(content: bytes) -> tuple[JudgedQuestion, ...]:
    """Read JSON lines of `{"id", "question", "pmids"}`, and `"evidence"` as `[{"pmid", "quote"}]` where it is known.

    Raises `InvalidInput`, which names the line, for anything else, for an id that comes twice and for too many.
    """
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InvalidInput("questions: the file is not UTF-8 text") from None
    found: dict[str, JudgedQuestion] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        question = _question(line, number)
        if question.question_id in found:
            raise InvalidInput(f"questions: line {number} has the id of an earlier line")
        found[question.question_id] = question
        if len(found) > MOST:
            raise InvalidInput(f"questions: the file has more than {MOST:,}; evaluate a part of them")
    if not found:
        raise InvalidInput(f"questions: the file has none; a line is {FORM}")
    return tuple(found.values())


def _question(line: str, number: int) -> JudgedQuestion:
    try:
        given = json.loads(line)
        return _judged(given) if isinstance(given, dict) else _refuse("is no object")
    except (ValueError, RecursionError):
        raise InvalidInput(f"questions: line {number} is not JSON; a line is {FORM}") from None
    except InvalidInput as problem:
        raise InvalidInput(f"questions: line {number} {problem}; a line is {FORM}") from None


def _judged(given: Mapping[str, Any]) -> JudgedQuestion:
    id_, text = given.get("id"), given.get("question")
    if not (isinstance(id_, str | int) and 0 < len(str(id_)) <= 200):
        _refuse("has no id, or one of more than 200 characters")
    if not (isinstance(text, str) and any(map(str.isalnum, text)) and len(text) <= LONGEST):
        _refuse(f"has no question, or one of more than {LONGEST:,} characters")
    pmids = tuple(dict.fromkeys(_pmid(each) for each in _listed(given, "pmids")))
    return JudgedQuestion(str(id_), text, pmids, tuple(_rationale(each) for each in _listed(given, "evidence")))


def _listed(given: Mapping[str, Any], name: str) -> list[Any]:
    value = given.get(name, [])
    return value if isinstance(value, list) and len(value) <= MOST else _refuse(f"has {name} that are no list")


def _pmid(given: Any) -> str:
    try:
        return parse_pmid(str(given))
    except InvalidInput:
        _refuse("names something that is no PMID")


def _rationale(given: Any) -> Rationale:
    if not (isinstance(given, dict) and isinstance(given.get("quote"), str) and given["quote"].strip()):
        _refuse("has evidence without a quote")
    return Rationale(_pmid(given.get("pmid")), given["quote"])


def _refuse(why: str) -> NoReturn:
    raise InvalidInput(why)
