"""kill -9 of a real process at each step of an ingest, and the run that heals it."""

import signal

import pytest

from bio_mcp.answering.project_search import ProjectQuestion, search_projects
from tests.ingesting.library import PROJECT, digest, opened
from tests.support.corpus import HashedWords
from tests.support.killing import killing

WRITES = ["jobs.put", "collections.replace", "project_documents.put"]
ONCE = ["project_documents.delete", "leases.take", "leases.release"]
READS = ["sources.read", "parser.parse", "embeddings.embed"]
KILLS = [(step, nth, when) for step in WRITES for nth in (1, 2) for when in ("before", "after")]
KILLS += [(step, 1, when) for step in ONCE for when in ("before", "after")]
KILLS += [(step, 2, "before") for step in READS]


def write_files(library):
    """An edited file, a new one, a copy of a known paper, and one that shows that two documents are one."""
    library.write("a.md", "# One\nHearts beat.\n# Two\nThey beat fast.")
    library.write("b.md", "doi: 10.1000/b\nKidneys filter.")
    library.write("c.md", "pmid: 123\nLungs breathe.")
    library.ingest()
    library.write("a.md", "# One\nHearts beat.\n# Two\nThey beat slowly.")
    library.write("d.md", "doi: 10.1000/b\npmid: 123\nBoth at once.")
    library.write("e.md", "Livers are large.")


@pytest.fixture(scope="module")
def killed():
    """Runs one ingest that kills itself, and gives its exit code."""
    with killing("tests.ingesting.killed") as run:
        yield run


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What the library holds after a run that nobody killed."""
    with opened(tmp_path_factory.mktemp("undisturbed")) as library:
        write_files(library)
        library.ingest()
        return library.texts


@pytest.mark.parametrize(("step", "nth", "when"), KILLS)
def test_an_ingest_killed_anywhere_is_healed_by_the_next_run(tmp_path, killed, undisturbed, step, nth, when):
    with opened(tmp_path) as library:
        write_files(library)
    assert killed(str(tmp_path), step, nth, when) == -signal.SIGKILL
    with opened(tmp_path) as library:
        assert library.ingest().state == "complete"
        assert library.texts == undisturbed
        once = digest(library)
        embedded = library.model.embedded
        assert library.ingest().cursor.written == 0
        assert (digest(library), library.model.embedded) == (once, embedded)


@pytest.mark.parametrize(
    ("step", "nth", "when"), [("collections.replace", 1, "after"), ("project_documents.put", 1, "after")]
)
@pytest.mark.parametrize("known", [("", ""), ("doi: 10.1000/a\n", "doi: 10.1000/b\n")], ids=["", "another paper"])
def test_of_a_file_that_is_edited_after_a_kill_nothing_else_is_left(tmp_path, killed, known, step, nth, when):
    before, after = known
    with opened(tmp_path) as library:
        library.write("a.md", f"{before}Hearts beat.\n# Two\nThey beat fast.")
    assert killed(str(tmp_path), step, nth, when) == -signal.SIGKILL
    with opened(tmp_path) as library:
        library.write("a.md", f"{after}Livers are large.")
        assert library.ingest().state == "complete"
        assert library.texts == ["Livers are large."]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["collections.rebuild", "leases.take", "projects.put"])
def test_a_project_whose_rebuild_was_killed_anywhere_is_searched_and_ingested_into(tmp_path, killed, step, when):
    with opened(tmp_path) as library:
        library.write("a.md", "Hearts beat.")
        library.ingest()
    assert killed(str(tmp_path), step, 1, when, "-2") == -signal.SIGKILL
    with opened(tmp_path) as library:
        library.model, library.other_models = HashedWords("-2"), [HashedWords()]
        collection = library.projects.get(PROJECT).collection
        for _ in range(2):
            [hit] = search_projects(ProjectQuestion("Hearts beat.", (PROJECT,), hybrid=False), library).hits
            assert (hit.text, hit.score > 0.5) == ("Hearts beat.", True)
            assert library.ingest().state == "complete"
        assert library.collections.model(collection)[0] == library.projects.get(PROJECT).embed_model
