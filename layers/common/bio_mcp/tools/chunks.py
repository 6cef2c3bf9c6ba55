"""Chunks that a client made and embedded itself, into a project."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field

from bio_mcp.errors import InvalidInput, ModelMismatch
from bio_mcp.ingesting.projects import index_of
from bio_mcp.ports import Backends
from bio_mcp.retrieval.ranking import unit_vector
from bio_mcp.tool import Context, Request, Response, tool, unpublished
from bio_mcp.tools.fields import CITELOOM, ProjectId
from bio_mcp.tools.payloads import checked_metadata, chunk_from

MOST_NUMBERS = 8_192  # of an embedding, of whatever model
BATCH = 100  # chunks from which a call is worth its round trip, says the contract


class StoredItem(Request):
    """A chunk with its vector. `metadata` is a payload as either document of the contract has it."""

    most_items: ClassVar[int] = MOST_NUMBERS

    id: str = Field(min_length=1, max_length=128, json_schema_extra=unpublished)
    text: str = Field(min_length=1)
    embedding: list[float]
    metadata: dict[str, Any] = Field(description="citekey, doi, year, tags, page_start, section_path, ...")


class ChunksToStore(Request):
    project: ProjectId
    items: list[StoredItem] = Field(min_length=1, max_length=500)


class StoredChunks(Response):
    chunks_written: int = Field(ge=0)
    project: str
    embed_model: str
    warnings: list[str]


@tool("store_chunks", family=CITELOOM, scope="ingest", timeout=15, read_only=False, destructive=True)
def store_chunks(request: ChunksToStore, backends: Backends, context: Context) -> StoredChunks:
    """Store chunks that you embedded by the project's model; equal ids are replaced."""
    project = backends.projects.get(request.project)
    model, dim = index_of(project, backends)
    items = request.items
    _check(items, model)
    chunks = [chunk_from(each.id, each.text, each.metadata) for each in items]
    vectors = {each.id: unit_vector(each.embedding, dim, f"items.{at}.embedding") for at, each in enumerate(items)}
    context.deadline.check("storing the chunks, of which none was stored")
    backends.collections.upsert(project.collection, chunks, vectors, model)
    warnings = list(_warnings(items, request.project))
    return StoredChunks(chunks_written=len(chunks), project=request.project, embed_model=model, warnings=warnings)


def _check(items: Sequence[StoredItem], model: str) -> None:
    """Raise for an id that stands twice, for metadata that cannot be stored and for another embedding model."""
    seen: set[str] = set()
    for at, each in enumerate(items):
        checked_metadata(each.metadata, f"items.{at}.metadata")
        if each.id in seen:
            raise InvalidInput(f"items.{at}.id: {each.id!r} stands twice; an id names one chunk")
        if each.metadata.get("embed_model", model) != model:
            raise ModelMismatch(
                f"items.{at}.metadata.embed_model is {str(each.metadata['embed_model'])[:100]}, and the project holds "
                f"vectors of {model}: embed the text by that model, or let ingest_from_source do it",
                collection_model=model,
            )
        seen.add(each.id)


def _warnings(items: Sequence[StoredItem], project: str) -> Iterator[str]:
    if len(items) < BATCH:
        yield f"{len(items)} chunks were stored in one call; {BATCH} to 500 take fewer calls"
    named = ({"project", "project_id"} & each.metadata.keys() for each in items)
    others = sum(any(each.metadata[key] != project for key in keys) for each, keys in zip(items, named, strict=True))
    if others:
        yield f"metadata of {others} chunks names another project, which was ignored: they are in {project!r}"
