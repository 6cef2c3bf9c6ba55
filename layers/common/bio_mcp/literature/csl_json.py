"""Read lists of references in CSL-JSON, as Zotero, Better BibTeX, Mendeley and Pandoc write them."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers
from bio_mcp.literature.citing.names import Name, nlm
from bio_mcp.literature.descriptions import Description, normal

TELLING = 15  # letters and digits of a title by which it alone names a work
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_NOTED = re.compile(r"^\s*(PMID|PMCID|Citation Key)\s*:\s*(\S+)\s*$", re.IGNORECASE | re.MULTILINE)


class References:
    """Descriptions of works, of which one may be that of a document."""

    def __init__(self, works: Iterable[Description] = ()) -> None:
        self._by_identifier: dict[str, list[Description]] = {}
        self._by_title: dict[str, list[Description]] = {}
        self._by_citekey: dict[str, list[Description]] = {}
        for each in works:
            for identifier in each.identifiers:
                self._by_identifier.setdefault(identifier, []).append(each)
            self._by_title.setdefault(_letters(each.title), []).append(each)
            self._by_citekey.setdefault(_letters(each.citekey), []).append(each)

    def match(self, known: Description, name: str) -> Description | None:
        """The work with an id of `known`, or else with its title, or else that the file's name names; None for several.

        A file is named after a work by its citekey, or by the beginning of its title, alone or after "Doe - 2020 - ".
        """
        citekeys = {each for each in known.identifiers if each.startswith("citekey:")}
        title, stem = _letters(known.title), PurePosixPath(name).stem
        for found in (
            [each for id_ in known.identifiers - citekeys for each in self._by_identifier.get(id_, ())],
            [each for id_ in citekeys for each in self._by_identifier.get(id_, ())],
            self._by_title.get(title, []) if len(title) >= TELLING else [],
            self._by_citekey.get(_letters(stem), []) if _letters(stem) else [],
            self._beginning(_letters(stem.rpartition(" - ")[2])),
        ):
            if len(works := {id(each): each for each in found}) == 1:
                return next(iter(works.values()))
        return None

    def _beginning(self, letters: str) -> list[Description]:
        """The works whose title begins so."""
        if len(letters) < TELLING:
            return []
        return [each for title, works in self._by_title.items() if title.startswith(letters) for each in works]


def parse(content: bytes) -> References:
    """The works of a CSL-JSON file: a list of items, or an object whose `items` it is. Raises `InvalidInput`."""
    try:
        items = json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidInput("references_path: this file is not CSL-JSON; export the references as CSL JSON") from None
    items = items.get("items") if isinstance(items, dict) else items
    if not isinstance(items, list):
        raise InvalidInput("references_path: this file is JSON but no list of references; export them as CSL JSON")
    return References([_described(each) for each in items if isinstance(each, dict)])


def _described(item: Mapping[str, Any]) -> Description:
    noted = {kind.lower(): value for kind, value in _NOTED.findall(_text(item.get("note")) or "")}
    return Description(
        title=_text(_TAG.sub("", _text(item.get("title")) or "")),
        citekey=_text(item.get("citation-key") or noted.get("citation key") or item.get("id")),
        doi=normal(identifiers.doi, item.get("DOI")),
        pmid=normal(identifiers.parse_pmid, item.get("PMID") or noted.get("pmid")),
        pmcid=normal(identifiers.pmcid, item.get("PMCID") or noted.get("pmcid")),
        url=url if (url := _text(item.get("URL")) or "").startswith(("https://", "http://")) else None,
        year=_year(item.get("issued")),
        authors=tuple(filter(None, map(_author, _list(item.get("author")) or _list(item.get("editor"))))),
        tags=tuple(filter(None, (each.strip() for each in re.split("[,;]", _text(item.get("keyword")) or "")))),
        language=_text(item.get("language")),
    )


def _text(value: object) -> str | None:
    """A text or a number as text without spaces around it; None for nothing, and for anything else."""
    return str(value).strip() or None if isinstance(value, str | int) and not isinstance(value, bool) else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _year(issued: object) -> int | None:
    """The year in `date-parts`, or else in the date as it was typed."""
    if not isinstance(issued, dict):
        return None
    parts = [part for date in _list(issued.get("date-parts")) for part in _list(date)[:1]]
    typed = [issued.get(name) for name in ("raw", "literal")]
    found = _YEAR.search(" ".join(_text(each) or "" for each in (*parts, *typed)))
    return int(found[1]) if found else None


def _author(given: object) -> str | None:
    """`van der Berg JP`, or a name that has no parts."""
    if not isinstance(given, dict):
        return None
    part = {name: _text(value) or "" for name, value in given.items()}
    particle = part.get("non-dropping-particle", "")
    family = " ".join(filter(None, (particle, part.get("family", ""))))
    name = Name(family=family, initials=_initials(part.get("given", "")), literal=part.get("literal", ""))
    return nlm(name) or None


def _initials(given: str) -> str:
    return "".join(part[0] for part in re.split(r"[\s.-]+", given) if part and part[0].isupper())


def _letters(text: str | None) -> str:
    """The letters and digits alone, in lower case."""
    return "".join(each for each in (text or "").casefold() if each.isalnum())
