"""Reference vectors that an installed model must reproduce: of the default model by sentence-transformers, of the
multilingual one by a plain computation in fp32 with the same weights."""

import base64
import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bio_mcp.ports.stores import Embeddings

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

TOLERANCE = 1e-5  # of any component; runtimes in fp32 differ by 2e-7, 8-bit ones by 7e-3


def golden(file: str | Path = "golden.json") -> "tuple[list[str], Vectors]":
    """The reference texts and their unit vectors, shape (texts, dimensions), in a file of the package or another."""
    place = file if isinstance(file, Path) else files(__package__) / file
    cases = json.loads(place.read_text(encoding="utf-8"))
    rows = [np.frombuffer(base64.b64decode(case["vector"]), dtype="<f4") for case in cases]
    return [case["text"] for case in cases], np.stack(rows)


def largest_difference(embeddings: Embeddings, file: str | Path = "golden.json") -> float:
    """The largest absolute difference of any component from the reference vectors."""
    texts, expected = golden(file)
    return float(np.abs(embeddings.embed(texts) - expected).max())
