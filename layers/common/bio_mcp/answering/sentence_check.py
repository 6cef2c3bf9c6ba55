"""Check what a language model wrote: each sentence against the passages that it cites.

A sentence passes if it cites passages that exist and these have its quantities, its names with digits, its denials
and directions, and its strong words; if it does not turn a clause of theirs round; if it has neither link nor markup;
and if it is near enough to them. Nothing of it depends on the model or on what a passage asks a model to do.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from bio_mcp.retrieval.analysis import analyse, query_terms
from bio_mcp.retrieval.polarity import distorts, unsupported
from bio_mcp.retrieval.quantities import quantities, unmatched
from bio_mcp.retrieval.sentences import sentence_spans

SUPPORTED_FROM = 0.5
"""The least support. On PubMedQA 1.5 % of conclusions reach it with a most similar other abstract, 73 % with their own
(`python -m benchmarks sentence_check`)."""

Similarity = Callable[[str, str], float]
"""Cosine of a sentence and a passage."""


class Problem(StrEnum):
    """Why a sentence does not pass."""

    UNCITED = "it cites no passage"
    UNKNOWN_PASSAGE = "it cites a passage that was not given"
    LINK = "it has a link or markup"
    QUANTITY = "a number, its unit or its comparison is not in what it cites"
    NAME = "a name is not in what it cites"
    DENIAL = "it denies, or names a direction, where what it cites does not, or the other way round"
    STRONG_WORD = "it recommends, or calls something safe or proven, where what it cites does not"
    SUPPORT = "it is too far from what it cites"


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A generated sentence without its citations; `passages` are those that it cites and that exist, counted from 0.

    `support` is from 0 to 1. `problem` is None for a sentence that passes.
    """

    text: str
    passages: tuple[int, ...]
    support: float
    problem: Problem | None


_NUMBERS = r"\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]"
_CITATION = re.compile(_NUMBERS)
_CITATION_AFTER_STOP = re.compile(rf"([.!?])\s*((?:{_NUMBERS}\s*)+)")
_LINK = re.compile(
    r"https?:|www\.|\b\w[\w-]*\.(?:com|org|net|io|info|biz|co)\b|\S@\S|\]\(|!\[|`|\*\*|^#"
    r"|<!--|</?(?:a|b|i|p|br|div|em|h\d|iframe|img|li|object|script|span|strong|style|svg|table|ul)\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(safe|safely|safety|harmless|cures?|cured|guarante\w*|recommend\w*|should|must|proven?|proves|always|never"
    r"|all|every|only|most|causes?|caused)\b",
    re.IGNORECASE,
)
_DIGIT_IN_WORD = re.compile(r"(?=.*\d)(?=.*[^\W\d])")
_MOST_NUMBERS = 20  # of one range of citations


def check(written: str, passages: Sequence[str], similarity: Similarity) -> list[CheckedSentence]:
    """Check each sentence of `written`, in its order. `[1]` cites the first of `passages`."""
    text = _CITATION_AFTER_STOP.sub(r" \2\1 ", written)
    spans = (text[start:end] for start, end in sentence_spans(text))
    return [_checked(each, passages, similarity) for each in spans if any(map(str.isalnum, _CITATION.sub("", each)))]


def support(sentence: str, passages: Sequence[str], similarity: Similarity) -> float:
    """The mean of the best cosine with a passage and the share of the words that the passages have, within [0, 1]."""
    words = {term for term, _ in query_terms(sentence)}
    known = set(chain.from_iterable(map(analyse, passages)))
    covered = len(words & known) / len(words) if words else 0.0
    nearest = max((similarity(sentence, each) for each in passages), default=0.0)
    return round((covered + min(1.0, max(0.0, nearest))) / 2, 4)


def _checked(sentence: str, passages: Sequence[str], similarity: Similarity) -> CheckedSentence:
    numbers = list(dict.fromkeys(chain.from_iterable(map(_numbers, _CITATION.findall(sentence)))))
    text = re.sub(r"\s+([.!?,;])", r"\1", " ".join(_CITATION.sub(" ", sentence).split()))
    existing = tuple(number - 1 for number in numbers if 0 < number <= len(passages))
    if not numbers or len(existing) < len(numbers):
        return CheckedSentence(text, existing, 0.0, Problem.UNKNOWN_PASSAGE if numbers else Problem.UNCITED)
    cited = [passages[each] for each in existing]
    supported = support(text, cited, similarity)
    return CheckedSentence(text, existing, supported, _problem(text, cited, supported))


def _numbers(citation: str) -> list[int]:
    """The numbers of "[1, 3-5]"."""
    found: list[int] = []
    for part in re.split("[,;]", citation.strip("[] ")):
        first, *last = (int(each) for each in re.split("[–-]", part))
        found += range(first, min(last[-1] if last else first, first + _MOST_NUMBERS) + 1) or [0]
    return found


def _problem(sentence: str, cited: Sequence[str], supported: float) -> Problem | None:
    if _LINK.search(sentence):
        return Problem.LINK
    if unmatched(sentence, cited):
        return Problem.QUANTITY
    if _names(sentence) - set(chain.from_iterable(map(_names, cited))):
        return Problem.NAME
    if unsupported(sentence, cited) or distorts(sentence, cited):
        return Problem.DENIAL
    if _strong_words(sentence) - set(chain.from_iterable(map(_strong_words, cited))):
        return Problem.STRONG_WORD
    return Problem.SUPPORT if supported < SUPPORTED_FROM else None


def _names(text: str) -> set[str]:
    """Terms with letters and digits, such as IL-6 and p53; "50mg" is a quantity."""
    return {each for each in analyse(text) if _DIGIT_IN_WORD.match(each) and not quantities(each)}


def _strong_words(text: str) -> set[str]:
    return {term for word in _STRONG.findall(text) for term in analyse(word)}
