"""Writers of one project take turns: who lost his writes nothing more, and begins again."""

from dataclasses import replace

import pytest

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Conflict, NotFound
from bio_mcp.ingesting.projects import delete_project
from bio_mcp.ingesting.turns import TRIES, in_turns, turn
from bio_mcp.retrieval.project_chunks import collection_name
from tests.ingesting.library import PROJECT
from tests.support.corpus import Over
from tests.support.hooked import Hooked, at

COLLECTION = collection_name(PROJECT)


@pytest.mark.parametrize(
    ("port", "name", "call"),
    [
        ("leases", "take", 1),
        ("project_documents", "put", 1),
        ("collections", "replace", 1),
        ("project_documents", "put", 2),
    ],
)
def test_a_project_that_is_deleted_in_the_middle_of_a_turn_leaves_nothing(library, port, name, call):
    library.write("a.md", "Hearts beat.")
    deleting = at({call}, lambda: delete_project(PROJECT, library))
    meanwhile = Over(library, **{port: Hooked(getattr(library, port), name, after=deleting)})
    if call == 2:
        library.ingest(over=meanwhile)
    else:
        with pytest.raises(NotFound, match="has lost its index"):
            library.ingest(over=meanwhile)
    assert (library.documents_of_project, library.collections.count(COLLECTION), library.projects.all()) == ([], 0, [])


def test_who_lost_a_turn_begins_again_until_there_is_none_to_be_had(library):
    tried = []

    def work(lost):
        tried.append(lost)
        with turn(PROJECT, library):
            if len(tried) <= lost:
                library.leases.take(f"project:{PROJECT}")
            library.project_documents.put_cursor(PROJECT, "library", {"try": len(tried)})
        return len(tried)

    assert in_turns(lambda: work(3), Deadline(0)) == 4
    tried.clear()
    with pytest.raises(Conflict, match="others write into this"):
        in_turns(lambda: work(TRIES), Deadline(0))
    assert library.project_documents.cursor(PROJECT, "library") == {"try": 4}


def test_a_document_that_has_other_chunks_than_its_record_names_is_read_again(library):
    library.write("a.md", "Hearts beat.\n# Two\nThey beat fast.\n# Three\nThey rest.")
    library.ingest()
    [document], chunks = library.documents_of_project, library.chunks
    late = [replace(chunks[0], text="A late writer's text."), chunks[1]]
    vector = library.model.embed([late[0].embedded_text])[0]
    library.collections.replace(COLLECTION, document.doc_id, late, {late[0].chunk_id: vector})
    assert library.ingest().cursor.written == 1
    assert library.chunks == chunks
    assert library.ingest().cursor.unchanged == 1


def test_what_a_client_adds_to_a_document_stays_and_is_no_reason_to_read_it_again(library):
    library.write("a.md", "Hearts beat.")
    library.ingest()
    [chunk] = library.chunks
    own = replace(chunk, chunk_id="mine", position=7, text="My note.")
    library.collections.upsert(COLLECTION, [own], {"mine": library.model.embed(["My note."])[0]})
    assert library.ingest().cursor.unchanged == 1
    assert library.texts == ["Hearts beat.", "My note."]
