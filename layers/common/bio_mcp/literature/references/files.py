"""Files of references: BibTeX, CSL-JSON, RIS, NBIB (MEDLINE), or plain text."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import starmap
from types import MappingProxyType
from typing import Any, Literal

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.descriptions import CslItem, csl_items
from bio_mcp.literature.references.plain import read_plain
from bio_mcp.literature.references.works import MOST, CitedWork, Kind, refuse_too_many, work

_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
            "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a",
            "d": "\u0323"}  # fmt: skip
_LETTERS = {"ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
            "AA": "Å", "i": "i", "j": "j", "dh": "ð", "th": "þ", "textendash": "–", "textemdash": "—", "&": "&",
            "textquoteright": "’", "textregistered": "®", "textdegree": "°", "times": "×", "pm": "±", "ldots": "…",
            "textasciitilde": "~", "geq": "≥", "leq": "≤", "rightarrow": "→", "textbackslash": "\\"}  # fmt: skip
_ACCENT = re.compile(
    r"\\(?:([`'^\"~=.])\s*|([uvHckrd])(?:\s+|(?=\{)))(?:\{\s*(\\[ij]|[^\W\d_])\s*\}|(\\[ij](?![a-zA-Z])|[^\W\d_]))"
)
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?\s*(?:\{\})?|\\([&%$#_{}])")
_TYPED = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("~", " "), ("$", ""))


def text_of(latex: str) -> str:
    """Accents and letters as characters, Greek letters too; commands, braces and dollars go, their contents stay."""
    text = _ACCENT.sub(lambda each: (each[3] or each[4]).removeprefix("\\") + _ACCENTS[each[1] or each[2]], latex)
    text = _COMMAND.sub(_character, text)
    for typed, meant in _TYPED:
        text = text.replace(typed, meant)
    text = re.sub(r"[{}]", "", text).replace("\x00", "{").replace("\x01", "}")
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _character(found: re.Match[str]) -> str:
    if found[2]:
        return {"{": "\x00", "}": "\x01", "$": "\uff04"}.get(found[2], found[2])
    name = found[1]
    if name in _LETTERS:
        return _LETTERS[name]
    case, letter = ("CAPITAL" if name[0].isupper() else "SMALL"), name.removeprefix("var").upper()
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {letter.replace('LAMBDA', 'LAMDA')}")
    except KeyError:
        return ""


_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*([{(])")
_KEY = re.compile(r"\s*([^\s,{}=\"]*)\s*(?=[,})])")
_FIELD = re.compile(r"[\s,]*([A-Za-z][\w:.+-]*)\s*=\s*")
_PIECE = re.compile(r"\s*(?:(\d+)|([A-Za-z_][\w:.+-]*)|([{\"]))")
_JOINED = re.compile(r"\s*#")
_BRACES = re.compile(r"\\.|[{}\"]", re.DOTALL)
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_MONTHS = dict.fromkeys("jan feb mar apr may jun jul aug sep oct nov dec".split(), "")
_NO_WORKS = frozenset(("comment", "string", "preamble"))
_BIBTEX_ARTICLES = frozenset(("article", "article-journal", "review", "misc", "unpublished", "online"))
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


def read_bibtex(text: str, most: int = MOST) -> list[CitedWork]:
    """The entries of the file, but comments. Raises `InvalidInput` for too many."""
    strings: dict[str, str] = dict(_MONTHS)
    works: list[CitedWork] = []
    for kind, key, at, fields in _entries(text, strings):
        if kind == "string":
            strings |= fields
        elif kind not in _NO_WORKS and fields:
            works.append(_bibtex_work(kind, key, text.count("\n", 0, at) + 1, fields))
            refuse_too_many(len(works), most)
    return works


def _entries(text: str, strings: Mapping[str, str]) -> Iterator[tuple[str, str, int, dict[str, str]]]:
    """Kind, key, place and fields of each entry. One that is broken ends where the next begins."""
    reader = _Reader(text)
    for start in _ENTRY.finditer(text):
        if start.start() < reader.at:
            continue
        kind, reader.at = start[1].casefold(), start.end()
        found = None if kind == "string" else _KEY.match(text, reader.at)
        reader.at = found.end() if found else reader.at
        fields = {}
        while field := _FIELD.match(text, reader.at):
            reader.at = field.end()
            fields[field[1].casefold()] = reader.value(strings)
        yield kind, found[1] if found else "", start.start(), fields


Places = Mapping[str, tuple[str, ...]]
"""Field of a reference -> where a format has it, the surest first."""


def chosen(places: Places, text: Callable[[str], str | None]) -> dict[str, str]:
    """The fields, each from the first place that has a text."""
    return {field: next(filter(None, map(text, names)), "") for field, names in places.items()}


_BIBTEX: Places = {
    "title": ("title",), "journal": ("journal", "journaltitle", "shortjournal"), "year": ("year", "date"),
    "volume": ("volume",), "issue": ("number", "issue"), "pages": ("pages", "eid", "article-number"),
    "pmcid": ("pmcid", "pmc"),
}  # fmt: skip


def _bibtex_work(kind: str, key: str, line: int, fields: Mapping[str, str]) -> CitedWork:
    plain = {name: text_of(value) for name, value in fields.items() if name not in ("author", "doi", "url")}
    people = [_inverted(text_of(each)) for each in _AND.split(fields.get("author", "").strip()) if each.strip()]
    doi, url = re.sub(r"[{}\\]", "", fields.get("doi", "")), fields.get("url", "")
    return work(
        **chosen(_BIBTEX, plain.get),
        authors=[each for each in people if each.casefold() != "others"],
        etal=any(each.casefold() == "others" for each in people),
        doi=doi or (url if "doi.org/10." in url else ""),
        pmid=_pmid(plain),
        kind=_bibtex_kind(kind, plain, doi),
        key=key,
        line=line,
        abstract=plain.get("abstract", ""),
        keywords=re.split("[;,]", plain.get("keywords", "")),
    )


def _pmid(fields: Mapping[str, str]) -> str:
    """The PMID in a field of its own, as an eprint, or in a note."""
    eprint = "eprint" if fields.get("eprinttype", "").casefold() in ("pmid", "pubmed") else ""
    noted = _PMID.search(" ".join(fields.get(each, "") for each in ("note", "annote", "addendum")))
    return fields.get("pmid") or fields.get(eprint) or (noted[1] if noted else "")


def _inverted(name: str) -> str:
    """`Doe, Jane` of `Jane Doe`, with the particles before the family name; others as they are."""
    words = name.split()
    if "," in name or len(words) < 2 or name.casefold() == "others":
        return name
    at = next((place for place, word in enumerate(words[:-1]) if place and word.islower()), len(words) - 1)
    return f"{' '.join(words[at:])}, {' '.join(words[:at])}"


def _bibtex_kind(kind: str, fields: Mapping[str, str], doi: str) -> Kind:
    if fields.get("archiveprefix") or "rxiv" in (fields.get("journal", "") + fields.get("publisher", "")).casefold():
        return "preprint"
    named = kind == "article" or bool(fields.get("journal") or fields.get("journaltitle"))
    return "article" if named or (kind in _BIBTEX_ARTICLES and (doi or fields.get("pmid"))) else "other"


_CSL: Places = {
    "journal": ("container-title", "container-title-short", "journalAbbreviation"), "volume": ("volume",),
    "issue": ("issue",), "pages": ("page", "number"),
}  # fmt: skip
_CSL_ARTICLES = frozenset(("article-journal", "article", "article-magazine", "review", "", "entry"))


def read_csl(text: str, most: int = MOST) -> list[CitedWork]:
    """The items of a list, of an object's `items`, or the one item. Raises `InvalidInput` for other JSON."""
    items = csl_items(text)
    refuse_too_many(len(items), most)
    lines: dict[str, int] = {}  # of each item's id, where it stands first
    for number, line in enumerate(text.splitlines(), 1):
        if named := re.search(r'"id"\s*:\s*"?([^",]{1,200})', line):
            lines.setdefault(named[1], number)
    return [csl_work(item, lines) for item in items]


def csl_work(variables: Mapping[str, Any], lines: Mapping[str, int] = MappingProxyType({})) -> CitedWork:
    """The reference of a CSL item. `lines`: the line of each id in the file."""
    item = CslItem(variables)
    kind = item.text("type")
    preprint = "preprint" in (item.text("genre") + kind).casefold()
    people = [", ".join(filter(None, (name.family, name.given))) or name.literal for name in item.names("author")]
    return work(
        **chosen(_CSL, item.text),
        title=item.title,
        authors=people,
        year=item.issued,
        doi=item.text("DOI"),
        pmid=item.noted("PMID"),
        pmcid=item.noted("PMCID"),
        kind="preprint" if preprint else "article" if kind in _CSL_ARTICLES else "other",
        key=item.key,
        line=lines.get(item.text("id"), 0),
        abstract=item.text("abstract"),
        keywords=item.text("keyword").split(";"),
    )


_RIS_LINE = re.compile(r"^\s*([A-Z][A-Z0-9])(?:  ?- {0,2}| - )(.*)$")
_ARTICLE_NUMBER = re.compile(r"[A-Za-z]{0,4}\d[\w.-]{0,20}")
_CENTRAL_PMID = re.compile(r"\bPUBMED (\d{1,9})\b")
_NBIB_LINE = re.compile(r"^([A-Z]{2,4}) *- (.*)$")
_RIS_ARTICLES = frozenset(("JOUR", "JFULL", "MGZN", "EJOUR", "INPR", "GEN", "ABST", "NEWS", ""))
_RIS: Places = {
    "title": ("TI", "T1", "CT", "BT"), "journal": ("T2", "JF", "JO", "JA", "J2"), "year": ("PY", "Y1", "DA"),
    "volume": ("VL",), "issue": ("IS",), "pmcid": ("C2",), "key": ("ID",), "abstract": ("AB", "N2"),
}  # fmt: skip
_NBIB: Places = {
    "title": ("TI", "BTI", "TT"), "journal": ("JT", "TA"), "year": ("DP", "DEP"), "volume": ("VI",), "issue": ("IP",),
    "pmid": ("PMID",), "pmcid": ("PMC",), "key": ("PMID",), "abstract": ("AB",),
}  # fmt: skip


class Fields(dict[str, list[str]]):
    """The values of a record by tag."""

    def first(self, tag: str) -> str:
        return self.get(tag, [""])[0]


def _records(text: str, most: int, tagged: re.Pattern[str], first: str, last: str) -> Iterator[tuple[Fields, int]]:
    """Fields and line of each record, which ends at the tag `last` or before the next `first`. A line without a tag
    goes on with the value before it; an empty one, in a format without an end, ends the record."""
    fields = Fields()
    started, tag, count = 0, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        found = tagged.match(line)
        ends = (found and found[1] in (first, last)) or (not last and not line.strip())
        if ends and fields:
            yield fields, started
            count, fields = count + 1, Fields()
            refuse_too_many(count, most)
        if found and found[1] != last:
            tag, started = found[1], started if fields else number
            fields.setdefault(tag, []).append(found[2].strip())
        elif not found and fields and line.strip():
            fields[tag][-1] += f" {line.strip()}"
    if fields:
        yield fields, started


def _ris_doi(fields: Fields) -> str:
    """The DOI, which some write as an address, and EBSCO as a link (L3)."""
    addresses = (each for tag in ("UR", "L2") for each in fields.get(tag, []) if "doi.org/10." in each)
    other = fields.first("L3") if fields.first("L3").startswith("10.") else ""
    return fields.first("DO").partition("  ")[0] or other or next(addresses, "")


def _ris(fields: Fields, line: int) -> CitedWork:
    start, end = fields.first("SP"), fields.first("EP")
    number = fields.first("C7") if _ARTICLE_NUMBER.fullmatch(fields.first("C7")) else ""
    noted = _PMID.search(" ".join(each for tag in ("N1", "AN", "C7") for each in fields.get(tag, [])))
    central = _CENTRAL_PMID.search(" ".join(fields.get("C3", [])))
    of_pubmed = "pubmed" in (fields.first("DB") or fields.first("DP")).casefold()
    of_embase = not {"Embase", "Medline"}.isdisjoint(fields.get("DB", ()))
    return work(
        **chosen(_RIS, fields.first),
        authors=[*fields.get("AU", []), *fields.get("A1", [])],
        pages=f"{start}-{end}" if start and end and "-" not in start else start or number,
        doi=_ris_doi(fields),
        pmid=(of_pubmed and fields.first("AN"))
        or (of_embase and fields.first("C5"))
        or (noted[1] if noted else central[1] if central else ""),
        kind="article" if fields.first("TY") in _RIS_ARTICLES else "other",
        line=line,
        keywords=fields.get("KW"),
    )


def _nbib(fields: Fields, line: int) -> CitedWork:
    ids = {
        kind: each for each, _, kind in (each.rpartition("[") for tag in ("LID", "AID") for each in fields.get(tag, []))
    }
    pii = ids.get("pii]", "").strip()
    return work(
        **chosen(_NBIB, fields.first),
        authors=fields.get("FAU") or fields.get("AU") or fields.get("CN", []),
        pages=fields.first("PG") or (pii if re.fullmatch(r"e?\d{3,9}", pii) else ""),
        doi=ids.get("doi]", ""),
        kind="preprint" if "Preprint" in fields.get("PT", []) else "article",
        line=line,
        keywords=[*fields.get("MH", []), *fields.get("OT", [])],
    )


Format = Literal["bibtex", "ris", "nbib", "csl-json", "text"]
LARGEST = 4_000_000  # characters
READERS: dict[Format, Callable[[str, int], list[CitedWork]]] = {
    "bibtex": read_bibtex,
    "ris": lambda text, most: list(starmap(_ris, _records(text, most, _RIS_LINE, "TY", "ER"))),
    "nbib": lambda text, most: list(starmap(_nbib, _records(text, most, _NBIB_LINE, "PMID", ""))),
    "csl-json": read_csl,
    "text": lambda text, _most: read_plain(text),
}
FORMATS: tuple[Format, ...] = tuple(READERS)
_SIGNS: tuple[tuple[Format, re.Pattern[str]], ...] = (
    ("csl-json", re.compile(r"\s*[\[{]\s*[\[{\"]")),
    ("ris", re.compile(r"(?:^|\n)\s*TY  ?- {0,2}[A-Z]{3,}")),
    ("nbib", re.compile(r"(?:^|\n)PMID- *\d+|(?:^|\n)TI  - .*(?:\n.*){0,400}\n(?:AU|FAU|TA|JT) *- ")),
    ("bibtex", re.compile(r"(?:^|\n)\s*@\s*[A-Za-z]+\s*[{(]\s*[^\s,{}]*\s*,")),
)


def format_of(text: str) -> Format:
    """The format that the text shows; plain text for anything that shows none."""
    head = text[:200_000]
    return next(
        (name for name, sign in _SIGNS if (sign.match(head) if name == "csl-json" else sign.search(head))), "text"
    )


def read_references(text: str, form: Format | None = None) -> list[CitedWork]:
    """The references of a text, without what states nothing. Raises `InvalidInput` for one that is too large, that has
    none, or that is not of the `form` that is named."""
    if len(text) > LARGEST:
        raise InvalidInput(f"more than {LARGEST:,} characters; split the file")
    works = [each for each in READERS[form or format_of(text)](text.lstrip("\ufeff"), MOST) if not each.is_empty]
    if not works:
        raise InvalidInput(
            f"no references found; give {', '.join(FORMATS[:-1])}, or plain text with one reference a line"
        )
    return works


def decoded(content: bytes) -> str:
    """The text: UTF-16 by its mark, UTF-8, or else Windows' western code page."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")
