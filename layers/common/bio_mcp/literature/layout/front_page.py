"""What a paper prints of itself on its first page and where it says how to cite it: authors, year and journal."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bio_mcp.literature.citing.works import Name, nlm_name
from bio_mcp.literature.references.plain import parse_citation
from bio_mcp.literature.references.works import CitedWork


@dataclass(frozen=True, slots=True)
class Imprint:
    """`authors` as "Doe J", in order; nothing where the paper does not say."""

    authors: tuple[str, ...] = ()
    year: int | None = None
    journal: str | None = None


LONGEST = 2_000  # characters of a line or citation that is looked at
_CITE = re.compile(
    r"(?:citation|how to cite.{0,30}?|(?:to )?cite this .{0,30}?|cite (?:as|this))\s*:\s*", re.IGNORECASE
)
_YEAR = r"(?:19|20)\d\d"
_WHO = r"(?:[^\d,;|]{2,40} et al\.?[:,]?\s+)?"
_JOURNAL = r"(?P<journal>[^\W\d_][^\d();|/]{2,90}?)"
_LINES = tuple(  # of a journal, a year and a volume, as headers and files' own descriptions have them
    re.compile(each)
    for each in (
        rf"{_WHO}{_JOURNAL}[.,]?\s+\((?P<year>{_YEAR})\)\s*(?:vol(?:ume|\.)\s*)?\d{{1,4}}\b",
        rf"{_WHO}{_JOURNAL}[.,]?\s+(?P<year>{_YEAR})\s?[;,.:]\s?(?:vol(?:ume|\.)\s*)?\d{{1,4}}\b",
        rf"{_WHO}{_JOURNAL}[.,]?\s+(?:vol(?:ume|\.)\s*)?\d{{1,4}}[\s,:\d()–-]{{0,20}}\((?P<year>{_YEAR})\)",
        rf"{_JOURNAL}, (?P<year>{_YEAR}), doi:",
    )
)
_DATED = tuple(
    re.compile(each, re.IGNORECASE)
    for each in (
        rf"(?:©|\(c\)|copyright)\s*(?:the authors?.{{0,20}}?,?\s*)?(?P<year>{_YEAR})\b",
        rf"©.{{0,60}}?\b(?P<year>{_YEAR})\b",
        rf"published(?: online)?:?\s.{{0,20}}?\b(?P<year>{_YEAR})\b",
        rf"accepted:?\s.{{0,20}}?\b(?P<year>{_YEAR})\b",
    )
)
_FIRST = re.compile(r"(?:©\s*(?:\d{4}\s*)?)?(?P<family>[^\W\d_][^\d,;|©]{1,40}?) et al\b")


def imprint(
    title: str,
    below: Sequence[str],
    beside: Sequence[str],
    citations: Sequence[str],
    metadata: Mapping[str, str],
) -> Imprint:
    """Read the imprint of the paper with this title.

    `below` are the lines of the title page under the title, `beside` those of the first pages that are no text, such as
    headers and licences, `citations` paragraphs that have the title, `metadata` what the file says of itself.
    """
    cited = [parse_citation(_CITE.sub("", each[:LONGEST], count=1)) for each in citations]
    cited = [each for each in cited if each.authors]
    lines = [each[:LONGEST].strip() for each in (*beside, *below)]
    subject = metadata.get("Subject", "")[:LONGEST]
    printed = [found for line in (*lines, subject) for each in _LINES if (found := each.match(line))]
    dated = [found for each in _DATED for line in lines if (found := each.search(line))]
    years = (each for each in (*(each.year for each in cited), *(each["year"] for each in (*printed, *dated))) if each)
    journals = (*(each.journal for each in cited), *(each["journal"].strip() for each in printed))
    return Imprint(
        authors=_cited(cited) or tuple(authors_in(below, _first(lines))) or _stated(metadata, below),
        year=next(map(int, years), None),
        journal=next((each for each in journals if each and title[:40] not in each), None),
    )


def _cited(works: Sequence[CitedWork]) -> tuple[str, ...]:
    """The authors of the first citation that has all of them."""
    return next((tuple(filter(None, map(_turned, each.authors))) for each in works if not each.etal), ())


def _first(lines: Sequence[str]) -> str:
    """The family name of the first author, where a line has it before "et al"; "" where none has."""
    return next((found["family"] for line in lines if (found := _FIRST.match(line))), "")


def _stated(metadata: Mapping[str, str], below: Sequence[str]) -> tuple[str, ...]:
    """The authors that the file names, if they are printed: many name who made the file, or a program."""
    stated = metadata.get("Author", "")[:LONGEST]
    letters = re.sub(r"\W", "", " ".join(below).casefold())
    found = authors_in([stated]) if stated else []
    return tuple(found) if found and re.sub(r"\W", "", stated.casefold()) in letters else ()


_MARKS = "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲ*∗†‡§¶#✉⁺"
_MARKED = re.compile(rf"\s*[{_MARKS}][{_MARKS},\s]*")
_PARTED = re.compile(
    r"\s*[;,·•|]\s*(?:(?:and|und|et|y|&)\s+)?|\s+(?:and|und|et|y|&)\s+|^(?:and|und|&|by)\s+", re.IGNORECASE
)
_DEGREE = re.compile(
    r"(?:M\.?D|Ph\.?\s?D|[MB]\.?Sc|[MBD]\.?P\.?H|MBBS|MBChB|MRCP|FRCP\w{0,4}|FACC|RN|BSN|MSN|Pharm\.?D|D\.?D\.?S|Dr|"
    r"Prof(?:essor)?|[MB]\.?[AS]|D\.?O|Dr\.?PH|Sc\.?D|M\.?H\.?S|MBA|D\.?Phil|DVM|MMed|Jr|Sr|I{2,3}|student member)\.?",
    re.IGNORECASE,
)
_PARTICLES = frozenset(
    "de del della der den des di da das dos du van von vander la le los las el al bin ibn ten ter te zu zur af av st. "
    "mac mc abu ben y e".split()
)
_WORD = re.compile(r"[^\W\d_]+(?:[’'`.-]+[^\W\d_]+)*\.?")
_NO_NAME = re.compile(
    r"universi|department|institut|hospital|school|college|faculty|center|centre|laborator|division|clinic|inc\b|ltd|"
    r"gmbh|group|consortium|abstract|received|accepted|published|correspond|e-?mail|@|https?:|doi|research|article|"
    r"review|open access|journal|vol(?:ume)?\b|keywords|copyright|background|objective|medicine|sciences?\b",
    re.IGNORECASE,
)
_MOST_LINES, _MOST_AUTHORS = 12, 200


def authors_in(lines: Sequence[str], first: str = "") -> list[str]:
    """The authors whom the lines below a title begin with, as "Doe J"; none where they begin with something else.

    `first` is the family name of the first, where it is known.
    """
    found: list[str] = []
    begun = ""  # a name that goes on in the next line
    for line in lines[:_MOST_LINES]:
        if _NO_NAME.search(line) or (found and (line[:1].isdigit() or _MARKED.match(line))):
            break
        text = f"{begun} {line[:LONGEST]}".strip()
        parts = [each for each in _PARTED.split(_MARKED.sub(";", text)) if each and each.strip(" .")]
        named = [(each, _person(each, first if not found else "")) for each in parts if not _DEGREE.fullmatch(each)]
        begun = named.pop()[0] if named and not named[-1][1] else ""
        if not all(name for _, name in named) or not (named or begun):
            break
        found += [name for _, name in named]
    return found[:_MOST_AUTHORS]


def _person(text: str, family: str = "") -> str:
    """A printed name, given names first, as "Doe J"; "" for what is no name."""
    words = text.split()
    if not 2 <= len(words) <= 6 or len(text) > 60 or not all(_WORD.fullmatch(each) for each in words):
        return ""
    if not all(each[0].isupper() or each.casefold() in _PARTICLES for each in words) or not words[0][0].isupper():
        return ""
    if text.isupper():
        words = [each if len(each.strip(".")) == 1 else each.title() for each in words]
    count = len(family.split())
    if not (0 < count < len(words)) or " ".join(words[-count:]).casefold() != family.casefold():
        count = 1
        while count < len(words) - 1 and words[-count - 1].casefold() in _PARTICLES:
            count += 1
    given, last = words[:-count], " ".join(words[-count:])
    return nlm_name(Name(last, initials=_initials(given))) if len(last.strip(".")) > 1 else ""


def _turned(name: str) -> str:
    """A name of a citation, "Doe, Jane", "Doe, J. P." or "Doe JP", as "Doe JP"."""
    family, comma, given = name.partition(",")
    return nlm_name(Name(family.strip(), initials=_initials(given.split()))) if comma else name.strip()


def _initials(given: Iterable[str]) -> str:
    parts = (part for each in given for part in re.split(r"[.’'-]", each) if part)
    return "".join(_capitals(parts))


def _capitals(parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        yield part if part.isupper() and len(part) <= 3 else part[0] if part[0].isupper() else ""
