"""Abbreviations that papers define: "acute kidney injury (AKI)", found by the algorithm of Schwartz and Hearst (2003,
https://doi.org/10.1142/9789812776303_0042), counted over a corpus, and added to what a question asks for."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bio_mcp.retrieval.analysis import query_terms

WEIGHT = 0.5  # of the other form's terms beside a term of the question, where it has one meaning alone
MOST_MEANINGS = 3  # of a short form that are looked up, its usual ones ...
LEAST_SHARE = 0.1  # ... each of which is meant by so many of the papers that define it
EXTRA_TERMS = 16  # added to a question, at most
_LONGEST = 10  # characters of a short form
_NAME = 8  # terms of a long form

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


Name = tuple[str, ...]


class Abbreviations:
    """Short forms and what each stands for: `counts` has, by short form and long form, in how many texts it is defined.

    Long forms of the same analysed words are one.
    """

    def __init__(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        self.counts = counts
        self._others: dict[Name, dict[Name, float]] = defaultdict(dict)
        for short, meanings in counts.items():
            total = sum(meanings.values())
            for long, count in sorted(meanings.items(), key=lambda each: -each[1])[:MOST_MEANINGS]:
                if count >= LEAST_SHARE * total:
                    names = _name(short), _name(long)
                    for one, other in (names, names[::-1]):
                        self._others[one][other] = max(self._others[one].get(other, 0.0), WEIGHT * count / total)

    @staticmethod
    def learned(texts: Iterable[str]) -> "Abbreviations":
        """The abbreviations that these texts define, each counted once a text."""
        written: dict[str, dict[Name, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for text in texts:
            for (short, name), long in {(short, _name(long)): long for short, long in definitions(text)}.items():
                if len(name) <= _NAME:
                    written[short][name][long] += 1
        return Abbreviations(
            {
                short: {forms.most_common(1)[0][0]: forms.total() for forms in names.values()}
                for short, names in written.items()
            }
        )

    def expansion(self, terms: Sequence[str]) -> list[tuple[str, float]]:
        """Terms of the other forms of the names in a question's `terms`, for `query_terms`.

        Each has `WEIGHT` times the share of papers that mean it. The longest name at each position counts.
        """
        extra: dict[str, float] = {}
        given, position = set(terms), 0
        while position < len(terms) and len(extra) < EXTRA_TERMS:
            names = (tuple(terms[position : position + length]) for length in range(_NAME, 0, -1))
            name = next((each for each in names if each in self._others), ())
            for other, weight in self._others[name].items() if name else ():
                for term in other:
                    if term not in given:
                        extra[term] = max(extra.get(term, 0.0), weight)
            position += len(name) or 1
        return list(extra.items())[:EXTRA_TERMS]


def _name(written: str) -> Name:
    return tuple(term for term, _ in query_terms(written))
