"""What the indexes and collections of every engine share: checks of vectors and versions, roles and failures."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bio_mcp.errors import Conflict, EmbeddingFailed, Failure, IndexUnavailable, ModelMismatch, NotFound
from bio_mcp.literature.documents import SectionKind
from bio_mcp.ports.models import PaperIndex, Role
from bio_mcp.retrieval.passages import Entry
from bio_mcp.retrieval.project_chunks import ChunkVectors, ProjectChunk, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors


def check_vectors(vectors: "Mapping[Any, NDArray[np.float32]]", dim: int) -> None:
    """Raise `ModelMismatch` or `EmbeddingFailed` for vectors that do not fit an index of `dim` numbers. Each is of a
    chunk, or of (chunk, PMID)."""
    for vector in vectors.values():
        if vector.shape != (dim,):
            raise ModelMismatch(f"The index holds vectors of {dim} numbers, not of {vector.size}; rebuild it.")
    if vectors and not np.isfinite(np.concatenate(list(vectors.values()))).all():  # all at once: faster
        broken = next(name for name, vector in vectors.items() if not np.isfinite(vector).all())
        name = broken if isinstance(broken, str) else " of PMID ".join(broken)
        raise EmbeddingFailed(f"The vector of chunk {name} is not finite.")


def check_entries(entries: Sequence[Entry], dim: int) -> None:
    check_vectors({(name, entry.pmid): each for entry in entries for name, each in entry.vectors.items()}, dim)


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


def cosines(matrix: "Vectors", vector: "Vectors") -> list[float | None]:
    """The cosines of unit vectors to `vector`, in their order. Raises `ModelMismatch` for a vector of another
    length."""
    if len(matrix) and matrix.shape[1] != vector.size:
        raise other_model()
    return np.einsum("ij,j->i", matrix, vector).tolist() if len(matrix) else []


def other_model() -> ModelMismatch:
    """The failure for a query's vector of another length than those of the index."""
    return ModelMismatch("The question was embedded by another model than the index; configure the same one.")


def vectors_of(chunks: Iterable[Any], given: ChunkVectors, stored: ChunkVectors, of: str = "") -> list[Any]:
    """The vector of each chunk: the given one, or the stored one of the same text. Raises `Conflict` for neither.

    `given` are by chunk id, `stored` by the SHA-256 of what was embedded; `of` says whose chunks they are, if not those
    of a document of a project.
    """
    found = []
    for chunk in chunks:
        vector = given.get(chunk.chunk_id)
        if vector is None and (vector := stored.get(chunk.embedded_sha256)) is None:
            raise Conflict(
                f"The text of chunk {chunk.chunk_id} of {of or chunk.work.doc_id} is not the one whose vector is "
                "stored; embed it again."
            )
        found.append(vector)
    return found


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
    return NotFound(f"There is no collection {collection}: its project was deleted, or never created.")


def other_index_model(indexed: tuple[str, int], fingerprint: str, dim: int) -> ModelMismatch:
    """The failure for an index of papers that holds another model's vectors."""
    return ModelMismatch(
        f"The index holds vectors of the model {indexed[0]} ({indexed[1]} numbers), and {fingerprint} ({dim}) is "
        "configured. Configure the former, or run bio-mcp admin reindex to embed every paper again.",
        indexed=indexed[0],
        configured=fingerprint,
    )


CHUNK_FIELDS, WORK_FIELDS = (tuple(each.name for each in fields(kind)) for kind in (ProjectChunk, Work))


def chunk_values(chunk: ProjectChunk, names: Iterable[str] = CHUNK_FIELDS) -> list[Any]:
    """The values of these fields of a chunk, for JSON."""
    own = {"work": [getattr(chunk.work, name) for name in WORK_FIELDS], "metadata": dict(chunk.metadata)}
    return [own[name] if name in own else getattr(chunk, name) for name in names]


def chunk_of(values: dict[str, Any]) -> ProjectChunk:
    work = dict(zip(WORK_FIELDS, values["work"], strict=False))  # older chunks lack the last fields
    span = values["page_span"]
    return ProjectChunk(
        **values
        | {
            "work": Work(**work | {"authors": tuple(work["authors"]), "tags": tuple(work["tags"])}),
            "section_path": tuple(values["section_path"]),
            "page_span": span and (span[0], span[1]),
            "kind": SectionKind(values["kind"]),
        }
    )


def rebuild_overtaken(collection: str) -> Conflict:
    """The failure for a rebuild of a collection that was deleted, or rebuilt for another model, meanwhile."""
    return Conflict(
        f"The collection {collection} was deleted or rebuilt by somebody else meanwhile; look, then repeat."
    )


def unknown_role(role: Role) -> NotFound:
    begin = " Begin one with bio-mcp admin reindex start --model NAME." if role is Role.NEXT else ""
    return NotFound(f"There is no {role} index of the papers.{begin}")


def back_from(to: Role, there: Collection[Role]) -> Role:
    """Return what the index that was searched becomes by the switch to a role of those that are `there`.

    Raises `NotFound` for a role that is not there, or that of the index which is searched.
    """
    if to not in there or to is Role.SEARCHED:
        raise unknown_role(to)
    return Role.NEXT if to is Role.PREVIOUS else Role.PREVIOUS


def check_begun(there: Sequence[PaperIndex], fingerprint: str, settings: str = "", *, force: bool) -> None:
    """Raise where no index of this model and these settings can be begun, or continued, beside those that are there.

    One like that which is searched is begun only by `force`.
    """
    searched = next((each for each in there if each.role is Role.SEARCHED), None)
    if searched is None:
        raise IndexUnavailable("There is no index of the papers yet: import or sync first.", retryable=False)
    wanted = _described(fingerprint, settings)
    others = [each for each in there if each is not searched]
    for each in others:
        found = _described(each.fingerprint, each.settings)
        if each.role is Role.PREVIOUS or found != wanted:
            raise Conflict(
                f"There is a {each.role} index beside the one that is searched, of {found}: switch to it or remove it "
                f"(bio-mcp admin reindex remove) before one of {wanted} is begun."
            )
    if not (others or force) and _described(searched.fingerprint, searched.settings) == wanted:
        raise Conflict(
            f"The index that is searched is of {wanted} already; bio-mcp admin reindex start --force makes it again."
        )


def _described(fingerprint: str, settings: str) -> str:
    return f"the model {fingerprint} ({settings})" if settings else f"the model {fingerprint}"
