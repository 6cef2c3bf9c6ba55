"""What every passage index does with an entry, whatever it keeps entries in."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bio_mcp.errors import EmbeddingFailed, ModelMismatch
from bio_mcp.retrieval.passages import Entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors


def check_vectors(entry: Entry, dim: int) -> None:
    """Raises `ModelMismatch` or `EmbeddingFailed` for vectors that do not belong into an index of `dim` numbers."""
    for chunk_id, vector in entry.vectors.items():
        if vector.shape != (dim,):
            raise ModelMismatch(f"The index holds vectors of {dim} numbers, not of {vector.size}; rebuild it.")
        if not np.isfinite(vector).all():
            raise EmbeddingFailed(f"The vector of chunk {chunk_id} of PMID {entry.pmid} is not finite.")


def newest(entries: Iterable[Entry]) -> list[Entry]:
    """Of several entries for one document the last of the highest version."""
    found: dict[str, Entry] = {}
    for entry in entries:
        if entry.pmid not in found or entry.version >= found[entry.pmid].version:
            found[entry.pmid] = entry
    return list(found.values())


def journal_names(entry: Entry) -> set[str]:
    """What a filter may call the entry's journal: its NLM id and its title in lower case."""
    return {name for name in (entry.journal_nlm_id, entry.journal and entry.journal.lower()) if name}


def mean_vector(matrix: "Vectors") -> "NDArray[np.float32]":
    """The mean of unit vectors, as a unit vector."""
    mean: NDArray[np.float32] = matrix.mean(axis=0)
    return (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)


def cosines(matrix: "Vectors", vector: "Vectors") -> list[float | None]:
    """Those of unit vectors to `vector`, in their order. Raises `ModelMismatch` for one of another length."""
    if len(matrix) and matrix.shape[1] != vector.size:
        raise other_model()
    return np.einsum("ij,j->i", matrix, vector).tolist() if len(matrix) else []


def other_model() -> ModelMismatch:
    """The failure for a query's vector of another length than those of the index."""
    return ModelMismatch("The question was embedded by another model than the index; configure the same one.")
