"""Have the language model write an answer from extracts; only sentences that pass the check are let through."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from bio_mcp.answering.sentence_check import CheckedSentence, check
from bio_mcp.deadline import Deadline
from bio_mcp.errors import BudgetSpent, DeadlineExceeded, UpstreamFailed
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Embeddings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

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

    @cache
    def vector(of: str) -> "Vector":
        unit: Vector = embeddings.embed([of])[0]
        return unit

    def similarity(sentence: str, passage: str) -> float:
        return float(vector(sentence) @ vector(passage))

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
