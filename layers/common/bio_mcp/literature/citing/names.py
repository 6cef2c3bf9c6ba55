"""Names of people and groups as each citation style writes them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bio_mcp.literature.records import Author

# NLM writes the ranks as ordinals; APA and MLA as Roman numerals.
_ROMAN = {"1st": "I", "2nd": "II", "3rd": "III", "4th": "IV", "5th": "V", "6th": "VI"}
_ORDINAL = {roman: ordinal for ordinal, roman in _ROMAN.items()}
_ABBREVIATED = {"jr": "Jr.", "sr": "Sr."}
_NAME_PART = re.compile(r"[^\s-]+")


@dataclass(frozen=True, slots=True)
class Name:
    """A person (`family`, `given`, `initials` without points, `suffix` as "Jr." or "III") or a group (`literal`)."""

    family: str = ""
    given: str = ""
    initials: str = ""
    suffix: str = ""
    literal: str = ""


def names(authors: Iterable[Author]) -> tuple[Name, ...]:
    """Convert the record's authors, without the misspelt entries that NLM replaced (`valid` False).

    When every family name is in capitals, as in records typed before 1966, all are set in normal case.
    """
    listed = list(authors)
    people = tuple(filter(None, map(_name, [author for author in listed if author.valid] or listed)))
    capitals = all(name.family.isupper() or name.literal for name in people)
    return tuple(replace(name, family=_normal_case(name.family)) for name in people) if capitals else people


def inverted(name: Name) -> str:
    """`Tranebjærg, Lisbeth M., Jr.`: MLA's first author and RIS's form."""
    return name.literal or ", ".join(filter(None, (name.family, name.given, name.suffix)))


def straight(name: Name) -> str:
    """`Lisbeth M. Tranebjærg Jr.`: MLA's further authors."""
    return name.literal or " ".join(filter(None, (name.given, name.family, name.suffix)))


def apa(name: Name) -> str:
    """`Tranebjærg, L. M., Jr.`: APA's authors."""
    return name.literal or ", ".join(filter(None, (name.family, pointed(name), name.suffix)))


def apa_straight(name: Name) -> str:
    """`L. M. Tranebjærg Jr.`: APA's editors."""
    return name.literal or " ".join(filter(None, (pointed(name), name.family, name.suffix)))


def nlm(name: Name) -> str:
    """`Tranebjærg LM Jr`, with ranks as 2nd and 3rd: NLM's and Vancouver's form."""
    suffix = _ORDINAL.get(name.suffix, name.suffix.rstrip("."))
    return name.literal or " ".join(filter(None, (name.family, name.initials, suffix)))


def pointed(name: Name) -> str:
    """Initials with points: `J.-P.` for Jean-Pierre, but `J.` for Jin-woo, whose second part is lower case.

    Lower-case particles inside a given name stay words (`M. de L.`). Scripts without capitals are written in full.
    """
    return " ".join(filter(None, map(_pointed, name.given.split())))


def _pointed(word: str) -> str:
    """One given name as initials; a particle in lower case stays a word."""
    if word.islower() and len(word) > 1:
        return word
    parts = [part for part in word.split("-") if part]
    initials = [_initial(part) for i, part in enumerate(parts) if i == 0 or part[0].isupper()]
    return "-".join(initials)


def _initial(part: str) -> str:
    """The first letter with a point; a script without capitals stays whole, since its first character is no initial."""
    letters = part.lstrip("'’‘.(")
    if not letters:
        return ""
    if letters[0].upper() == letters[0].lower():
        return letters
    return f"{letters[0].upper()}."


def _normal_case(family: str) -> str:
    """`PHILLIPS` -> `Phillips`. Up to three letters stay, since they may be the name's own form."""
    return family.title() if len(family) > 3 else family


def _name(author: Author) -> Name | None:
    """The name of an author; a group has a literal name, and so has a person without a family name."""
    if author.collective_name and not author.last_name:
        return Name(literal=author.collective_name.rstrip(" .;,"))
    if not author.last_name:
        return Name(literal=author.fore_name) if author.fore_name else None
    initials = author.initials or ""
    return Name(author.last_name, _given(author.fore_name, initials), initials, _suffix(author.suffix))


def _given(fore_name: str | None, initials: str) -> str:
    """The given names, single capitals with points; run-together initials are separated (`JQ` -> `J. Q.`)."""
    text = fore_name or initials
    if text.isalpha() and text.isupper() and len(text) <= 4 and (not fore_name or fore_name == initials):
        text = " ".join(text)
    return _NAME_PART.sub(_with_point, text)


def _with_point(match: re.Match[str]) -> str:
    part = match[0]
    return f"{part}." if len(part) == 1 and part.isupper() else part


def _suffix(suffix: str | None) -> str:
    bare = (suffix or "").strip().rstrip(".")
    return _ROMAN.get(bare.lower()) or _ABBREVIATED.get(bare.lower()) or bare
