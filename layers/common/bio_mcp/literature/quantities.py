"""The quantities of a text: numbers with their sign, what they are compared by, and their unit.

Digits that are part of a name ("IL-6", "CD4", "5-HT") are no quantity. "1,000", "one thousand" and "1000" are equal,
so are "50 %" and "50 percent", "<5" and "less than 5", "two-fold" and "twice", "10 to 15 mg" and "10 mg to 15 mg".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

_WORDS = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety".split(),
        [*range(1, 21), *range(30, 91, 10)],
        strict=True,
    )
) | {"twice": 2, "double": 2, "doubled": 2, "triple": 3, "tripled": 3, "threefold": 3, "twofold": 2, "fourfold": 4}
_FOLD = frozenset(["twice", "double", "doubled", "triple", "tripled", "threefold", "twofold", "fourfold"])
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_FRACTION = r"half|halved|(?:a|one|two|three)[ -](?:third|quarter|fifth|tenth)s?"
_ONE_SPELLING = "pp pg mol mmol umol nmol mM uM nM nm um mm cm m km m2 cm2 mmHg IU U kcal kJ Gy Hz bpm kDa"
_UNITS = {
    "%": "percent",
    "kg": "kg kilogram kilograms",
    "g": "g gram grams",
    "mg": "mg milligram milligrams",
    "ug": "ug mcg microgram micrograms",
    "ng": "ng nanogram nanograms",
    "l": "L l liter liters litre litres",
    "dl": "dL dl",
    "ml": "mL ml milliliter milliliters millilitre millilitres",
    "ul": "uL ul",
    "s": "s sec second seconds",
    "min": "min mins minute minutes",
    "h": "h hr hrs hour hours",
    "day": "d day days",
    "week": "wk wks week weeks",
    "month": "mo month months",
    "year": "y yr yrs year years",
    "C": "°C",
    "fold": "fold times",
    "person-year": "person-years person-year patient-years patient-year",
} | {each: each for each in _ONE_SPELLING.split()}
_COUNTED = {
    "people": "patients participants subjects people persons individuals adults volunteers",
    "children": "children infants",
    "studies": "studies trials",
} | {each: each for each in "women men mice rats controls cases deaths".split()}
_CANONICAL = {"%": "%"} | {
    word: unit for units in (_UNITS, _COUNTED) for unit, words in units.items() for word in words.split()
}
_UNIT = "|".join(re.escape(each) for each in sorted(_CANONICAL, key=lambda each: (-len(each), each)))
_BELOW = r"less\s+than|fewer\s+than|lower\s+than|below|under|up\s+to|at\s+most|no\s+more\s+than|<=|<|≤"
_ABOVE = r"more\s+than|greater\s+than|higher\s+than|over|above|at\s+least|exceeding|exceeded|no\s+less\s+than|>=|>|≥"


_QUANTITY = rf"""(?xi)
    (?: (?P<below>{_BELOW}) \s* | (?P<above>{_ABOVE}) \s* )?
    (?: (?<![\w.)%-]) (?P<sign>-) | (?<![A-Za-z0-9_.]) (?<![A-Za-z]-) )
    (?: (?P<fraction>\b(?:{_FRACTION})\b)
      | (?P<digits> \d{{1,3}}(?:,\d{{3}})+(?:\.\d+)? | \d*\.\d+ | \d+ )
      | (?P<word>\b(?:{"|".join(_WORDS)}|{"|".join(_SCALES)})\b) (?!\s+of\s+(?:the|these|those|them|our)\b) )
    (?: [\s-]? (?P<scale>{"|".join(_SCALES)})\b )?
    (?: \s?-?\s? (?P<unit> (?: % | (?:{_UNIT})(?!\w) ) (?:\s?(?:/|per\s)\s?(?:{_UNIT})(?!\w))* ) )?
    """  # compiled on first use
_TENS = re.compile(
    rf"\b({'|'.join(each for each, n in _WORDS.items() if n >= 20)})-({'|'.join(list(_WORDS)[:9])})\b", re.IGNORECASE
)
_NAME = re.compile(r"-?[A-Za-z]")
_BETWEEN = re.compile(r"\s*(?:-|to|and|or|vs\.?|versus|±|\+/-|/)\s*\Z")
_FOLDED = (
    dict.fromkeys("‐‑‒–—―−﹣－", "-") | dict.fromkeys("·∙⋅", ".") | dict.fromkeys("µμ", "u")
    | dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f", " ")
    | {"²": "2", "％": "%", "＜": "<", "＞": ">"}
)  # fmt: skip
_FOLDS = re.compile(f"[{''.join(_FOLDED)}]")
_COUNTING = "|".join([*(each for each in _WORDS if each not in _FOLD), *_SCALES])
COUNT = rf"""(?:\d{{1,3}}(?:[, ]\d{{3}}){{1,3}}(?!\d)|\d{{1,9}}(?!\d)
    |(?:one[ -](?=hundred|thousand))?(?:{_COUNTING.removeprefix("one|")})\b
     (?:[ -](?:{_COUNTING})\b|(?:(?<=hundred)|(?<=thousand))[ ]and[ ](?:{_COUNTING})\b){{0,9}})"""
"""A whole number in digits, or in words in lower case, for a verbose pattern; `count` reads it. "one" begins none."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text. `value` is the number, or the word of a fraction ("half", "one third").

    `compare` is "<", ">" or "". `unit` is "" where there is none; `counted` is the kind of thing that is counted.
    `start` and `end` are its place in the folded text.
    """

    value: Decimal | str
    compare: str
    unit: str
    counted: str
    start: int
    end: int

    def equals(self, other: "Quantity") -> bool:
        """Whether both say the same; what is counted differs only where both name it."""
        mine, its = (self.value, self.compare, self.unit), (other.value, other.compare, other.unit)
        return mine == its and (self.counted == other.counted or not (self.counted and other.counted))


def folded(text: str) -> str:
    """The text with its signs, points and spaces written in one way, a character for a character: offsets stay."""
    return _FOLDS.sub(lambda sign: _FOLDED[sign[0]], text)


@lru_cache(4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of `text`, in its order."""
    plain = folded(text).replace("per cent", "percent").replace("mm Hg", "mmHg")
    plain = _TENS.sub(lambda word: f"{_WORDS[word[1].lower()] + _WORDS[word[2].lower()]}", plain)
    found = [
        _quantity(match)
        for match in re.finditer(_QUANTITY, plain)
        if match["unit"] or not (match["digits"] and _NAME.match(plain, match.end()))
    ]
    return tuple(_with_units_of_ranges(plain, found))


def count(text: str) -> int:
    """What a `COUNT` says: "1,645", "55 528", "Twenty-three", "one hundred and five"."""
    if text[0].isdigit():
        return int(re.sub("[, ]", "", text))
    total = part = 0
    for word in re.split("[ -]", text.lower()):
        if word == "hundred":
            part = (part or 1) * 100
        elif word in _SCALES:
            total, part = total + (part or 1) * _SCALES[word], 0
        else:
            part += _WORDS.get(word, 0)
    return total + part


def unmatched(sentence: str, sources: Iterable[str]) -> list[Quantity]:
    """The quantities of `sentence` that none of `sources` has."""
    known = [each for source in sources for each in quantities(source)]
    return [each for each in quantities(sentence) if not any(each.equals(other) for other in known)]


def _quantity(match: re.Match[str]) -> Quantity:
    unit, counted = _unit(match["unit"] or "")
    if match["word"] and match["word"].lower() in _FOLD:
        unit = "fold"
    compare = "<" if match["below"] else ">" if match["above"] else ""
    return Quantity(_value(match), compare, unit, counted, match.start(), match.end())


def _value(match: re.Match[str]) -> Decimal | str:
    if match["fraction"]:
        return match["fraction"].lower().replace("halved", "half").replace("-", " ").replace("a ", "one ").rstrip("s")
    word = (match["word"] or "").lower()
    number = (
        Decimal(match["digits"].replace(",", "")) if match["digits"] else Decimal(_WORDS.get(word) or _SCALES[word])
    )
    scaled = number * _SCALES[match["scale"].lower()] if match["scale"] else number
    return (-scaled if match["sign"] else scaled).normalize()


def _unit(text: str) -> tuple[str, str]:
    """The unit, and what is counted, in one form each."""
    parts = [each.strip() for each in re.split(r"/|\bper\b", text) if each.strip()]
    names = [_CANONICAL.get(each) or _CANONICAL.get(each.lower(), each) for each in parts]
    if names and names[0] in _COUNTED:
        return "/".join(names[1:]), names[0]
    return "/".join(names), ""


def _with_units_of_ranges(text: str, found: list[Quantity]) -> list[Quantity]:
    """Gives "10" of "10 to 15 mg" the unit of what follows it."""
    for at in range(len(found) - 2, -1, -1):
        one, following = found[at], found[at + 1]
        if not (one.unit or one.counted) and _BETWEEN.match(text[one.end : following.start]):
            found[at] = replace(one, unit=following.unit, counted=following.counted)
    return found
