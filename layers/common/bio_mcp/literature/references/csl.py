"""CSL-JSON, as Zotero, Mendeley and Pandoc write it, to references."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.references.works import CitedWork, Kind, refuse_too_many, work

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_NOTED = re.compile(r"^\s*(PMID|PMCID)\s*:\s*(\S+)\s*$", re.IGNORECASE | re.MULTILINE)
_ARTICLES = frozenset(("article-journal", "article", "article-magazine", "review", "", "entry"))


def read_csl(text: str) -> list[CitedWork]:
    """The items of a list, of an object's `items`, or the one item. Raises `InvalidInput` for other JSON."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("this file is not CSL-JSON; export the references as CSL JSON") from None
    if isinstance(items, dict):
        items = items.get("items", [items])
    if not isinstance(items, list):
        raise InvalidInput("this file is JSON but no list of references; export them as CSL JSON")
    refuse_too_many(len(items))
    return works_of(items, _lines(text))


def works_of(items: Iterable[object], lines: Mapping[str, int] | None = None) -> list[CitedWork]:
    """The references of CSL items; what is no object is left out. `lines`: the line of each id in the file."""
    return [_work(item, lines or {}) for item in items if isinstance(item, dict)]


def _lines(text: str) -> dict[str, int]:
    """The line of each item's id, where it stands once."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if named := re.search(r'"id"\s*:\s*"?([^",]{1,200})', line):
            found.setdefault(named[1], number)
    return found


def _work(item: Mapping[str, Any], lines: Mapping[str, int]) -> CitedWork:
    noted = {kind.lower(): value for kind, value in _NOTED.findall(_text(item.get("note")))}
    key = _text(item.get("citation-key")) or _text(item.get("id"))
    return work(
        title=_TAG.sub("", _text(item.get("title"))),
        authors=[name for each in _each(item.get("author")) if (name := _name(each))],
        journal=_text(item.get("container-title"))
        or _text(item.get("container-title-short"))
        or _text(item.get("journalAbbreviation")),
        year=_year(item.get("issued")),
        volume=_text(item.get("volume")),
        issue=_text(item.get("issue")),
        pages=_text(item.get("page")) or _text(item.get("number")),
        doi=_text(item.get("DOI")),
        pmid=_text(item.get("PMID")) or noted.get("pmid", ""),
        pmcid=_text(item.get("PMCID")) or noted.get("pmcid", ""),
        kind=_kind(item),
        key=key,
        line=lines.get(_text(item.get("id")), 0),
    )


def _kind(item: Mapping[str, Any]) -> Kind:
    kind = _text(item.get("type"))
    if "preprint" in (_text(item.get("genre")) + kind).casefold():
        return "preprint"
    return "article" if kind in _ARTICLES else "other"


def _text(value: object) -> str:
    value = value[0] if isinstance(value, list) and value else value
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _each(value: object) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value


def _name(given: object) -> str:
    """`van der Berg, Jan`, or a name without parts."""
    if not isinstance(given, dict):
        return ""
    family = " ".join(filter(None, (_text(given.get("non-dropping-particle")), _text(given.get("family")))))
    return ", ".join(filter(None, (family, _text(given.get("given"))))) or _text(given.get("literal"))


def _year(issued: object) -> str:
    if not isinstance(issued, dict):
        return _text(issued)
    years = (next(_each(date), "") for date in _each(issued.get("date-parts")))
    parts = [_text(next(years, ""))]
    return " ".join(filter(None, (*parts, _text(issued.get("raw")), _text(issued.get("literal")))))
