"""Reference vectors, made by sentence-transformers, that every runtime of the default model must reproduce."""

import base64
import json
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from bio_mcp.ports.stores import Embeddings

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

TOLERANCE = 1e-5  # of any component; runtimes in fp32 differ by 2e-7, 8-bit ones by 7e-3


def golden() -> "tuple[list[str], Vectors]":
    """The reference texts and their unit vectors, shape (texts, 384)."""
    cases = json.loads((files(__package__) / "golden.json").read_text(encoding="utf-8"))
    rows = [np.frombuffer(base64.b64decode(case["vector"]), dtype="<f4") for case in cases]
    return [case["text"] for case in cases], np.stack(rows)


def largest_difference(embeddings: Embeddings) -> float:
    """The largest absolute difference of any component from the reference vectors."""
    texts, expected = golden()
    return float(np.abs(embeddings.embed(texts) - expected).max())
