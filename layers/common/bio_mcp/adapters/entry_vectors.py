"""What every passage index does with the vectors and versions of entries."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bio_mcp.errors import EmbeddingFailed, ModelMismatch
from bio_mcp.retrieval.passages import Entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors


def check_vectors(entries: Sequence[Entry], dim: int) -> None:
    """Raise `ModelMismatch` or `EmbeddingFailed` for vectors that do not fit an index of `dim` numbers."""
    vectors = [vector for each in entries for vector in each.vectors.values()]
    for vector in vectors:
        if vector.shape != (dim,):
            raise ModelMismatch(f"The index holds vectors of {dim} numbers, not of {vector.size}; rebuild it.")
    if vectors and not np.isfinite(np.concatenate(vectors)).all():  # all at once: faster
        names = [f"chunk {chunk_id} of PMID {each.pmid}" for each in entries for chunk_id in each.vectors]
        broken = next(name for name, vector in zip(names, vectors, strict=True) if not np.isfinite(vector).all())
        raise EmbeddingFailed(f"The vector of {broken} is not finite.")


def newest(entries: Iterable[Entry]) -> list[Entry]:
    """The entry with the highest version of each document; of equal versions the last."""
    by_pmid: dict[str, Entry] = {}
    for entry in entries:
        if entry.pmid not in by_pmid or entry.version >= by_pmid[entry.pmid].version:
            by_pmid[entry.pmid] = entry
    return list(by_pmid.values())


def journal_names(entry: Entry) -> set[str]:
    """The names by which a filter may find the entry's journal: its NLM id, and its title in lower case."""
    return {name for name in (entry.journal_nlm_id, entry.journal and entry.journal.lower()) if name}


def mean_vector(matrix: "Vectors") -> "NDArray[np.float32]":
    """The mean of unit vectors, as a unit vector."""
    mean: NDArray[np.float32] = matrix.mean(axis=0)
    return (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)


def cosines(matrix: "Vectors", vector: "Vectors") -> list[float | None]:
    """The cosines of unit vectors to `vector`, in their order. Raises `ModelMismatch` for a vector of another
    length."""
    if len(matrix) and matrix.shape[1] != vector.size:
        raise other_model()
    return np.einsum("ij,j->i", matrix, vector).tolist() if len(matrix) else []


def other_model() -> ModelMismatch:
    """The failure for a query's vector of another length than those of the index."""
    return ModelMismatch("The question was embedded by another model than the index; configure the same one.")
