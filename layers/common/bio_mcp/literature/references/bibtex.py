"""BibTeX and BibLaTeX files to references.

A reader of our own: it knows the line of each entry, goes on after an entry that is broken, and reads a hostile file in
one pass.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bio_mcp.literature.references.latex import text_of
from bio_mcp.literature.references.works import CitedWork, Kind, refuse_too_many, work

_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*([{(])")
_KEY = re.compile(r"\s*([^\s,{}=\"]*)\s*(?=[,})])")
_FIELD = re.compile(r"[\s,]*([A-Za-z][\w:.+-]*)\s*=\s*")
_PIECE = re.compile(r"\s*(?:(\d+)|([A-Za-z_][\w:.+-]*)|([{\"]))")
_JOINED = re.compile(r"\s*#")
_BRACES = re.compile(r"\\.|[{}\"]", re.DOTALL)
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_MONTHS = dict.fromkeys("jan feb mar apr may jun jul aug sep oct nov dec".split(), "")
_NO_WORKS = frozenset(("comment", "string", "preamble"))
_ARTICLES = frozenset(("article", "article-journal", "review", "misc", "unpublished", "online"))
_PMID = re.compile(r"PMID:?\s*(\d{1,9})", re.IGNORECASE)


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0

    def value(self, strings: Mapping[str, str]) -> str:
        """The value at this place: figures, names of strings, braces and quotes, joined by #."""
        pieces: list[str] = []
        while piece := _PIECE.match(self.text, self.at):
            self.at = piece.end()
            number, name, opened = piece.groups()
            pieces.append(self._enclosed(opened) if opened else number or strings.get(name.casefold(), name))
            joined = _JOINED.match(self.text, self.at)
            if joined is None:
                break
            self.at = joined.end()
        return "".join(pieces)

    def _enclosed(self, opened: str) -> str:
        """The text up to the closing brace or quote; where none closes, up to the next entry."""
        start, depth = self.at, 0
        for mark in _BRACES.finditer(self.text, start):
            closes = (opened == '"' and mark[0] == '"') or (opened == "{" and mark[0] == "}")
            if depth == 0 and closes:
                self.at = mark.end()
                return self.text[start : mark.start()]
            depth += {"{": 1, "}": -1}.get(mark[0], 0)
            depth = max(depth, 0)
        following = self.text.find("\n@", start)
        self.at = following if following > 0 else len(self.text)
        return self.text[start : self.at]


def read_bibtex(text: str) -> list[CitedWork]:
    """The entries of the file, but comments. Raises `InvalidInput` for too many."""
    strings: dict[str, str] = dict(_MONTHS)
    works: list[CitedWork] = []
    for kind, key, at, fields in _entries(text, strings):
        if kind == "string":
            strings |= fields
        elif kind not in _NO_WORKS and fields:
            works.append(_work(kind, key, text.count("\n", 0, at) + 1, fields))
            refuse_too_many(len(works))
    return works


def _entries(text: str, strings: Mapping[str, str]) -> Iterator[tuple[str, str, int, dict[str, str]]]:
    """Kind, key, place and fields of each entry. One that is broken ends where the next begins."""
    reader = _Reader(text)
    for start in _ENTRY.finditer(text):
        if start.start() < reader.at:
            continue
        kind, reader.at = start[1].casefold(), start.end()
        key = "" if kind == "string" else _key(reader)
        yield kind, key, start.start(), dict(_fields(reader, strings))


def _key(reader: _Reader) -> str:
    found = _KEY.match(reader.text, reader.at)
    reader.at = found.end() if found else reader.at
    return found[1] if found else ""


def _fields(reader: _Reader, strings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    while field := _FIELD.match(reader.text, reader.at):
        reader.at = field.end()
        yield field[1].casefold(), reader.value(strings)


def _work(kind: str, key: str, line: int, fields: Mapping[str, str]) -> CitedWork:
    plain = {name: text_of(value) for name, value in fields.items() if name not in ("author", "doi", "url")}
    people = [_inverted(text_of(each)) for each in _AND.split(fields.get("author", "").strip()) if each.strip()]
    doi = re.sub(r"[{}\\]", "", fields.get("doi", ""))
    return work(
        title=plain.get("title", ""),
        authors=[each for each in people if each.casefold() != "others"],
        etal=any(each.casefold() == "others" for each in people),
        journal=_first(plain, "journal", "journaltitle", "shortjournal"),
        year=_first(plain, "year", "date"),
        volume=plain.get("volume", ""),
        issue=_first(plain, "number", "issue"),
        pages=_first(plain, "pages", "eid", "article-number"),
        doi=doi or _doi_in(fields.get("url", "")),
        pmid=_pmid(plain),
        pmcid=_first(plain, "pmcid", "pmc"),
        kind=_kind(kind, plain, doi),
        key=key,
        line=line,
    )


def _first(fields: Mapping[str, str], *names: str) -> str:
    return next((value for name in names if (value := fields.get(name))), "")


def _pmid(fields: Mapping[str, str]) -> str:
    """The PMID in a field of its own, as an eprint, or in a note."""
    eprint = "eprint" if fields.get("eprinttype", "").casefold() in ("pmid", "pubmed") else ""
    noted = _PMID.search(" ".join(fields.get(each, "") for each in ("note", "annote", "addendum")))
    return _first(fields, "pmid", eprint) or (noted[1] if noted else "")


def _inverted(name: str) -> str:
    """`Doe, Jane` of `Jane Doe`, with the particles before the family name; others as they are."""
    words = name.split()
    if "," in name or len(words) < 2 or name.casefold() == "others":
        return name
    at = next((place for place, word in enumerate(words[:-1]) if place and word.islower()), len(words) - 1)
    return f"{' '.join(words[at:])}, {' '.join(words[:at])}"


def _doi_in(url: str) -> str:
    return url if "doi.org/10." in url else ""


def _kind(kind: str, fields: Mapping[str, str], doi: str) -> Kind:
    if fields.get("archiveprefix") or "rxiv" in (fields.get("journal", "") + fields.get("publisher", "")).casefold():
        return "preprint"
    named = kind == "article" or bool(fields.get("journal") or fields.get("journaltitle"))
    return "article" if named or (kind in _ARTICLES and (doi or fields.get("pmid"))) else "other"
