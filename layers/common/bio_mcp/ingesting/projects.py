"""Projects: made, and deleted with all that they hold."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from bio_mcp.errors import IndexUnavailable, InvalidInput, NotFound
from bio_mcp.ingesting.documents import document_named
from bio_mcp.ingesting.files import delete_files, delete_pdfs
from bio_mcp.ingesting.turns import in_turns, turn
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import MAX_CHARACTERS, TOP_K, Project, ProjectDocument
from bio_mcp.ports.stores import Embeddings, review_of_project
from bio_mcp.retrieval.project_chunks import MAKES, collection_name
from bio_mcp.scope import call_deadline


@dataclass(frozen=True, slots=True)
class Options:
    """What a project is made with: whether it is searched by words, hits of a search and characters of one at most."""

    hybrid_enabled: bool = True
    top_k: int = TOP_K
    max_characters: int = MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class Created:
    """A project, whether it is `new`, and what an existing one has otherwise than asked, as sentences.

    `restored`: it existed and had lost its index, which is now empty.
    """

    project: Project
    new: bool
    restored: bool = False
    differs: tuple[str, ...] = ()


def create_project(project_id: str, options: Options, backends: Backends) -> Created:
    """Make a project for the configured model, with an empty index; one that exists stays as it is.

    Where an existing one has lost its index, it gets an empty one, and its documents count as unread. Raises
    `InvalidInput` for an impossible id, and for one whose project was deleted half-way: its passages would come back.
    """
    collection, model = collection_name(project_id), backends.embeddings
    begun = False  # in a turn that was lost: what is in the index since then is no remainder

    def create() -> Created:
        nonlocal begun
        with turn(project_id, backends):
            found: Project | None = None
            with suppress(NotFound):
                found = backends.projects.get(project_id)
            if found and backends.collections.model(collection) is not None:
                return Created(found, new=False, differs=tuple(_differences(found, options)))
            if found:
                project = replace(found, embed_model=model.fingerprint)
                delete_pdfs(project_id, backends.project_documents.all(project_id), backends.blobs)
                backends.project_documents.drop(project_id)
            elif not begun and backends.collections.count(collection):
                raise InvalidInput(
                    f"{project_id} has passages of a project that was deleted half-way: delete it again, then create it"
                )
            else:
                project = Project(project_id, collection, model.fingerprint, **asdict(options))
            backends.collections.create(collection, model.fingerprint, model.dim)
            begun = True
            backends.projects.put(project)  # after its index, so that a project has one
            return Created(
                project, new=found is None, restored=bool(found), differs=tuple(_differences(project, options))
            )

    return in_turns(create, call_deadline())


def model_for(project: Project, backends: Backends) -> Embeddings:
    """The model of a project's vectors, if it is here; else that of the papers, which its index then refuses."""
    model = backends.embeddings
    if project.embed_model == model.fingerprint:
        return model
    return backends.models.of(project.embed_model) or model


def as_indexed(project: Project, backends: Backends) -> Project:
    """The project by the model that its index is of: whoever rebuilt that may have been killed before it recorded so.

    Raises as `index_of` does.
    """
    return replace(project, embed_model=index_of(project, backends)[0])


def rebound(project: Project, backends: Backends) -> Project:
    """The project, recorded by the model that its index is of. Raises as `index_of` does."""
    if as_indexed(project, backends) == project:
        return project

    def rebind() -> Project:
        with turn(project.project_id, backends):
            found = as_indexed(backends.projects.get(project.project_id), backends)
            backends.projects.put(found)
        return found

    return in_turns(rebind, call_deadline())


def lost_index(project: Project) -> NotFound:
    """The failure for a project without an index, or one that is deleted by now, for who writes into it."""
    return NotFound(f"Project {project.project_id!r} has lost its index; {MAKES} it anew")


def index_of(project: Project, backends: Backends) -> tuple[str, int]:
    """Fingerprint and dimension of the model of a project's index.

    A project is made after its index. Raises `IndexUnavailable` for one that has lost it, and says how it gets one.
    """
    held = backends.collections.model(project.collection)
    if held is None:
        raise IndexUnavailable(
            f"Project {project.project_id!r} has lost its index; {MAKES} it anew, then ingest its documents again",
            retryable=False,
            project_id=project.project_id,
        )
    return held


def _differences(project: Project, asked: Options) -> Iterator[str]:
    if project.hybrid_enabled != asked.hybrid_enabled:
        yield "it is searched by words too" if project.hybrid_enabled else "it is not searched by words"
    if project.top_k != asked.top_k:
        yield f"a search returns {project.top_k} hits at most"
    if project.max_characters != asked.max_characters:
        yield f"a hit has {project.max_characters} characters at most"


def passages_of(project_id: str, backends: Backends) -> int:
    """The number of passages that `delete_project` deletes. Raises `NotFound` where there is nothing to delete."""
    count = backends.collections.count(collection_name(project_id))
    if not count:
        backends.projects.get(project_id)
    return count


def delete_documents(
    project: Project, documents: Sequence[ProjectDocument], backends: Backends, kept: ProjectDocument | None = None
) -> None:
    """Delete the documents but `kept`, and the PDFs of all of them but the one that this has. It takes a turn.

    A document goes last: whoever is killed half-way finds it, and deletes it again.
    """
    gone = [each.doc_id for each in documents if kept is None or each.doc_id != kept.doc_id]
    for doc_id in gone:
        backends.collections.replace(project.collection, doc_id, [], {})
    delete_pdfs(project.project_id, documents, backends.blobs, kept)
    if gone:
        backends.project_documents.delete(project.project_id, gone)


def delete_document(project: Project, named: str, backends: Backends) -> ProjectDocument:
    """Delete the document of this citekey, DOI, PMID or id, with its passages and its PDF. Raises `NotFound`."""

    def delete() -> ProjectDocument:
        with turn(project.project_id, backends):
            document = document_named(project.project_id, named, backends.project_documents)
            delete_documents(project, [document], backends)
        return document

    return in_turns(delete, call_deadline())


def delete_project(project_id: str, backends: Backends) -> None:
    """Delete the project, its index, its documents, their files, its review and how far libraries were read into it.

    The project goes last: whoever is killed half-way finds it listed, and deletes it again. Who writes into it
    meanwhile is refused.
    """

    def delete() -> None:
        with turn(project_id, backends):
            backends.collections.drop(collection_name(project_id))
            delete_files(project_id, backends.blobs)
            backends.project_documents.drop(project_id)
            backends.screenings.drop(review_of_project(project_id))
            backends.projects.delete(project_id)

    in_turns(delete, call_deadline())
