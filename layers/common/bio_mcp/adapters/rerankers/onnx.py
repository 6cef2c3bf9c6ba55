"""Cross-encoders run by ONNX Runtime on the CPU: question and passage are read together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from bio_mcp.adapters.embedders.batching import batches
from bio_mcp.adapters.embedders.identity import PAIRS, Identity
from bio_mcp.adapters.embedders.installed import GRAPH, TOKENIZER, check_file, damaged, read_manifest
from bio_mcp.adapters.embedders.onnx import BAD_MODEL, BAD_RUN, session_of
from bio_mcp.adapters.embedders.tokens import load_tokenizer
from bio_mcp.deadline import Deadline
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.lazy import Lazy

TOKENS_PER_BATCH = 512  # after which time is looked at
FAILED = "The reranker failed on these passages."


class OnnxReranker:
    """The cross-encoder that is installed in `directory`. Threads may share it. It is loaded on first use.

    A passage is cut where it and the question are longer than the model reads. `patience_s` is the most that it may
    take; what is being computed then is finished.
    """

    def __init__(self, directory: Path, *, patience_s: float = 2.0) -> None:
        self._directory, self._patience_s = directory, patience_s
        self._identity, self._seals = read_manifest(directory)
        if self._identity.pooling != PAIRS:
            raise EmbeddingFailed(f"{directory.name} is an embedding model and no reranker.", retryable=False)
        self._tokenizer: Lazy[Tokenizer] = Lazy(self._load_tokenizer)
        self._session: Lazy[Any] = Lazy(self._load_session)

    @property
    def fingerprint(self) -> str:
        return self._identity.fingerprint

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        deadline = deadline.share(self._patience_s)
        session = self._session()
        rows = pairs_of(self._tokenizer(), self._identity, question, passages)
        scores = np.empty(len(rows), dtype=np.float32)
        for batch in batches([len(ids) for ids, _ in rows], TOKENS_PER_BATCH):
            deadline.check("reranking the passages")
            scores[batch] = _run(session, [rows[index] for index in batch])
        if not np.isfinite(scores).all():
            raise EmbeddingFailed(FAILED)
        return [float(each) for each in scores]

    def _load_tokenizer(self) -> Tokenizer:
        check_file(self._directory, self._seals, TOKENIZER)
        return load_tokenizer(self._directory / TOKENIZER)

    def _load_session(self) -> Any:
        check_file(self._directory, self._seals, GRAPH)
        try:
            return session_of(self._directory / GRAPH)
        except BAD_MODEL as failure:
            raise damaged() from failure


Pair = tuple[list[int], list[int]]


def pairs_of(tokenizer: Tokenizer, identity: Identity, question: str, passages: Sequence[str]) -> list[Pair]:
    """Token ids and segments of the question with each passage, whose end is cut off where both are too long."""
    valid = [text.encode("utf-8", "replace").decode() for text in (question, *passages)]
    encoded = tokenizer.encode_batch([(valid[0], passage) for passage in valid[1:]])
    return [_cut(each.ids, each.type_ids, identity.max_tokens) for each in encoded]


def _cut(ids: list[int], segments: list[int], limit: int) -> Pair:
    if len(ids) <= limit:
        return ids, segments
    return [*ids[: limit - 1], ids[-1]], [*segments[: limit - 1], segments[-1]]


def _run(session: Any, rows: Sequence[Pair]) -> "np.ndarray[Any, Any]":
    ids = np.zeros((len(rows), max(len(row) for row, _ in rows)), dtype=np.int64)
    mask, segments = np.zeros_like(ids), np.zeros_like(ids)
    for index, (row, of_text) in enumerate(rows):
        ids[index, : len(row)], segments[index, : len(row)], mask[index, : len(row)] = row, of_text, 1
    try:
        [scores] = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments})
    except BAD_RUN as failure:
        raise EmbeddingFailed(FAILED) from failure
    found: np.ndarray[Any, Any] = scores[:, 0]
    return found
