"""Findings that contradict each other among the sentences of an answer, to be set side by side and not averaged away.

A conflict is reported only where outcome, exposure, population and circumstances are the same as far as the sentences
say, since a false conflict misleads more than a missed one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from bio_mcp.literature.quantities import quantities
from bio_mcp.retrieval.findings import Finding, findings, outcome_terms

_CIRCUMSTANCES = {
    "women": r"wom[ae]n|females?|girls?",
    "men": r"m[ae]n|males?|boys?",
    "children": r"child(?:ren)?|infants?|neonat\w+|adolescen\w+",
    "old": r"elderly|older",
    "young": r"young\w*",
    "pregnant": r"pregnan\w+",
    "animals": r"mice|mouse|rats?|rabbits?|dogs?|pigs?|murine",
    "cells": r"cells?|in vitro|cultured?",
    "low": r"low-dose|low dose",
    "high": r"high-dose|high dose",
    "acute": r"acute\w*|short-term",
    "chronic": r"chronic\w*|long-term",
    "topical": r"topical\w*",
    "oral": r"oral\w*",
    "injected": r"intraven\w+|inject\w+",
    "combined": r"plus|combin\w+|with or without|adjunct\w*|add-on",
    "early": r"early|earlier",
    "late": r"late|later",
    "severe": r"severe|critical\w*",
    "mild": r"mild\w*",
    "diabetic": r"diabet\w+",
    "obese": r"obes\w+|overweight",
    "smokers": r"smok\w+",
    "carriers": r"carriers?|knockout|deficient",
    "subgroup": r"subgroups?|only|except|subset",
}
_COMPARED = re.compile(
    r"\b(?:than|versus|vs\.?|(?:compared|relative)\s+(?:with|to))\s+(?:(?:the|those|that|with|in|among|after|for|of)\s+)*([\w-]+)",
    re.IGNORECASE,
)
_CONTROLS = re.compile(r"placebo|control|untreated|sham|no|non|usual|standard|baseline", re.IGNORECASE)
_MEASURED_IN = ("day", "week", "month", "year", "h", "min", "mg", "g", "ug", "mg/kg", "mg/day", "g/day", "IU")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a paper. `context` is what else says what it is about, as the paper's title."""

    pmid: str
    text: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements, counted from 0, of different papers that contradict each other about `outcome`.

    `reason` says how, in a sentence.
    """

    one: int
    other: int
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Read:
    at: int
    statement: Statement
    finding: Finding
    asked: frozenset[str]
    circumstances: frozenset[str]


def conflicts(question: str, statements: Sequence[Statement]) -> list[Conflict]:
    """The contradictions among `statements` about what `question` asks, by their numbers; one for a pair."""
    asked = outcome_terms(question)
    read = [found for at, each in enumerate(statements) for found in _read(at, each, asked)]
    pairs = ((one, other) for one, other in combinations(read, 2) if _comparable(one, other))
    found = [Conflict(one.at, other.at, _named(one), reason) for one, other in pairs if (reason := _reason(one, other))]
    first = {(each.one, each.other): each for each in reversed(found)}
    return [first[pair] for pair in sorted(first)]


def _read(at: int, statement: Statement, asked: frozenset[str]) -> Iterator[_Read]:
    words = outcome_terms(f"{statement.context} {statement.text}")
    text = f"{statement.text} {statement.context}"
    circumstances = frozenset(
        name for name, words in _CIRCUMSTANCES.items() if re.search(rf"(?i)\b(?:{words})\b", text)
    )
    for finding in findings(statement.text):
        if finding.direction:
            yield _Read(at, statement, finding, (asked & words) - finding.outcome, circumstances)


def _comparable(one: _Read, other: _Read) -> bool:
    """Whether both speak of one outcome and one exposure that was asked about, in like circumstances."""
    return (
        one.statement.pmid != other.statement.pmid
        and one.finding.outcome == other.finding.outcome
        and _of_one_exposure(one, other)
        and one.circumstances == other.circumstances
        and _like_comparisons(one.finding.about, other.finding.about)
        and _like_measures(one.finding.about, other.finding.about)
    )


def _of_one_exposure(one: _Read, other: _Read) -> bool:
    """Whether both name the same of what was asked about besides the outcome, or the same agent."""
    agents = one.finding.agent, other.finding.agent
    if all(agents):
        return agents[0] == agents[1] and bool(agents[0] & one.asked)
    return bool(one.asked) and one.asked == other.asked


def _like_comparisons(one: str, other: str) -> bool:
    """Whether both compare with controls or with the same, as far as they say."""
    with_ = [_COMPARED.search(each) for each in (one, other)]
    names = [_CONTROLS.sub("", found[1].lower()) if found else "" for found in with_]
    return names[0] == names[1] or not (names[0] or names[1])


def _like_measures(one: str, other: str) -> bool:
    """Whether no dose and no time differs that both state."""
    mine, its = (
        {each.unit: each.value for each in quantities(text) if each.unit in _MEASURED_IN} for text in (one, other)
    )
    return all(mine[unit] == its[unit] for unit in mine.keys() & its.keys())


def _reason(one: _Read, other: _Read) -> str:
    """How the two contradict each other; "" where they do not."""
    mine, its = one.finding.estimate, other.finding.estimate
    if mine and its:
        return f"their confidence intervals exclude each other: {mine} and {its}" if mine.excludes(its) else ""
    if one.finding.contradicts(other.finding):
        return f"one says {_in_words(one.finding)}, the other {_in_words(other.finding)}"
    return ""


def _in_words(finding: Finding) -> str:
    words = {"linked": "associated", "same": "no difference", "up": "increase", "down": "decrease"}
    name = words.get(finding.direction, finding.direction)
    return f"no {words.get(finding.denied, finding.denied)}" if finding.denied else name


def _named(read: _Read) -> str:
    """The outcome in the words of the statement."""
    words = re.findall(r"[\w-]+", read.finding.about)
    return " ".join(dict.fromkeys(each.lower() for each in words if outcome_terms(each) & read.finding.outcome))
