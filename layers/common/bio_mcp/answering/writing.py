"""What a language model makes of cited sentences, and the check that each of its sentences is supported."""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any

from bio_mcp.deadline import Deadline
from bio_mcp.errors import BudgetSpent, DeadlineExceeded, UpstreamFailed
from bio_mcp.literature.quantities import quantities, unmatched
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Embeddings
from bio_mcp.retrieval.analysis import analyse, query_terms
from bio_mcp.retrieval.chunking import sentence_spans
from bio_mcp.retrieval.findings import distorts, unsupported

SUPPORTED_FROM = 0.6
"""The least support. On PubMedQA 1.3 % of conclusions reach it with a most similar other abstract, 70 % with their own
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
    if _names(sentence) - _names(*cited):
        return Problem.NAME
    if unsupported(sentence, cited) or distorts(sentence, cited):
        return Problem.DENIAL
    if _strong_words(sentence) - _strong_words(*cited):
        return Problem.STRONG_WORD
    return Problem.SUPPORT if supported < SUPPORTED_FROM else None


def _names(*texts: str) -> set[str]:
    """Terms with letters and digits, such as IL-6 and p53; "50mg" is a quantity."""
    terms = chain.from_iterable(map(analyse, texts))
    return {each for each in terms if _DIGIT_IN_WORD.match(each) and not quantities(each)}


def _strong_words(*texts: str) -> set[str]:
    return {term for text in texts for word in _STRONG.findall(text) for term in analyse(word)}


log = logging.getLogger("bio_mcp.answering")

GENERATED, EXTRACTIVE = "generated", "extractive"
MOST_SENTENCES = 10  # of an answer
_FAILED = "The language model did not answer, so the answer is the extract: {}"
_NO_ANSWER = "The language model found no answer in the sentences of the papers, so the answer is the extract."
_NOTHING_LEFT = "No sentence of the language model passed the check against what it cites: the answer is the extract."
_SOME_LEFT_OUT = (
    "{} of {} sentences of the language model did not pass the check against what they cite: sentences of the papers "
    "stand in their place."
)


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence of an answer, and the extracts that it rests on, counted from 0."""

    text: str
    cites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What the language model made of the extracts. `sentences` is empty where `mode` is extractive.

    `warnings` say why that is so, and how many sentences did not pass.
    """

    sentences: tuple[WrittenSentence, ...]
    mode: str
    warnings: tuple[str, ...] = ()


def write(question: str, quotes: Sequence[str], backends: Backends, deadline: Deadline) -> Written:
    """Write an answer to the question from `quotes`, the sentences of papers that were found for it.

    Without a language model, and whenever it fails or nothing that it writes passes, the mode is extractive. Raises
    `DeadlineExceeded` only where the call's own time is over, `EmbeddingFailed`, and `Misconfigured`.
    """
    model = backends.language_model
    if model is None or not quotes:
        return Written((), EXTRACTIVE)
    try:
        generated = model.generate(question, quotes, deadline)
    except (BudgetSpent, UpstreamFailed, DeadlineExceeded) as failure:
        deadline.check("answering with the extract instead of the language model")
        return Written((), EXTRACTIVE, (_FAILED.format(failure),))
    tokens = {"input_tokens": generated.input_tokens, "output_tokens": generated.output_tokens}
    log.info("language model", extra={"model": model.fingerprint, **tokens})
    return checked(generated.text, quotes, backends.embeddings)


def checked(text: str, quotes: Sequence[str], embeddings: Embeddings) -> Written:
    """The sentences of `text` that pass the check; in the place of each other one the first quote that it cites."""
    vectors: dict[str, Any] = {}

    def similarity(sentence: str, passage: str) -> float:
        for each in (sentence, passage):
            if each not in vectors:
                vectors[each] = embeddings.embed([each])[0]
        return float(vectors[sentence] @ vectors[passage])

    if not text:
        return Written((), EXTRACTIVE, (_NO_ANSWER,))
    found = check(text, quotes, similarity)[:MOST_SENTENCES]
    failed = sum(each.problem is not None for each in found)
    if failed == len(found):
        return Written((), EXTRACTIVE, (_NOTHING_LEFT,))
    warnings = (_SOME_LEFT_OUT.format(failed, len(found)),) if failed else ()
    return Written(_without_repetition(found, quotes), GENERATED, warnings)


def _without_repetition(found: Sequence[CheckedSentence], quotes: Sequence[str]) -> tuple[WrittenSentence, ...]:
    """Each sentence once; a quote only where no sentence that passed cites it."""
    used = {at for each in found if each.problem is None for at in each.passages}
    sentences: dict[str, WrittenSentence] = {}
    for each in found:
        if each.problem is None:
            sentences.setdefault(each.text, WrittenSentence(each.text, each.passages))
        elif each.passages and each.passages[0] not in used:
            at = each.passages[0]
            sentences.setdefault(quotes[at], WrittenSentence(quotes[at], (at,)))
    return tuple(sentences.values())
