"""Estimates of a ratio with their 95 % confidence intervals, as abstracts print them."""

import re
from dataclasses import dataclass

_NUMBER = r"\d+(?:\.\d+)?"
_FOLDED = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | dict.fromkeys("·∙⋅", "."))
_MEASURES = {"or": "odds ratio", "rr": "relative risk", "hr": "hazard ratio", "irr": "rate ratio"}
_ESTIMATE = re.compile(
    rf"""\b(?P<measure>(?:odds|hazard|risk|rate)\s+ratios?|relative\s+risks?|a?OR|a?RR|a?HR|IRR)\b
         (?:\s*\[(?:OR|RR|HR)\]|\s*\((?:OR|RR|HR)\))? [\s,:=]* (?:of\s+|was\s+)? (?P<value>{_NUMBER}) [\s,;(\[]*
         (?:95\s?%\s?)? (?:CI|confidence\s+intervals?)? (?:\s*\[(?:95\s?%\s?)?CI\])? [\s,:=(\[]*
         (?P<low>{_NUMBER}) (?:\s*-\s*|\s+to\s+|\s*,\s*) (?P<high>{_NUMBER})""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio with its interval, `low` to `high`; `measure` is what kind of ratio it is."""

    measure: str
    value: float
    low: float
    high: float

    def excludes(self, other: "Estimate") -> bool:
        """Whether both are of one kind and their intervals do not meet."""
        return self.measure == other.measure and (self.high < other.low or other.high < self.low)

    def __str__(self) -> str:
        return f"{self.measure} {self.value:g} ({self.low:g} to {self.high:g})"


def estimates(text: str) -> list[Estimate]:
    """The estimates of a text whose value lies within its interval."""
    found = [_estimate(match) for match in _ESTIMATE.finditer(text.translate(_FOLDED))]
    return [each for each in found if 0 < each.low <= each.value <= each.high]


def _estimate(match: re.Match[str]) -> Estimate:
    words = " ".join(match["measure"].lower().split()).removesuffix("s")
    short = words.removeprefix("a") if len(words) < 4 else words
    measure = _MEASURES.get(short, "relative risk" if short == "risk ratio" else short)
    return Estimate(measure, float(match["value"]), float(match["low"]), float(match["high"]))
