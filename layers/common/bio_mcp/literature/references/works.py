"""A reference as somebody wrote it, its words, and the identifiers in it."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import doi, normal, parse_pmid, pmcid, year_in

Kind = Literal["article", "preprint", "other"]
LONGEST = 4_000  # characters of one field; a reference that is longer is cut
LONGEST_ABSTRACT = 20_000
MOST = 2_000  # references of one file


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A reference. "" for what it does not state; ids are in their normal form.

    `authors` are as written, a person each. `etal`: there are more. `kind` other: a book, a web page, a data set and
    what else PubMed rarely has. `text` is the reference in one line where it was plain text; then the fields are
    guesses. `key` is its key or number in the list, `line` its first line in the file, from 1. Abstract and keywords
    are those of a database's export.
    """

    title: str = ""
    authors: tuple[str, ...] = ()
    journal: str = ""
    year: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    doi: str = ""
    pmid: str = ""
    pmcid: str = ""
    kind: Kind = "article"
    etal: bool = False
    text: str = ""
    key: str = ""
    line: int = 0
    abstract: str = ""
    keywords: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not any((self.title, self.journal, self.doi, self.pmid, self.pmcid, *self.authors))

    @property
    def shown(self) -> str:
        """The reference in one line, for people."""
        if self.text:
            return self.text
        who = f"{self.authors[0]}{' et al' if len(self.authors) > 1 else ''}" if self.authors else ""
        where = " ".join(filter(None, (self.journal, self.year)))
        ids = self.pmid and f"PMID {self.pmid}"
        return (
            ". ".join(filter(None, (who, self.title.rstrip("."), where))) or self.doi or ids or self.pmcid or self.key
        )


def work(**stated: object) -> CitedWork:
    """The reference with its fields in one line each, bounded, and ids in their normal form; others are dropped."""
    found = {name: _line(value) if isinstance(value, str) else value for name, value in stated.items()}
    for name in ("authors", "keywords"):
        found[name] = tuple(filter(None, (_line(str(each)) for each in stated.get(name) or ())))[:500]  # type: ignore[attr-defined]
    found["abstract"] = " ".join(str(stated.get("abstract") or "")[: 2 * LONGEST_ABSTRACT].split())[:LONGEST_ABSTRACT]
    for name in ("title", "journal"):
        found[name] = text if re.search(r"[^\W\d_]{2}", text := str(found.get(name) or "")) else ""
    found["year"] = year_in(str(stated.get("year") or ""))
    for name, read in (("doi", doi), ("pmid", parse_pmid), ("pmcid", pmcid)):
        found[name] = normal(read, stated.get(name)) or ""
    known = {each.name for each in fields(CitedWork)}
    return CitedWork(**{name: value for name, value in found.items() if name in known})  # type: ignore[arg-type]


def refuse_too_many(count: int, most: int = MOST) -> None:
    if count > most:
        raise InvalidInput(f"more than {most:,} references in one file; split it")


def _line(text: str) -> str:
    return " ".join(text[: 4 * LONGEST].split())[:LONGEST]


_DOI = re.compile(
    r"(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/|\bdoi[:\s]\s*)*(10\.\d{4,9}(?:\.\d+)*/[^\s\"<>]+)", re.IGNORECASE
)
_PMID = re.compile(
    r"(?:\bPMID\b:?\s*|(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/)(\d{1,9})\b/?",
    re.IGNORECASE,
)
_PMCID = re.compile(
    r"(?:\bPMCID\b:?\s*|(?:https?://)?(?:www\.)?(?:pmc\.)?ncbi\.nlm\.nih\.gov/(?:pmc/)?articles/)?\b(PMC\d{1,9})\b/?",
    re.IGNORECASE,
)
_URL = re.compile(r"<?https?://[^\s<>]+>?", re.IGNORECASE)
_TRAILING = ".,;:'’”\"*"


def ids_in(text: str) -> tuple[str, str, str, str]:
    """The first DOI, PMID and PMCID in `text`, and the text without ids and addresses. Points and brackets after a DOI
    that belong to the sentence are left out of it."""
    found = []
    for pattern in (_DOI, _PMID, _PMCID):
        match = pattern.search(text)
        found.append(match[1] if match else "")
        text = pattern.sub(" ", text) if match else text
    doi = found[0].rstrip(_TRAILING)
    for opened, closed in ("()", "[]", "{}"):
        while doi.endswith(closed) and doi.count(closed) > doi.count(opened):
            doi = doi[:-1].rstrip(_TRAILING)
    return doi, found[1], found[2], _URL.sub(" ", text)


_WORD = re.compile(r"[^\W_]+")
_PLAIN = str.maketrans(
    {"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ı": "i", "þ": "th", "ð": "d"}
    | {letter: f" {unicodedata.name(letter).split()[-1].lower()} " for letter in "αβγδεζηθικλμνξοπρςστυφχψωϵϕ"}
)
SMALL = frozenset(
    "a an the of in on for and or to with by at from as is are its their into via der die das und".split()
)
_LONG = 5  # letters from which on one may be mistyped


def folded(text: str) -> str:
    """Lower case, without accents; Greek letters by name, raised and lowered figures as figures."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_PLAIN)).casefold()
    return plain if plain.isascii() else "".join(each for each in plain if not unicodedata.combining(each))


@lru_cache(maxsize=2_048)  # a title is compared with many
def words_of(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(folded(text)))


_UMLAUT = re.compile("([aou])e+")


@lru_cache(maxsize=8_192)
def plain(word: str) -> str:
    """A folded word with a, o and u for ae, oe and ue, as `Früh` and `Frueh` are one name."""
    return _UMLAUT.sub(r"\1", word) if "e" in word else word


def alike(one: str, other: str) -> bool:
    """Whether two words are equal, but for the spelling of umlauts, and a letter more, less or other in a long one."""
    if one == other or plain(one) == plain(other):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _LONG or len(long) - len(short) > 1 or any(each.isdigit() for each in one + other):
        return False
    at = next((place for place, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[at:] == long[at + 1 :] or short[at + 1 :] == long[at + 1 :]


def aligned(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield what differs between two lists of words, pair by pair; nothing for lists that say the same.

    Words parted otherwise (`micro RNA`) and words with a typing error are equal.
    """
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        left, right = ours[a:b], theirs[c:d]
        if kind == "equal" or "".join(left) == "".join(right):
            continue
        if len(left) != len(right) or not all(map(alike, left, right)):
            yield left, right
