"""Sentence-embedding models run by ONNX Runtime on the CPU. Pooling, projection and normalisation are part of the
graph."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort
from tokenizers import Tokenizer

from bio_mcp.adapters.embedders import TELEMETRY_WANTED
from bio_mcp.adapters.embedders.batching import batches
from bio_mcp.adapters.embedders.identity import PAIRS
from bio_mcp.adapters.embedders.installed import GRAPH, QUESTION_GRAPH, TOKENIZER, check_file, damaged, read_manifest
from bio_mcp.adapters.embedders.tokens import load_tokenizer, token_ids, truncated
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.lazy import Lazy

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

if not TELEMETRY_WANTED:  # also where somebody imported ONNX Runtime before us
    onnxruntime.disable_telemetry_events()

TOKENS_PER_BATCH = 256  # as cheap in CPU time as any; 8,192 costs up to 20 % more (benchmarks/embedding.py)
SLOWER = ["SkipLayerNormFusion"]  # optimisers that make a graph slower (benchmarks/embedding.py)

Session = Callable[[], onnxruntime.InferenceSession]
BAD_MODEL = (ort.InvalidGraph, ort.InvalidProtobuf, ort.NoModel, ort.NoSuchFile, ort.Fail, ort.NotImplemented)
BAD_RUN = (ort.Fail, ort.InvalidArgument, ort.EngineError, ort.EPFail, ort.RuntimeException, MemoryError)


class OnnxEmbeddings:
    """The model that is installed in `directory`. Threads may share it.

    Only the manifest is read before the first use. `threads` batches run at once, one thread each: splitting a batch
    between threads costs more CPU. The vector of a text does not depend on its batch (to 1e-6).
    """

    def __init__(self, directory: Path, *, threads: int = 1, tokens_per_batch: int = TOKENS_PER_BATCH) -> None:
        self._directory = directory
        self._threads = threads
        self._budget = tokens_per_batch
        self._identity, self._seals = read_manifest(directory)
        if self._identity.pooling == PAIRS:
            raise EmbeddingFailed(f"{directory.name} is a reranker and no embedding model.", retryable=False)
        self._tokenizer = Lazy(self._load_tokenizer)
        self._passages = Lazy(lambda: self._load_session(GRAPH))
        two = bool(self._identity.questions_sha256)
        self._questions = Lazy(lambda: self._load_session(QUESTION_GRAPH)) if two else self._passages

    @property
    def fingerprint(self) -> str:
        return self._identity.fingerprint

    @property
    def dim(self) -> int:
        return self._identity.dim

    @property
    def max_tokens(self) -> int:
        return self._identity.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each passage, what stands before it, [CLS] and [SEP] included, without truncation. About 0.6
        million tokens per CPU-second."""
        return [len(ids) for ids in self._ids(texts, self._identity.prefix)]

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors, float32, shape (len(texts), dim), in the order of `texts`; longer texts are truncated."""
        ids = [truncated(row, self.max_tokens) for row in self._ids(texts, self._identity.prefix)]
        return self._vectors(ids, self._passages)

    def embed_questions(self, texts: Sequence[str]) -> "Vectors":
        """As `embed`, with what stands before a question, by the encoder of questions where there is one."""
        limit = self._identity.question_tokens or self.max_tokens
        ids = [truncated(row, limit) for row in self._ids(texts, self._identity.before_questions)]
        return self._vectors(ids, self._questions)

    def _vectors(self, ids: Sequence[list[int]], session: Session) -> "Vectors":
        vectors = np.empty((len(ids), self.dim), dtype=np.float32)

        def fill(batch: list[int]) -> None:
            vectors[batch] = _run(session(), [ids[index] for index in batch])

        work = list(batches([len(row) for row in ids], self._budget))
        if self._threads == 1 or len(work) < 2:
            for batch in work:
                fill(batch)
        else:
            with ThreadPoolExecutor(self._threads) as threads:
                list(threads.map(fill, work))  # reading the results raises the first failure
        return vectors

    def _ids(self, texts: Sequence[str], prefix: str) -> list[list[int]]:
        return token_ids(self._tokenizer(), [prefix + text for text in texts])

    def _load_tokenizer(self) -> Tokenizer:
        check_file(self._directory, self._seals, TOKENIZER)
        return load_tokenizer(self._directory / TOKENIZER)

    def _load_session(self, graph: str) -> onnxruntime.InferenceSession:
        check_file(self._directory, self._seals, graph)
        try:
            return session_of(self._directory / graph)
        except BAD_MODEL as failure:
            raise damaged() from failure


def session_of(graph: Path) -> onnxruntime.InferenceSession:
    """The graph, ready to run on one thread of the CPU. Raises one of `BAD_MODEL`."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # failures are raised; the log would show paths
    return onnxruntime.InferenceSession(
        str(graph), options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOWER
    )


def _run(session: onnxruntime.InferenceSession, rows: Sequence[list[int]]) -> "Vectors":
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
        mask[index, : len(row)] = 1
    vectors: Vectors
    try:
        (vectors,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    except BAD_RUN as failure:
        raise EmbeddingFailed("The embedding model failed on this text; try again with less of it.") from failure
    return vectors
