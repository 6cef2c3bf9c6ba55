"""kill -9 of a real process at each step of an ingest, and the run that heals it."""

import signal

import pytest

from tests.ingesting.library import digest, opened
from tests.support.killing import killing

WRITES = ["jobs.put", "collections.replace", "project_documents.put"]
ONCE = ["project_documents.delete", "leases.release"]
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
