"""Abbreviations that papers define: "acute kidney injury (AKI)", found by the algorithm of Schwartz and Hearst (2003,
https://doi.org/10.1142/9789812776303_0042)."""

import re
from collections.abc import Iterator

from bio_mcp.retrieval.analysis import query_terms

_LONGEST = 10  # characters of a short form
LONG_FORM = 8  # terms of one, at most

_BRACKETED = re.compile(r"\(([^()]{2,200})\)")
_SHORT = re.compile(r"(?=.*[^\W\d_])[^\W_][\w./+'’-]*(?: [\w./+'’-]+)?")
_BEFORE = 600  # characters before a bracket that are read
_LAST_WORD = re.compile(r"(\S+)\s*$")


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """Yield (short, long) of each abbreviation that the text defines: "long form (SHORT)", or "SHORT (long form)"."""
    for bracket in _BRACKETED.finditer(text):
        inner = re.split("[;,] ", bracket[1], maxsplit=1)[0].strip()
        before = text[max(0, bracket.start() - _BEFORE) : bracket.start()]
        if _is_short(inner):
            words = before.split()
            most = min(len(inner) + 5, 2 * len(inner))
            short, long = inner, _long_form(inner, " ".join(words[-most:]))
        else:
            last = _LAST_WORD.search(before)
            short = last[1] if last else ""
            long = _long_form(short, inner) if _is_short(short) else ""
        if long:
            yield re.sub(r"(?<=[A-Z])s$", "", short), long


def _is_short(text: str) -> bool:
    return 2 <= len(text) <= _LONGEST and _SHORT.fullmatch(text) is not None


def _long_form(short: str, text: str) -> str:
    """The shortest end of `text` whose letters have those of `short` in their order, the first one beginning a word;
    "" if there is none."""
    at = len(text)
    for place in range(len(short) - 1, -1, -1):
        letter = short[place].lower()
        if not letter.isalnum():
            continue
        at -= 1
        while at >= 0 and (text[at].lower() != letter or (place == 0 and at > 0 and text[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return ""
    long = text[text.rfind(" ", 0, at) + 1 :]
    words = re.split(r"[\s‐‑‒–—-]+", long)
    fits = len(words) <= min(len(short) + 5, 2 * len(short)) and len(long) > len(short)
    whole = long[0] not in "([" and all(long.count(one) == long.count(other) for one, other in ("()", "[]"))
    return long.strip("\"'“”") if fits and whole and short not in long.split() else ""


def defined_names(text: str) -> tuple[tuple[str, str], ...]:
    """Each (short, long) that the text defines, once, as analysed terms with spaces between."""
    found = ((_name(short), _name(long)) for short, long in definitions(text))
    return tuple(dict.fromkeys((" ".join(one), " ".join(other)) for one, other in found if len(other) <= LONG_FORM))


def _name(written: str) -> tuple[str, ...]:
    return tuple(term for term, _ in query_terms(written))
