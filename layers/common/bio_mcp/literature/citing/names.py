"""People and groups as the styles write them."""

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
    """Those whom the record names, without the misspelt entries that NLM replaced (`valid`)."""
    listed = list(authors)
    found = tuple(filter(None, map(_name, [author for author in listed if author.valid] or listed)))
    shouted = all(name.family.isupper() or name.literal for name in found)
    return tuple(replace(name, family=_lowered(name.family)) for name in found) if shouted else found


def inverted(name: Name) -> str:
    """`Tranebjærg, Lisbeth M., Jr.`, as MLA begins and RIS lists."""
    return name.literal or ", ".join(filter(None, (name.family, name.given, name.suffix)))


def straight(name: Name) -> str:
    """`Lisbeth M. Tranebjærg Jr.`"""
    return name.literal or " ".join(filter(None, (name.given, name.family, name.suffix)))


def apa(name: Name) -> str:
    """`Tranebjærg, L. M., Jr.`"""
    return name.literal or ", ".join(filter(None, (name.family, pointed(name), name.suffix)))


def apa_straight(name: Name) -> str:
    """`L. M. Tranebjærg Jr.`, as APA names editors."""
    return name.literal or " ".join(filter(None, (pointed(name), name.family, name.suffix)))


def nlm(name: Name) -> str:
    """`Tranebjærg LM Jr`; ranks are 2nd and 3rd."""
    suffix = _ORDINAL.get(name.suffix, name.suffix.rstrip("."))
    return name.literal or " ".join(filter(None, (name.family, name.initials, suffix)))


def pointed(name: Name) -> str:
    """Initials with points, hyphens kept where both parts are capitals: `J.-P.`, but `J.` for Jin-woo.

    Lower-case particles inside a given name stay words (`M. de L.`). Scripts without capitals are written in full.
    """
    return " ".join(filter(None, map(_pointed, name.given.split())))


def _pointed(word: str) -> str:
    if word.islower() and len(word) > 1:
        return word
    parts = [part for part in word.split("-") if part]
    initials = [_initial(part) for i, part in enumerate(parts) if i == 0 or part[0].isupper()]
    return "-".join(initials)


def _initial(part: str) -> str:
    letters = part.lstrip("'’‘.(")
    if not letters:
        return ""
    if letters[0].upper() == letters[0].lower():
        return letters
    return f"{letters[0].upper()}."


def _lowered(family: str) -> str:
    """`PHILLIPS` -> `Phillips`: records typed before 1966 shout. Up to three letters may be a name's own form."""
    return family.title() if len(family) > 3 else family


def _name(author: Author) -> Name | None:
    if author.collective_name and not author.last_name:
        return Name(literal=author.collective_name.rstrip(" .;,"))
    if not author.last_name:
        return Name(literal=author.fore_name) if author.fore_name else None
    initials = author.initials or ""
    return Name(author.last_name, _given(author.fore_name, initials), initials, _suffix(author.suffix))


def _given(fore_name: str | None, initials: str) -> str:
    """The fore names, single capitals with their points; initials alone come apart (`JQ` -> `J. Q.`)."""
    text = fore_name or initials
    if text.isalpha() and text.isupper() and len(text) <= 4 and (not fore_name or fore_name == initials):
        text = " ".join(text)
    return _NAME_PART.sub(_with_point, text)


def _with_point(found: re.Match[str]) -> str:
    part = found[0]
    return f"{part}." if len(part) == 1 and part.isupper() else part


def _suffix(suffix: str | None) -> str:
    bare = (suffix or "").strip().rstrip(".")
    return _ROMAN.get(bare.lower()) or _ABBREVIATED.get(bare.lower()) or bare
