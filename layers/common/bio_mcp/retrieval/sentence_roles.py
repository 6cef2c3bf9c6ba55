"""What a sentence of an abstract is: background, method, result or conclusion; by the section's label or, without one
that says so, by a regression over words and place whose coefficients ship as data (`python -m benchmarks.roles`)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from itertools import pairwise
from math import exp, log
from types import EllipsisType
from typing import Any

from bio_mcp.literature.records import AbstractSection, Article
from bio_mcp.retrieval.chunking import abstract_text, citable_spans, sentence_spans


class Role(StrEnum):
    """`SECONDARY`: it reports others' work. `OTHER` says nothing of the study: registration, funding, keywords."""

    BACKGROUND = "background"
    METHOD = "method"
    RESULT = "result"
    CONCLUSION = "conclusion"
    SECONDARY = "secondary"
    OTHER = "other"


CLASSES = (Role.BACKGROUND, Role.METHOD, Role.RESULT, Role.CONCLUSION)  # in the order of the coefficients


@dataclass(frozen=True, slots=True)
class RoledSentence:
    """A sentence at its place in `abstract_text`, and what it is."""

    start: int
    end: int
    text: str
    role: Role


def sentences(article: Article) -> list[RoledSentence]:
    """The sentences of the abstract in order, without the labels of sections, also those printed within a text."""
    text = abstract_text(article)
    found: list[tuple[int, int, Role | None]] = []
    for section, (start, end) in zip(article.abstract, citable_spans(article), strict=True):
        role = role_of_section(section)
        for first, last in sentence_spans(text[start:end]):
            label = _LABEL_WITHIN.match(text[start + first : start + last]) if not section.label else None
            named = _role_of_label(label[1].lower()) if label else ...
            role = role if named is ... else named
            found.append((start + first + (label.end() if label and named is not ... else 0), start + last, role))
    guesses = (
        classified([text[start:end] for start, end, _ in found]) if any(role is None for *_, role in found) else ()
    )
    roled = [
        RoledSentence(start, end, text[start:end], role or guesses[at]) for at, (start, end, role) in enumerate(found)
    ]
    return [replace(each, role=_reporter(each)) for each in roled]


def _reporter(sentence: RoledSentence) -> Role:
    """The role, or that of a sentence that says what others found."""
    findings = sentence.role in (Role.RESULT, Role.CONCLUSION)
    return Role.SECONDARY if findings and _OF_OTHERS.search(sentence.text) else sentence.role


_OF_OTHERS = re.compile(
    r"""(?xi)
      \b(?: (?:previous|prior|earlier|other|past|existing|published|several|many|numerous)\s+
              (?:\w+\s+){0,2}(?:stud(?:y|ies)|trials?|reports?|works?|research|investigations?|literature)
              (?:\s+\w+){0,3}\s+(?:show\w*|found|report\w*|suggest\w*|demonstrat\w+|indicat\w+|reveal\w*)
          | (?:studies|trials|evidence|research|literature) \s+ ha(?:s|ve) \s+ (?:\w+ly\s+)?
              (?:shown|found|reported|suggested|demonstrated|indicated|revealed)
          | (?:has|have) \s+ been \s+ (?:\w+ly\s+){0,2} (?:shown|reported|suggested|demonstrated)
          | (?:it\s+is|is) \s+ (?:well\s+)? known \s+ (?:that|to) | according\s+to\s+the\s+literature
          | (?:previously|formerly) \s+ (?:reported|shown|described|published) )\b"""
)

_SECTIONS: tuple[tuple[str, Role | None], ...] = (
    (r"fund|regist|availab|supplement|level of evid|keyword|abbrev|contact|copyright|graphical|disclos|conflict",
     Role.OTHER),
    (r"\bcase", Role.RESULT),
    (r"method.*(?:result|finding)|result.*(?:conclu|discus)|patient concern|diagnos|lesson|outcomes?$|importance.+",
     None),
    (r"(?:background|introduc).*(?:method|result)|(?:aim|objective|purpose).*method|purpose of review", None),
    (r"conclu|interpret|implication|significance|relevance to|clinical relevance|impact|summary"
     r"|key (?:point|message)|discussion|limitation", Role.CONCLUSION),
    (r"result|finding", Role.RESULT),
    (r"method|design|setting|participant|patients|measure|intervention|procedure|material|data source|exposure|subjects"
     r"|search|selection|experiment|statistic", Role.METHOD),
    (r"backg|object|purpose|introd|aim|importance|hypoth|rational|context|motivation|goal|relevance", Role.BACKGROUND),
)  # fmt: skip
_LABELS = tuple((re.compile(label), role) for label, role in _SECTIONS)
_CATEGORIES = {
    "BACKGROUND": Role.BACKGROUND,
    "OBJECTIVE": Role.BACKGROUND,
    "METHODS": Role.METHOD,
    "RESULTS": Role.RESULT,
    "CONCLUSIONS": Role.CONCLUSION,
}


def role_of_section(section: AbstractSection) -> Role | None:
    """What all sentences of the section are, as its label says, or NLM's category; None where neither does."""
    named = _role_of_label((section.label or "").lower())
    return _CATEGORIES.get(section.category or "") if named is ... else named


def _role_of_label(label: str) -> Role | EllipsisType | None:
    """What a label in lower case says; None where it says two things, `...` where it says nothing."""
    return next((role for pattern, role in _LABELS if pattern.search(label)), ...) if label else ...


_LABEL_WITHIN = re.compile(r"([A-Z][A-Za-z]{2,20}(?: (?:and|&|of) [A-Za-z]{2,20})?):\s+(?=\S)")
_WORD = re.compile(r"[a-z]+|\d+|[%<=>?]")
PARTS = 8  # of an abstract that are told apart
_READ = 2_000  # characters of a sentence


def features(sentence: str, place: int, count: int) -> set[str]:
    """The words and pairs of words of a sentence, those that it begins with, and its place among `count`."""
    words = ["0" if each.isdigit() else each for each in _WORD.findall(sentence[:_READ].lower())]
    found = {*words, *(f"{one} {other}" for one, other in pairwise(words))}
    found |= {"^" + " ".join(words[:1]), "^" + " ".join(words[:2])}
    share = place / (count - 1) if count > 1 else 1.0
    found.add(f"@{int(share * PARTS * 0.999)}")
    found |= {f"@first{place}"} if place < 1 else set()
    return found | ({f"@last{count - 1 - place}"} if place >= count - 2 else set())


def classified(texts: Sequence[str]) -> list[Role]:
    """The likeliest role of each sentence of an abstract, given those around it."""
    return [CLASSES[max(range(len(CLASSES)), key=each.__getitem__)] for each in probabilities(texts)]


LEAST_SENTENCES = 3  # of an abstract that has the parts of one
_MIDDLE = (4, 9)  # a sentence, and of how many, whose place says little


def probabilities(texts: Sequence[str]) -> list[list[float]]:
    """The probability of each of `CLASSES` for each sentence: the regression's, and what follows what in abstracts.

    In an abstract of less than `LEAST_SENTENCES` neither the place of a sentence nor those around it say anything.
    """
    if len(texts) < LEAST_SENTENCES:
        return [_normal(_odds(each, *_MIDDLE)) for each in texts]
    fitted, classes = shipped(), range(len(CLASSES))
    steps: Sequence[Sequence[float]] = fitted["transitions"]
    seen = [
        [one - prior for one, prior in zip(_odds(text, place, len(texts)), fitted["prior"], strict=True)]
        for place, text in enumerate(texts)
    ]
    forward = [[fitted["first"][of] + seen[0][of] for of in classes]]
    for each in seen[1:]:
        before = forward[-1]
        forward.append([each[of] + _log_sum([before[was] + steps[was][of] for was in classes]) for of in classes])
    backward = [[0.0 for _ in classes]]
    for each in reversed(seen[1:]):
        after = backward[-1]
        backward.append([_log_sum([steps[of][then] + each[then] + after[then] for then in classes]) for of in classes])
    pairs = zip(forward, reversed(backward), strict=True)
    return [_normal([one + other for one, other in zip(*pair, strict=True)]) for pair in pairs]


def _odds(text: str, place: int, count: int) -> list[float]:
    """The logarithms of the regression's odds of each of `CLASSES`."""
    fitted = shipped()
    weights: Mapping[str, Sequence[float]] = fitted["weights"]
    rows = [weights[each] for each in sorted(features(text, place, count)) if each in weights]
    return [sum(column) for column in zip(fitted["intercept"], *rows, strict=True)]


def _normal(odds: Sequence[float]) -> list[float]:
    total = _log_sum(odds)
    return [exp(each - total) for each in odds]


def _log_sum(values: Sequence[float]) -> float:
    most = max(values)
    return most + log(sum(exp(each - most) for each in values))


@cache
def shipped() -> Mapping[str, Any]:
    """`sentence_roles.json`: logarithms all, in the order of `CLASSES`."""
    text = resources.files("bio_mcp.retrieval").joinpath("sentence_roles.json").read_text(encoding="utf-8")
    fits: Mapping[str, Any] = json.loads(text)
    return fits
