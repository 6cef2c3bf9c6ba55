"""Sentence-embedding models run by sentence-transformers: the reference implementation, for any model that it can load.

Needs the extra `hf` (torch, some 5 GB). With the same weights its vectors equal those of `OnnxEmbeddings` to 1e-5, so
both have the same fingerprint and may share an index.
"""

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from bio_mcp.adapters.embedders.batching import batches
from bio_mcp.adapters.embedders.identity import Identity
from bio_mcp.adapters.embedders.installed import TOKENIZER, TORCH_FILES, damaged, sha256_of
from bio_mcp.adapters.embedders.tokens import load_tokenizer, token_ids
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.lazy import Lazy

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

TOKENS_PER_BATCH = 2_048


class HfEmbeddings:
    """The model saved in `directory`, or in its `sentence-transformers` subdirectory if there is one.

    `model_id` names it in the fingerprint and defaults to the directory's name. Loading takes seconds and happens on
    first use. `threads` sets torch's threads for the whole process; None leaves them as they are.
    """

    def __init__(self, directory: Path, *, model_id: str | None = None, threads: int | None = None) -> None:
        published = directory / TORCH_FILES
        self._source = published if published.is_dir() else directory
        self._threads = threads
        self._identity = Lazy(lambda: read_identity(self._source, model_id or directory.name))
        self._tokenizer: Lazy[Tokenizer] = Lazy(lambda: load_tokenizer(self._source / TOKENIZER))
        self._model = Lazy(self._load)

    @property
    def fingerprint(self) -> str:
        return self._identity().fingerprint

    @property
    def dim(self) -> int:
        return self._identity().dim

    @property
    def max_tokens(self) -> int:
        return self._identity().max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text, special tokens included, without truncation."""
        self._identity()  # raises with a remedy if there is no model
        return [len(ids) for ids in token_ids(self._tokenizer(), texts)]

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors, float32, shape (len(texts), dim), in the order of `texts`; longer texts are truncated."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        lengths = [min(length, self.max_tokens) for length in self.count_tokens(texts)]
        for batch in batches(lengths, TOKENS_PER_BATCH):
            vectors[batch] = self._run([texts[index].encode("utf-8", "replace").decode() for index in batch])
        return vectors

    def _run(self, texts: list[str]) -> "Vectors":
        model = self._model()
        try:
            vectors: Vectors = model.encode(
                texts, batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False
            )
        except (RuntimeError, MemoryError) as failure:
            raise EmbeddingFailed("The embedding model failed on this text; try again with less of it.") from failure
        return vectors

    def _load(self) -> Any:
        self._identity()
        try:
            library = importlib.import_module("sentence_transformers")
        except ImportError as missing:
            message = "The embedding provider hf needs sentence-transformers. Install bio-mcp[hf], or use onnx."
            raise EmbeddingFailed(message, retryable=False) from missing
        if self._threads is not None:
            importlib.import_module("torch").set_num_threads(self._threads)
        try:
            return library.SentenceTransformer(str(self._source), device="cpu", local_files_only=True)
        except (OSError, ValueError, RuntimeError) as failure:
            raise damaged() from failure


def read_identity(source: Path, model_id: str) -> Identity:
    """The identity of a model saved in sentence-transformers' layout. Raises `EmbeddingFailed`.

    Vectors are always scaled to length 1, even if the model leaves that to the caller.
    """
    try:
        modules = _read(source / "modules.json")
        pooling = next(module["path"] for module in modules if module["type"].endswith("Pooling"))
        pooled = _read(source / pooling / "config.json")
        limit = _read(source / "sentence_bert_config.json")["max_seq_length"]
        return Identity(
            model_id=model_id,
            weights_sha256=sha256_of(source / "model.safetensors"),
            tokenizer_sha256=sha256_of(source / TOKENIZER),
            dim=pooled["word_embedding_dimension"],
            max_tokens=limit,
            pooling=_pooling(pooled),
        )
    except FileNotFoundError as missing:
        message = (
            "The embedding model is not on this machine, or is not saved as safetensors in sentence-transformers' "
        )
        message += "layout. Run `python -m bio_mcp.adapters.embedders.build --torch-files` for the default model."
        raise EmbeddingFailed(message, retryable=False) from missing
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as unreadable:
        raise damaged() from unreadable


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _pooling(config: dict[str, Any]) -> str:
    """The pooling modes in use ("mean"), from config flags like pooling_mode_mean_tokens."""
    flags = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
    return "+".join(name.removeprefix("pooling_mode_").removesuffix("_tokens") for name in flags)
