"""Sentence-embedding models run by ONNX Runtime on the CPU, from a graph as models are published: tokens in, their
vectors or one vector a text out."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as ort
from tokenizers import Tokenizer

from bio_mcp.adapters.embedders import TELEMETRY_WANTED
from bio_mcp.adapters.embedders.model_files import (
    GRAPH,
    PAIRS,
    QUESTION_GRAPH,
    TOKENIZER,
    checked_file,
    damaged,
    read_manifest,
)
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.lazy import Lazy

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

if not TELEMETRY_WANTED:  # also where somebody imported ONNX Runtime before us
    onnxruntime.disable_telemetry_events()

TOKENS_PER_BATCH = 256  # as cheap in CPU time as any; 8,192 costs up to 20 % more (benchmarks/embedding.py)
SLOWER = ["SkipLayerNormFusion"]  # optimisers that make a graph slower (benchmarks/embedding.py)
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = ("sentence_embedding", "last_hidden_state", "token_embeddings", "logits")  # the first that there is counts
FAILED = "The embedding model failed on this text; try again with less of it."
SHORTEST = 1e-12  # of a vector that is scaled to length 1

BAD_MODEL = (ort.InvalidGraph, ort.InvalidProtobuf, ort.NoModel, ort.NoSuchFile, ort.Fail, ort.NotImplemented)
BAD_RUN = (ort.Fail, ort.InvalidArgument, ort.EngineError, ort.EPFail, ort.RuntimeException, MemoryError)


class Graph:
    """A published graph, ready to run on one thread of the CPU. Raises one of `BAD_MODEL`, and `ValueError` for one
    that wants other inputs."""

    def __init__(self, file: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # failures are raised; the log would show paths
        self._session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOWER
        )
        self._inputs = [each.name for each in self._session.get_inputs()]
        if more := sorted(set(self._inputs) - set(INPUTS)):
            raise ValueError(f"its graph wants {', '.join(more)}")
        shapes = {each.name: each.shape for each in self._session.get_outputs()}
        self._output = next((name for name in OUTPUTS if name in shapes), next(iter(shapes)))
        self.pools = len(shapes[self._output]) == 2  # one row a text and not one a token

    def run(self, rows: Sequence[list[int]], segments: Sequence[list[int]] = ()) -> tuple[NDArray[Any], NDArray[Any]]:
        """What it gives for texts of these tokens, and which tokens are no padding. Raises one of `BAD_RUN`."""
        ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        mask, kinds = np.zeros_like(ids), np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        for index, row in enumerate(segments):
            kinds[index, : len(row)] = row
        given = dict(zip(INPUTS, (ids, mask, kinds), strict=True))
        [output] = self._session.run([self._output], {name: given[name] for name in self._inputs})
        return output, mask


class InstalledModel:
    """The model that is installed in `directory`. Only the manifest is read before the first use."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._identity, self._seals = read_manifest(directory)
        self.fingerprint = self._identity.fingerprint
        self._tokenizer: Lazy[Tokenizer] = Lazy(lambda: load_tokenizer(checked_file(directory, self._seals, TOKENIZER)))
        self._graph = Lazy(partial(self._load_graph, GRAPH))

    def _load_graph(self, name: str) -> Graph:
        try:
            return Graph(checked_file(self._directory, self._seals, name))
        except (*BAD_MODEL, ValueError) as failure:
            raise damaged() from failure


class OnnxEmbeddings(InstalledModel):
    """The embedding model that is installed in `directory`. Threads may share it.

    `threads` batches run at once, one thread each: splitting a batch between threads costs more CPU. The vector of a
    text does not depend on its batch.
    """

    def __init__(self, directory: Path, *, threads: int = 1, tokens_per_batch: int = TOKENS_PER_BATCH) -> None:
        super().__init__(directory)
        self._threads, self._budget = threads, tokens_per_batch
        if self._identity.pooling == PAIRS:
            raise EmbeddingFailed(f"{directory.name} is a reranker and no embedding model.", retryable=False)
        self.dim, self.max_tokens = self._identity.dim, self._identity.max_tokens
        two = bool(self._identity.questions_sha256)
        self._questions = Lazy(partial(self._load_graph, QUESTION_GRAPH)) if two else self._graph

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each passage, what stands before it, [CLS] and [SEP] included, without truncation. About 0.6
        million tokens per CPU-second."""
        return [len(ids) for ids in token_ids(self._tokenizer(), texts, self._identity.prefix)]

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return self._vectors(texts, self._identity.prefix, self.max_tokens, self._graph())

    def embed_questions(self, texts: Sequence[str]) -> "Vectors":
        """As `embed`, with what stands before a question, by the encoder of questions where there is one."""
        limit = self._identity.question_tokens or self.max_tokens
        return self._vectors(texts, self._identity.before_questions, limit, self._questions())

    def _vectors(self, texts: Sequence[str], prefix: str, limit: int, graph: Graph) -> "Vectors":
        ids = [truncated(row, limit) for row in token_ids(self._tokenizer(), texts, prefix)]
        vectors = np.empty((len(ids), self.dim), dtype=np.float32)
        work = list(batches([len(row) for row in ids], self._budget))
        rows, run = [[ids[index] for index in batch] for batch in work], partial(self._run, graph)
        if self._threads == 1 or len(work) < 2:
            found = list(map(run, rows))
        else:
            with ThreadPoolExecutor(self._threads) as threads:
                found = list(threads.map(run, rows))
        for batch, made in zip(work, found, strict=True):
            vectors[batch] = made
        return vectors

    def _run(self, graph: Graph, rows: Sequence[list[int]]) -> NDArray[Any]:
        try:
            output, mask = graph.run(rows)
        except BAD_RUN as failure:
            raise EmbeddingFailed(FAILED) from failure
        if graph.pools:
            vectors = output
        elif self._identity.pooling == "cls":
            vectors = output[:, 0]
        else:
            vectors = (output * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: NDArray[Any] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), SHORTEST)
        return unit


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield indices of `lengths`, longest first, in batches of at most `budget` tokens once padded to their longest.

    Neighbours in length share a batch, so little is computed for padding (1 % on PubMed abstracts; input order wastes
    half). A text longer than the budget is a batch of its own.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batch and (len(batch) + 1) * lengths[batch[0]] > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def load_tokenizer(path: Path) -> Tokenizer:
    """A tokenizer that neither truncates nor pads, whatever its file asks for. Raises `ValueError` for no such file."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as unreadable:  # the library raises no narrower class
        raise ValueError("its tokenizer.json has no tokenizer") from unreadable
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def token_ids(tokenizer: Tokenizer, texts: Sequence[str], prefix: str) -> list[list[int]]:
    """The token ids of each text behind the prefix, special tokens included. An unpaired surrogate, as in broken JSON,
    reads as "?"."""
    clean = [(prefix + text).encode("utf-8", "replace").decode() for text in texts]
    return [encoding.ids for encoding in tokenizer.encode_batch_fast(clean)]


def truncated(ids: list[int], limit: int) -> list[int]:
    """At most `limit` ids; the last one, which marks the end of the text, is retained."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]
