"""Sentence-embedding models run by sentence-transformers: the reference implementation, for any model that it can load.

Needs the extra `hf` (torch, some 5 GB).
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from bio_mcp.adapters.embedders.model_files import TOKENIZER, Identity, damaged, layout_of, sha256_of
from bio_mcp.adapters.embedders.onnx import FAILED, batches, load_tokenizer, token_ids
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.lazy import Lazy

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

TOKENS_PER_BATCH = 2_048
WEIGHTS = "model.safetensors"
TORCH_FILES = "sentence-transformers"  # where former versions put the files as published


class HfEmbeddings:
    """The model saved in `directory`, or in its `sentence-transformers` subdirectory if there is one.

    Only its identity is read before the first use: loading takes seconds.
    """

    def __init__(self, directory: Path) -> None:
        published = directory / TORCH_FILES
        self._source = published if published.is_dir() else directory
        self._identity = read_identity(self._source, directory.name)
        self.fingerprint, self.dim = self._identity.fingerprint, self._identity.dim
        self.max_tokens = self._identity.max_tokens
        self._tokenizer: Lazy[Tokenizer] = Lazy(lambda: load_tokenizer(self._source / TOKENIZER))
        self._model = Lazy(self._load)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in token_ids(self._tokenizer(), texts, self._identity.prefix)]

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return self._embedded(texts, self._identity.prefix)

    def embed_questions(self, texts: Sequence[str]) -> "Vectors":
        return self._embedded(texts, self._identity.before_questions)

    def _embedded(self, texts: Sequence[str], prefix: str) -> "Vectors":
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        lengths = [min(len(ids), self.max_tokens) for ids in token_ids(self._tokenizer(), texts, prefix)]
        for batch in batches(lengths, TOKENS_PER_BATCH):
            clean = [(prefix + texts[index]).encode("utf-8", "replace").decode() for index in batch]
            model = self._model()
            try:
                vectors[batch] = model.encode(
                    clean, batch_size=len(clean), normalize_embeddings=True, show_progress_bar=False, prompt=""
                )
            except (RuntimeError, MemoryError) as failure:
                raise EmbeddingFailed(FAILED) from failure
        return vectors

    def _load(self) -> Any:
        try:
            library = importlib.import_module("sentence_transformers")
        except ImportError as missing:
            message = "The embedding provider hf needs sentence-transformers. Install bio-mcp[hf], or use onnx."
            raise EmbeddingFailed(message, retryable=False) from missing
        try:
            return library.SentenceTransformer(str(self._source), device="cpu", local_files_only=True)
        except (OSError, ValueError, RuntimeError) as failure:
            raise damaged() from failure


def read_identity(source: Path, model_id: str) -> Identity:
    """The identity of a model saved in sentence-transformers' layout. Raises `EmbeddingFailed`.

    Vectors are always scaled to length 1, even if the model leaves that to the caller.
    """
    try:
        layout = layout_of(source)
        if layout.pooling is None or not (layout.dim and layout.max_tokens):
            raise ValueError("its files do not say how it makes a vector")
        made = Identity(
            model_id=model_id,
            weights_sha256=sha256_of(source / WEIGHTS),
            tokenizer_sha256=sha256_of(source / TOKENIZER),
            dim=layout.dim,
            max_tokens=layout.max_tokens,
            pooling=layout.pooling,
            prefix=layout.prefix,
            projection_sha256="+".join(sha256_of(each / WEIGHTS) for each in layout.dense),
        )
        return made.asked_with(layout.question_prefix)
    except FileNotFoundError as missing:
        message = (
            "The embedding model is not on this machine, or is not saved as safetensors in sentence-transformers' "
        )
        message += "layout. Put its published files into a folder of its name in BIO_MCP_MODELS."
        raise EmbeddingFailed(message, retryable=False) from missing
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as unreadable:
        raise damaged() from unreadable
