"""Arguments of a call: read as the tool wants them where they can mean one thing only, then checked, or refused in
sentences.

Read are whole numbers and truth values in strings, one value for a list, an enum in any case, a day with dashes or
slashes, a paper by any of its identifiers, and a question under the name that another tool has for it. Whatever else
does not fit is left as it was sent, and refused.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NotFound, UpstreamFailed
from bio_mcp.ports import Backends
from bio_mcp.querying.identifiers import convert, kind_of
from bio_mcp.tool import MAX_ITEMS, MAX_KEYS, MAX_NUMBER, MAX_TEXT, Tool
from bio_mcp.untrusted import excerpt

QUESTIONS = ("query", "question", "text", "queryTerm", "term")
"""Names of a question; a tool that has one of them takes it under each."""
LONGEST = 600  # characters of a text that may be a number, a day, an enum or an identifier
SHOWN = 60  # characters of a value, in a warning
SHOWN_ITEMS = 3  # of a list
PROBLEMS = 10  # at most in the error about bad input

_WHOLE = re.compile(r"([+-]?[0-9]{1,16})(?:\.0{1,3})?", re.ASCII)
_TRUTH = {"true": True, "false": False, "yes": True, "no": False}
_DAY = re.compile(r"([12][0-9]{3})(?:([-/])([0-9]{1,2})(?:\2([0-9]{1,2}))?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class PaperId:
    """Marks a text that names a paper: any identifier of one is read as its PMID, after `prefix`.

    Other ids that the field may have are left as they are. `keeps_doi`: so is a DOI, as `doi:10.1/x`.
    `unless`: the field names something else where the field of this name is given, too.
    """

    prefix: str = ""
    keeps_doi: bool = False
    unless: str = ""


@dataclass(frozen=True, slots=True)
class Day:
    """Marks a text that may be a day. `whole`: a year or a month is read as its first day."""

    separator: Literal["-", "/"]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """Marks a text that is one of these words, where the tool itself refuses others: its schema does not name them."""

    words: tuple[str, ...]


Resolve = Callable[[Sequence[str]], Mapping[str, str]]
"""PMIDs of papers by `doi:10.1/x` or `pmcid:PMC1`. Raises `Failure` where one has none."""


def read_arguments(
    tool: Tool, given: Mapping[str, Any], backends: Backends, deadline: Deadline
) -> tuple[BaseModel, list[str]]:
    """The request, and a sentence on each argument that was read as another value than it was sent as.

    Raises `InvalidInput` for what does not fit, `NotFound` for a paper that is named by a DOI or PMCID that nobody
    knows, and `UpstreamFailed` where that could not be asked.
    """
    arguments, sentences = understood(tool.input, given, partial(_pmids, tool, backends, deadline))
    try:
        return tool.input.model_validate(arguments), sentences
    except ValidationError as error:
        raise _refusal(tool, error) from None


def understood(model: type[BaseModel], given: Mapping[str, Any], resolve: Resolve) -> tuple[dict[str, Any], list[str]]:
    """The arguments as `model` wants them, as far as they are clear, and a sentence on each that is not as it was."""
    reading = _Reading({})
    arguments = reading.object(model, given)
    if reading.unresolved:
        reading = _Reading(resolve(list(reading.unresolved)))
        arguments = reading.object(model, given)
    return arguments, reading.sentences


def _pmids(tool: Tool, backends: Backends, deadline: Deadline, named: Sequence[str]) -> dict[str, str]:
    """The PMIDs from the corpus, else, for a tool that asks outside anyway, from NCBI. Raises `NotFound`, which says
    what to do, and `UpstreamFailed`."""
    found = dict(backends.documents.resolve(named))
    missing = [each for each in named if each not in found]
    if missing and tool.open_world:
        converted, reasons = convert(missing, backends.lookup, backends.pubmed, deadline)
        found |= {each.asked: each.ids.pmid for each in converted if each.ids.pmid}
        missing = [each for each in named if each not in found]
        if missing and reasons:
            raise UpstreamFailed(f"{'; '.join(reasons)}. Give the PMID, or try again later.")
    if not missing:
        return found
    kind, _, number = missing[0].partition(":")
    if tool.open_world:
        what_next = "Look for its title with searchPubMedArticles, and give its PMID."
    else:
        term = f'"{number}"[doi]' if kind == "doi" else f"{number}[pmcid]"
        what_next = (
            f"Look with rag_search for what is, ask convertArticleIds for its PMID, or sync a PubMed query that finds "
            f"it, for example pubmed_sync_delta with the term {term}."
        )
    where = "PubMed has no paper" if tool.open_world else "The corpus has no paper"
    raise NotFound(f"{where} with the {kind.upper()} {excerpt(number)}. {what_next}")


@dataclass(slots=True)
class _Change:
    before: Any
    after: Any
    more: int = 0  # values of the same argument


@dataclass
class _Reading:
    """One reading of the arguments. `pmids` are those of papers by other identifiers; what it lacks of these is
    `unresolved`, each once, in order."""

    pmids: Mapping[str, str]
    unresolved: dict[str, None] = field(default_factory=dict)
    changes: dict[str, _Change] = field(default_factory=dict)
    renamed: list[str] = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        return [
            *self.renamed,
            *(
                f"{path}: {_shown(each.before)} was read as {_shown(each.after)}"
                f"{f', and {each.more} more likewise' if each.more else ''}."
                for path, each in self.changes.items()
            ),
        ]

    def object(self, model: type[BaseModel], given: Mapping[str, Any], path: tuple[str, ...] = ()) -> dict[str, Any]:
        if len(given) > MAX_KEYS:
            return dict(given)
        named = given if path else self._by_own_name(model, given)
        read = dict(named)
        for name, value in named.items():
            if known := model.model_fields.get(name):
                at = (*path, name)
                most = getattr(model, "most_items", MAX_ITEMS)
                read[name] = self._value(known.annotation, known.metadata, value, at, named, most)
        return read

    def _by_own_name(self, model: type[BaseModel], given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments with the question under the tool's own name, where it has one, and was given one."""
        own = [each for each in QUESTIONS if each in model.model_fields]
        asked = [each for each in QUESTIONS if each in given]
        if len(own) != 1 or len(asked) != 1 or own == asked:
            return given
        self.renamed.append(f"{asked[0]} was read as {own[0]}.")
        return {own[0] if name == asked[0] else name: each for name, each in given.items()}

    def _value(
        self, kind: Any, marks: Sequence[Any], value: Any, path: tuple[str, ...], beside: Mapping[str, Any], most: int
    ) -> Any:
        """The value as a field of this kind wants it. `beside` are the arguments of its object."""
        if get_origin(kind) is Annotated:
            kind, marks = get_args(kind)[0], [*kind.__metadata__, *marks]
        if get_origin(kind) is not list and not _is_model(kind):
            return self._word(kind, marks, value, path, beside)
        plain = _parsed(value)
        if plain is not value:
            self._note(path, value, plain)
        if get_origin(kind) is list:
            return self._list(get_args(kind)[0], plain, path, beside, most)
        return self.object(kind, plain, path) if isinstance(plain, dict) else plain

    def _word(
        self, kind: Any, marks: Sequence[Any], value: Any, path: tuple[str, ...], beside: Mapping[str, Any]
    ) -> Any:
        """What is neither a list nor an object of fields."""
        read = _chosen(value, get_args(kind)) if get_origin(kind) is Literal else READINGS.get(kind, _as_it_is)(value)
        for mark in marks:
            if isinstance(mark, PaperId) and not (mark.unless and mark.unless in beside):
                read = self._paper(mark, read)
            elif isinstance(mark, Day):
                read = _day(mark, read)
            elif isinstance(mark, OneOf):
                read = _chosen(read, mark.words)
        self._note(path, value, read)
        return read

    def _list(self, kind: Any, value: Any, path: tuple[str, ...], beside: Mapping[str, Any], most: int) -> Any:
        if isinstance(value, list):
            if len(value) > most or all(type(each) is kind for each in value):
                return value
            return [self._value(kind, (), each, path, beside, most) for each in value]
        if not _may_be_one_of(kind, value):
            return value
        inner = _Reading(self.pmids, self.unresolved)
        read = [inner._value(kind, (), each, path, beside, most) for each in _listed(kind, value)]
        self._note(path, value, read)
        return read

    def _paper(self, mark: PaperId, value: Any) -> Any:
        """The PMID of the paper that the text names; the text itself where it names none, and until that is known."""
        if not _is_short(value) or re.fullmatch(f"{mark.prefix}[0-9]+", value) or not (known := kind_of(value)):
            return value
        kind, number = known
        if kind == "pmid":
            return mark.prefix + number
        identifier = f"{kind}:{number}"
        if kind == "doi" and mark.keeps_doi:
            return identifier
        if identifier in self.pmids:
            return mark.prefix + self.pmids[identifier]
        self.unresolved[identifier] = None
        return value

    def _note(self, path: tuple[str, ...], before: Any, after: Any) -> None:
        if type(before) is type(after) and before == after:
            return
        change = self.changes.setdefault(".".join(path), _Change(before, before))
        if change.after is before:  # a second reading of the same
            change.after = after
        else:
            change.more += 1


def _parsed(value: Any) -> Any:
    """The list or object that the text is, as JSON; else the value."""
    if isinstance(value, str) and len(value) <= MAX_TEXT and value.strip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _may_be_one_of(kind: Any, value: Any) -> bool:
    """Whether the value can be the one item of a list: an object of a list of objects, else a number or some text."""
    if get_origin(kind) is dict or _is_model(kind):
        return isinstance(value, dict)
    return bool(value.strip()) if isinstance(value, str) else type(value) in (int, float)


def _listed(kind: Any, value: Any) -> list[Any]:
    """The items that one value for a list has: several papers with commas between them, else itself."""
    marks = kind.__metadata__ if get_origin(kind) is Annotated else ()
    if isinstance(value, str) and len(value) < MAX_TEXT and any(isinstance(each, PaperId) for each in marks):
        parts = [each.strip() for each in re.split("[,;]", value)]
        if 1 < len(parts) <= MAX_ITEMS and all(kind_of(each[:LONGEST]) for each in parts):
            return parts
    return [value]


def _as_it_is(value: Any) -> Any:
    return value


def _is_short(value: Any) -> bool:
    """Whether it may be a number, a day, an enum or an identifier: a line of text, and not a long one."""
    return isinstance(value, str) and len(value) <= LONGEST and value.isprintable()


def _whole(value: Any) -> Any:
    if type(value) is float and value.is_integer() and abs(value) <= MAX_NUMBER:
        return int(value)
    return int(match[1]) if _is_short(value) and (match := _WHOLE.fullmatch(value.strip())) else value


def _truth(value: Any) -> Any:
    return _TRUTH.get(value.strip().lower(), value) if _is_short(value) else value


def _text(value: Any) -> Any:
    whole = _whole(value) if type(value) is float else value
    return str(whole) if type(whole) is int and abs(whole) <= MAX_NUMBER else value


READINGS: Mapping[Any, Callable[[Any], Any]] = {int: _whole, bool: _truth, str: _text}


def _chosen(value: Any, choices: Sequence[str]) -> Any:
    """The one of `choices` that the text is but for case, spaces, dashes and underscores."""
    if not _is_short(value) or value in choices:
        return value
    meant = [each for each in choices if _plainly(each) == _plainly(value)]
    return meant[0] if len(meant) == 1 else value


def _plainly(word: str) -> str:
    return re.sub("[-_ ]", "", word.strip().lower())


def _day(mark: Day, value: Any) -> Any:
    match = _DAY.fullmatch(value.strip()) if _is_short(value) else None
    if match is None:
        return value
    parts = [int(each) for each in match.group(1, 3, 4) if each]
    whole = [*parts, 1, 1][:3]
    with suppress(ValueError):
        date(*whole)
        return mark.separator.join(f"{each:02}" for each in (whole if mark.whole else parts))
    return value


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{…}"
    if isinstance(value, list):
        first = ["[…]" if isinstance(each, list) else _shown(each) for each in value[:SHOWN_ITEMS]]
        return f"[{', '.join(first)}{', …' if len(value) > SHOWN_ITEMS else ''}]"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _refusal(tool: Tool, error: ValidationError) -> InvalidInput:
    """What is wrong with a request: a path and a sentence for each problem, at most `PROBLEMS` of them."""
    problems = error.errors(include_url=False, include_context=False)
    shown = [_located(each) for each in problems[:PROBLEMS]]
    listed: set[type[BaseModel]] = set()
    sentences = [
        f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {_sentence(tool, each, problem['input'], listed)}"
        for each, problem in zip(shown, problems, strict=False)
    ]
    more = [f"And {len(problems) - PROBLEMS} more."] if len(problems) > PROBLEMS else []
    return InvalidInput(" ".join(dict.fromkeys(sentences + more)), problems=shown)


def _located(problem: Mapping[str, Any]) -> dict[str, Any]:
    """The problem without its input, and with long names cut, since a client may give an unknown parameter any name."""
    loc = tuple(excerpt(each, 50) if isinstance(each, str) else each for each in problem["loc"])
    return {"type": problem["type"], "loc": loc, "msg": excerpt(problem["msg"].removeprefix("Value error, "))}


def _sentence(tool: Tool, problem: Mapping[str, Any], given: Any, listed: set[type[BaseModel]]) -> str:
    """What to give instead, with an example. `listed` are models whose fields were told already."""
    if problem["type"] == "value_error":
        return f"{problem['msg'].rstrip('.')}."
    at = _Place.of(tool.input, problem["loc"])
    if problem["type"] == "extra_forbidden":
        return _not_a_parameter(tool, at.model, str(problem["loc"][-1]), listed)
    if problem["type"] == "missing":
        return f"This is required. Give {at.expected(problem['type'])}."
    absent = ", or leave it out" if given is None and at.field and not at.field.is_required() else ""
    return f"Give {at.expected(problem['type'])}{absent}."


def _not_a_parameter(tool: Tool, model: type[BaseModel], name: str, listed: set[type[BaseModel]]) -> str:
    own = [each for each in QUESTIONS if each in model.model_fields] if model is tool.input else []
    if name in QUESTIONS and own:
        return f"Give the question once, as {' or '.join(own)}."
    near = get_close_matches(name, model.model_fields, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    takes = "" if model in listed else f" It takes {', '.join(model.model_fields) or 'none'}."
    listed.add(model)
    return f"This is not a parameter of {tool.portable_name}.{meant}{takes}"


def example_of(model: type[BaseModel], name: str) -> Any:
    """A value that the field of this name may have."""
    return _Place.of(model, (name,)).example


@dataclass(frozen=True, slots=True)
class _Place:
    """A value in the arguments: a `kind` with its `marks`, in the `field` of a `model`."""

    model: type[BaseModel]
    field: FieldInfo | None
    name: str
    kind: Any
    marks: tuple[Any, ...] = ()

    @classmethod
    def of(cls, model: type[BaseModel], loc: Sequence[str | int]) -> "_Place":
        """The value at this path; of what the model does not have, the object that it would stand in."""
        at = cls(model, None, "", model)
        for step in loc:
            inner = at.kind if _is_model(at.kind) else at.model
            if isinstance(step, int):
                at = at._with(get_args(at.kind)[0] if get_origin(at.kind) is list else at.kind)
            elif known := inner.model_fields.get(step):
                at = cls(inner, known, step, known.annotation, tuple(known.metadata))
            else:
                return cls(inner, None, step, inner)
        return at

    def _with(self, kind: Any) -> "_Place":
        marks: tuple[Any, ...] = ()
        if get_origin(kind) is Annotated:
            kind, marks = get_args(kind)[0], kind.__metadata__
        found = [each for mark in marks for each in (mark, *getattr(mark, "metadata", ()))]
        return replace(self, kind=kind, marks=tuple(found))

    def expected(self, problem: str) -> str:
        """What to give here: "a whole number from 1 to 100, such as 20"."""
        if get_origin(self.kind) is Literal:
            *others, last = map(json.dumps, get_args(self.kind))
            meaning = self.field.description if self.field else None
            return f"{', '.join(others)}{' or ' if others else ''}{last}{f' ({meaning})' if meaning else ''}"
        if self.kind is bool:
            return "true or false"
        return f"{self._noun(problem)}, such as {json.dumps(self.example, ensure_ascii=False)}"

    def _noun(self, problem: str) -> str:
        if self.kind in (int, float):
            return f"a {'whole ' if self.kind is int else ''}number{self._range()}"
        if any(isinstance(each, PaperId) for each in self.marks):
            return "the PMID, PMCID or DOI of a paper"
        if any(isinstance(each, Day) for each in self.marks):
            return "a day"
        least, most = self._limit("min_length"), self._limit("max_length")
        what, unit = ("a list", "items") if get_origin(self.kind) is list else ("a text", "characters")
        if _is_model(self.kind) or get_origin(self.kind) is dict:
            return "an object"
        if problem.endswith("too_long"):
            return f"{what} of at most {most or MAX_TEXT} {unit}"
        if problem.endswith("too_short"):
            return f"{what} of at least {least} {unit}" if (least or 0) > 1 else f"{what} that is not empty"
        return what

    def _range(self) -> str:
        least, most = self._limit("ge"), self._limit("le")
        if least is not None and most is not None:
            return f" from {least} to {most}"
        return f", at least {least}" if least is not None else f", at most {most}" if most is not None else ""

    def _limit(self, name: str) -> Any:
        return next((each for mark in self.marks if (each := getattr(mark, name, None)) is not None), None)

    @property
    def example(self) -> Any:
        """A value that may stand here."""
        if get_origin(self.kind) is list:
            return [self._with(get_args(self.kind)[0]).example]
        if _is_model(self.kind):
            fields = self.kind.model_fields.items()
            shown = [name for name, each in fields if each.is_required()] or [name for name, _ in fields][:1]
            return {name: example_of(self.kind, name) for name in shown}
        if get_origin(self.kind) is Literal:
            return get_args(self.kind)[0]
        return self._marked or self._known

    @property
    def _marked(self) -> str:
        for mark in self.marks:
            if isinstance(mark, PaperId):
                return f"{mark.prefix}34093119"
            if isinstance(mark, Day):
                return mark.separator.join(("2026", "01", "31"))
        return ""

    @property
    def _known(self) -> Any:
        """The example by name, else the default, else the least."""
        for name in (f"{self.model.__name__}.{self.name}", self.name):
            if name in EXAMPLES:
                return EXAMPLES[name]
        default = self.field.default if self.field else None
        if default and type(default) is self.kind:
            return default
        return max(self._limit("ge") or 0, 1) if self.kind is int else self.kind is bool or self.name


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


EXAMPLES: Mapping[str, Any] = {
    "author": "mann bj",
    "authors": "Smith",
    "citekey": "smith_2020_migraine",
    "criteria": "randomized trials of acupuncture against migraine",
    "cursor": "20",
    "EuropePmcQuestion.cursor": "AoJwg",
    "RagSearch.cursor": "20-0123456789ab",
    "doc_id": "doc:0123456789abcdef",
    "edges": "treats",
    "embedding": 0.25,
    "filterByPublicationTypes": "Review",
    "firstPage": "101",
    "formulation_ids": "Sahatsathara",
    "herb_ids": "Turmeric",
    "icd": "G43",
    "id": "34093119",
    "Start.id": "Turmeric",
    "StoredItem.id": "smith_2020_migraine:1",
    "ids": "34093119",
    "items": {"type": "article-journal", "title": "Acupuncture for migraine"},
    "job_id": "sync_0123456789abcdef",
    "journal": "Lancet",
    "journals": "Lancet",
    "languages": "English",
    "OcrParams.languages": "eng",
    "Ner.provider": "gazetteer",
    "Ocr.provider": "tesseract",
    "BibliographyQuestion.text": "Mann BJ. Acupuncture for migraine. Lancet. 2020;12:101.",
    "mesh": "Migraine Disorders",
    "metadata": {"citekey": "smith_2020_migraine"},
    "metrics": "R@10",
    "nodes": "constituent",
    "ocr_languages": "eng",
    "overlap_days": 5,
    "participants_min": 100,
    "pattern": "herb>constituent>indication",
    "project": "my-papers",
    "projects": "my-papers",
    "publication_types": "Review",
    "query": "acupuncture for migraine",
    "query_key": "migraine",
    "queryTerm": "migraine[tiab] AND acupuncture",
    "question": "does acupuncture help against migraine?",
    "quote": "Acupuncture reduced the number of days with migraine.",
    "reason": "no control group",
    "references_path": "library.json",
    "section_prefix": "Methods",
    "sections": "methods",
    "source": "papers/smith2020.pdf",
    "sources": "DrugBank",
    "starts_with": "migr",
    "tags": "migraine",
    "term": "migraine[tiab] AND acupuncture",
    "text": "acupuncture for migraine",
    "title": "Acupuncture for migraine",
    "to": "Migraine",
    "uri": "https://example.org/smith2020.pdf",
    "volume": "12",
    "year": 2020,
    "KnownCitation.year": "2020",
    "year_from": 2015,
    "year_to": 2025,
}
"""A value of each argument that its type does not say, by its name, where others have that by its model and name."""
