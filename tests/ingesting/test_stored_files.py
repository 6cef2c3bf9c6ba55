"""The PDFs that are kept go with their document and with their project, whenever somebody is killed."""

import pytest

from bio_mcp.deadline import NEVER, silent
from bio_mcp.errors import NotFound
from bio_mcp.ingesting.files import LOGS, UPLOADS, delete_pdfs, folder_of, stored_pdf_key
from bio_mcp.ingesting.projects import Options, create_project, delete_document, delete_project
from bio_mcp.ingesting.sources import Options as Read
from bio_mcp.ingesting.sources import ingest
from bio_mcp.jobs.runner import RunContext
from bio_mcp.tenants import CallBackends
from tests.ingesting.library import PROJECT
from tests.ingesting.test_projects import Killed, killing
from tests.support.corpus import Over
from tests.support.hooked import Hooked, at, raising
from tests.tenants.two_tenants import NORTH

PDF = b"title: A trial\n# Results\nversion: %PDF-1.7\nThe drug lowers mortality in adults."
EDITED = PDF.replace(b"lowers", b"raises")
OTHER = "lab/other"


def stored_pdfs(library):
    """What is kept among the blobs, in whatever folder."""
    return sorted(each.read_bytes() for each in files_of(library))


def files_of(library):
    return [each for each in (library.home / "blobs").rglob("*") if each.is_file()]


def read_into(backends, project_id, library):
    create_project(project_id, Options(), backends)
    context = RunContext(backends, NEVER, silent)
    ingest({"project": project_id, "source": str(library.files)}, Read(), context, local=True)


def test_the_files_of_a_project_go_with_it_and_those_of_others_stay(library):
    library.write("trial.pdf", PDF)
    library.ingest()
    for kind in (UPLOADS, LOGS):
        library.blobs.put(folder_of(PROJECT, kind), PDF)
    read_into(library, OTHER, library)
    read_into(north := CallBackends(library, NORTH, local=True), PROJECT, library)
    delete_project(PROJECT, library)
    assert stored_pdfs(library) == [PDF, PDF]
    for backends, project_id in ((library, OTHER), (north, PROJECT)):
        [document] = backends.project_documents.all(project_id)
        assert backends.blobs.get(stored_pdf_key(document)) == PDF
    delete_project(PROJECT, north)
    delete_project(OTHER, library)
    assert stored_pdfs(library) == []


@pytest.mark.parametrize(
    ("port", "name"),
    [("collections", "drop"), ("blobs", "drop"), ("project_documents", "drop"), ("projects", "delete")],
)
def test_who_deletes_a_project_again_after_a_kill_leaves_no_file(library, port, name):
    library.write("trial.pdf", PDF)
    library.ingest()
    with pytest.raises(Killed):
        delete_project(PROJECT, Over(library, **{port: killing(getattr(library, port), name)}))
    assert [each.project_id for each in library.projects.all()] == [PROJECT]
    delete_project(PROJECT, library)
    assert stored_pdfs(library) == []


def test_a_project_that_lost_its_index_loses_the_files_of_its_documents_with_these(library):
    library.write("trial.pdf", PDF)
    library.ingest()
    library.collections.drop(library.projects.get(PROJECT).collection)
    assert create_project(PROJECT, Options(), library).restored
    assert (stored_pdfs(library), library.documents_of_project) == ([], [])
    library.ingest()
    assert stored_pdfs(library) == [PDF]


@pytest.mark.parametrize(
    ("port", "name"), [("collections", "replace"), ("blobs", "delete"), ("project_documents", "delete")]
)
def test_a_document_that_is_deleted_leaves_nothing_also_if_the_first_try_was_killed(library, port, name):
    library.write("trial.pdf", PDF)
    library.write("other.md", "Hearts beat.")
    library.ingest()
    [doc_id] = [each.doc_id for each in library.documents_of_project if stored_pdf_key(each)]
    project = library.projects.get(PROJECT)
    with pytest.raises(Killed):
        delete_document(project, doc_id, Over(library, **{port: killing(getattr(library, port), name)}))
    assert delete_document(project, doc_id, library).doc_id == doc_id
    assert (stored_pdfs(library), library.texts) == ([], ["Hearts beat."])
    with pytest.raises(NotFound, match="no document of the name"):
        delete_document(project, doc_id, library)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_file_that_is_kept_while_its_project_is_deleted_is_not_left(library, when):
    library.write("trial.pdf", PDF)
    deleting = at({1}, lambda: delete_project(PROJECT, library))
    with pytest.raises(NotFound, match="has lost its index"):
        library.ingest(over=Over(library, blobs=Hooked(library.blobs, "put", **{when: deleting})))
    assert stored_pdfs(library) == []


def test_the_file_that_a_document_was_read_from_before_is_gone_once_it_is_read_from_another(library):
    library.write("trial.pdf", PDF)
    library.ingest()
    library.write("trial.pdf", EDITED)
    library.ingest()
    assert stored_pdfs(library) == [EDITED]
    library.write("trial.pdf", EDITED.replace(b"%PDF-1.7", b"plain"))
    library.ingest()
    assert stored_pdfs(library) == []


def test_of_documents_that_turn_out_to_be_one_work_one_file_stays(library):
    library.write("a.pdf", b"doi: 10.1000/b\n" + PDF)
    library.write("b.pdf", b"pmid: 123\n" + PDF)
    library.ingest()
    library.write("c.pdf", both := b"doi: 10.1000/b\npmid: 123\n" + PDF)
    library.ingest()
    [document] = library.documents_of_project
    assert stored_pdfs(library) == [library.blobs.get(stored_pdf_key(document))]
    assert library.blobs.get(stored_pdf_key(document)) != both  # the text of the file that was read first stays


WRITES = [
    ("project_documents", "put", 1),
    ("collections", "replace", 1),
    ("blobs", "put", 1),
    ("project_documents", "put", 2),
]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("is_known", "port", "name", "nth"),
    [*((False, *each) for each in WRITES), *((True, *each) for each in (*WRITES, ("blobs", "delete", 1)))],
)
def test_whoever_is_killed_while_reading_leaves_no_file_that_its_document_does_not_name(
    library, port, name, nth, when, is_known
):
    library.write("trial.pdf", PDF)
    if is_known:
        library.ingest()
        library.write("trial.pdf", EDITED)
    dying = Hooked(getattr(library, port), name, **{when: at({nth}, raising(Killed))})
    with pytest.raises(Killed):
        library.ingest(over=Over(library, **{port: dying}))
    deleted = []
    delete_pdfs(PROJECT, library.documents_of_project, Hooked(library.blobs, delete=deleted.append))
    assert {str(each.relative_to(library.home / "blobs")) for each in files_of(library)} <= {*deleted}
    library.ingest()
    [document] = library.documents_of_project
    assert stored_pdfs(library) == [library.blobs.get(stored_pdf_key(document))] == [EDITED if is_known else PDF]
