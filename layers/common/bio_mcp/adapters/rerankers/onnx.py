"""Cross-encoders run by ONNX Runtime on the CPU: question and passage are read together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from bio_mcp.adapters.embedders.model_files import (
    PAIRS,
    Identity,
    layout_of,
    read_manifest,
    samples,
    sha256_of,
)
from bio_mcp.adapters.embedders.onnx import BAD_RUN, Graph, InstalledModel, batches, truncated
from bio_mcp.adapters.embedders.own_models import PRECISION, USUAL_TOKENS, Wanted, install, tokenizer_of
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import EmbeddingFailed, InvalidInput

TOKENS_PER_BATCH = 512  # after which time is looked at
ALONE = 1e-2  # of a score, from the same passage in a batch of others
PATIENCE_S = 600.0  # while it is checked
FAILED = "The reranker failed on these passages."


class OnnxReranker(InstalledModel):
    """The cross-encoder that is installed in `directory`. Threads may share it.

    A passage is cut where it and the question are longer than the model reads. `patience_s` is the most that it may
    take; what is being computed then is finished.
    """

    def __init__(self, directory: Path, *, patience_s: float = 2.0) -> None:
        super().__init__(directory)
        self._patience_s = patience_s
        if self._identity.pooling != PAIRS:
            raise EmbeddingFailed(f"{directory.name} is an embedding model and no reranker.", retryable=False)

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        deadline = deadline.share(self._patience_s)
        graph = self._graph()
        rows = pairs_of(self._tokenizer(), self._identity, question, passages)
        scores = np.empty(len(rows), dtype=np.float32)
        for batch in batches([len(ids) for ids, _ in rows], TOKENS_PER_BATCH):
            deadline.check("reranking the passages")
            scores[batch] = _run(graph, [rows[index] for index in batch])
        if not np.isfinite(scores).all():
            raise EmbeddingFailed(FAILED)
        return [float(each) for each in scores]


Pair = tuple[list[int], list[int]]


def pairs_of(tokenizer: Tokenizer, identity: Identity, question: str, passages: Sequence[str]) -> list[Pair]:
    """Token ids and segments of the question with each passage, whose end is cut off where both are too long."""
    valid = [text.encode("utf-8", "replace").decode() for text in (question, *passages)]
    encoded = tokenizer.encode_batch([(valid[0], passage) for passage in valid[1:]])
    limit = identity.max_tokens
    return [(truncated(each.ids, limit), truncated(each.type_ids, limit)) for each in encoded]


def _run(graph: Graph, rows: Sequence[Pair]) -> "np.ndarray[Any, Any]":
    try:
        scores, _ = graph.run([ids for ids, _ in rows], [segments for _, segments in rows])
    except BAD_RUN as failure:
        raise EmbeddingFailed(FAILED) from failure
    found: np.ndarray[Any, Any] = scores[:, 0]
    return found


def add_reranker(source: Path, models: Path, wanted: Wanted) -> Identity:
    """Install the cross-encoder that was published as `source`. Raises `InvalidInput`; nothing is installed then."""

    def identity_of(graph: Path) -> Identity:
        loaded = Graph(graph)
        if not loaded.pools or loaded.run([[0]])[0].shape[-1] != 1:
            raise ValueError("a reranker gives one score for a question and a passage")
        return Identity(
            model_id=wanted.name or source.resolve().name,
            weights_sha256=sha256_of(graph),
            tokenizer_sha256=sha256_of(tokenizer_of(graph)),
            dim=1,
            max_tokens=wanted.max_tokens or min(layout_of(source).max_tokens or USUAL_TOKENS, USUAL_TOKENS),
            pooling=PAIRS,
            normalised=False,
            precision=PRECISION,
        )

    return read_manifest(install(source, models, wanted, identity_of, _check))[0]


def _check(directory: Path) -> None:
    """Raise `InvalidInput` where a score depends on what is scored beside it."""
    texts = sorted(samples()[0], key=len)
    question, passages = texts[-3], texts
    model = OnnxReranker(directory, patience_s=PATIENCE_S)
    together = model.scores(question, passages, NEVER)
    alone = [model.scores(question, [each], NEVER)[0] for each in passages]
    if not np.abs(np.array(together) - np.array(alone)).max() <= ALONE:
        raise InvalidInput("A score depends on the passages beside it; nothing was installed.")
