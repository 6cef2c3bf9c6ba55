"""Late chunking, as a benchmark tries it: one pass over title and abstract, each passage the mean of its own tokens.

Up to `LIMIT` tokens are read at once, so that most abstracts are one pass; the next pass of a longer one begins at the
first passage that was cut. Nothing in the product computes vectors so: docs/benchmarks.md says why.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from bio_mcp.adapters.embedders.installed import GRAPH, TOKENIZER
from bio_mcp.adapters.embedders.tokens import load_tokenizer
from bio_mcp.literature.records import Article
from bio_mcp.retrieval.chunking import abstract_text, chunks_of
from bio_mcp.retrieval.passages import Chunk

LIMIT = 512  # tokens that all-MiniLM-L6-v2 has positions for; it was trained on 128 and is used with 256
STATES = "encoder.layer.5.output.normal"  # the vectors of the tokens, before they are pooled

Vectors = NDArray[np.float32]


class LatePassages:
    """The vectors of passages by their text, of papers that `read` was given; other texts go to `model`."""

    def __init__(self, model: Any, directory: Path, *, title: bool) -> None:
        self.fingerprint, self.dim, self.max_tokens = f"{model.fingerprint}/late", model.dim, model.max_tokens
        self._model, self._title, self._known = model, title, dict[str, Vectors]()
        self._tokenizer = load_tokenizer(directory / TOKENIZER)
        graph = onnx.load(directory / GRAPH)
        del graph.graph.output[:]
        shape = ["batch", "tokens", model.dim]
        graph.graph.output.append(onnx.helper.make_tensor_value_info(STATES, onnx.TensorProto.FLOAT, shape))
        self._session = onnxruntime.InferenceSession(
            graph.SerializeToString(), providers=["CPUExecutionProvider"], disabled_optimizers=["SkipLayerNormFusion"]
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        counts: list[int] = self._model.count_tokens(texts)
        return counts

    def embed(self, texts: Sequence[str]) -> Vectors:
        if all(text in self._known for text in texts):
            return np.stack([self._known[text] for text in texts])
        vectors: Vectors = self._model.embed(texts)
        return vectors

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = self._model.embed_questions(texts)
        return vectors

    def read(self, papers: Iterable[Article]) -> None:
        """Embed the passages of these papers."""
        for paper in papers:
            chunks = chunks_of(paper, self._model.count_tokens, self.max_tokens)
            if chunks[0].text:
                self._known.update(self._passages(chunks, abstract_text(paper)))

    def _passages(self, chunks: Sequence[Chunk], text: str) -> Iterator[tuple[str, Vectors]]:
        """Yield the text of each passage and its vector, pass by pass."""
        title = chunks[0].embedded_text.removesuffix(chunks[0].text)
        first = 0
        while first < len(chunks):
            last = self._last_that_fits(title, text, chunks, first)
            start = chunks[first].char_start
            yield from self._one_pass(title, text[start : chunks[last - 1].char_end], start, chunks[first:last])
            first = last

    def _last_that_fits(self, title: str, text: str, chunks: Sequence[Chunk], first: int) -> int:
        for last in range(len(chunks), first + 1, -1):
            part = text[chunks[first].char_start : chunks[last - 1].char_end]
            if len(self._tokenizer.encode(title + part).ids) <= LIMIT:
                return last
        return first + 1

    def _one_pass(self, title: str, text: str, start: int, chunks: Sequence[Chunk]) -> Iterator[tuple[str, Vectors]]:
        read = self._tokenizer.encode(title + text)
        ids = np.array([read.ids[:LIMIT]])
        [states] = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        begins = np.array([at for at, _ in read.offsets[:LIMIT]])
        real = np.array([end > at for at, end in read.offsets[:LIMIT]])
        before = (begins < len(title)) & real if self._title else np.zeros(len(begins), bool)
        special = ~real if self._title else np.zeros(len(begins), bool)
        for chunk in chunks:
            low, high = (at - start + len(title) for at in (chunk.char_start, chunk.char_end))
            own = real & (begins >= low) & (begins < high)
            pooled = states[0][own | before | special].mean(axis=0)
            yield chunk.embedded_text, (pooled / np.linalg.norm(pooled)).astype(np.float32)
