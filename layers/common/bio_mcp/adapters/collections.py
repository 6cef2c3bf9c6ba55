"""What the collections of every engine share."""

import numpy as np

from bio_mcp.errors import Conflict, EmbeddingFailed, Failure, ModelMismatch, NotFound
from bio_mcp.retrieval.project_chunks import ChunkVectors, ProjectChunk


def check_chunk_vectors(vectors: ChunkVectors, dim: int) -> None:
    """Raise `ModelMismatch` or `EmbeddingFailed` for vectors that do not fit a collection of `dim` numbers."""
    for chunk_id, vector in vectors.items():
        if vector.shape != (dim,):
            raise ModelMismatch(
                f"The project's index holds vectors of {dim} numbers, not of {vector.size}; rebuild it."
            )
        if not np.isfinite(vector).all():
            raise EmbeddingFailed(f"The vector of chunk {chunk_id} is not finite.")


def other_collection_model(collection: str, indexed: str, configured: str) -> ModelMismatch:
    """The failure for a collection that holds another model's vectors."""
    return ModelMismatch(
        f"The collection {collection} holds vectors of the model {indexed}, and {configured} is configured. Configure "
        "the former, or ingest with force_rebuild to embed every chunk again.",
        indexed=indexed,
        configured=configured,
    )


def check_same_model(collection: str, indexed: str, model: str, failure: type[Failure]) -> None:
    """Raise `failure` for vectors of another model than the collection's, which it is of since it was rebuilt."""
    if model not in ("", indexed):
        raise failure(f"The collection {collection} was rebuilt for another model meanwhile; repeat the call.")


def unknown_collection(collection: str) -> NotFound:
    """The failure for writing to a collection that does not exist."""
    return NotFound(f"There is no collection {collection}: its project was deleted, or never created.")


def no_vector(chunk: ProjectChunk) -> Conflict:
    """The failure for a chunk that came without a vector, while none of the same text is stored."""
    return Conflict(
        f"The text of chunk {chunk.chunk_id} of {chunk.work.doc_id} is not one whose vector is stored; embed it again."
    )


def rebuild_overtaken(collection: str) -> Conflict:
    """The failure for a rebuild of a collection that was deleted, or rebuilt for another model, meanwhile."""
    return Conflict(
        f"The collection {collection} was deleted or rebuilt by somebody else meanwhile; look, then repeat."
    )
