"""Projects made and deleted, whenever somebody is killed."""

import pytest

from bio_mcp.errors import InvalidInput, NotFound, StoreFailed
from bio_mcp.ingesting.projects import Options, create_project, delete_project, passages_of
from bio_mcp.ports.projects import ProjectDocument
from tests.support.corpus import Corpus, Over
from tests.support.hooked import Hooked, raising
from tests.support.sample_project import NEWBORNS, add_project, passages

PLAIN = Options()


@pytest.fixture
def backends(tmp_path):
    with Corpus(tmp_path) as corpus:
        yield corpus


def test_a_project_is_made_for_the_configured_model_with_an_empty_index(backends):
    created = create_project("lab/heart", Options(hybrid_enabled=False, top_k=5, max_characters=900), backends)
    project = backends.projects.get("lab/heart")
    assert created.project == project
    assert created.new
    assert (project.collection, project.embed_model) == ("proj-lab-heart", "hashed-words")
    assert (project.hybrid_enabled, project.top_k, project.max_characters) == (False, 5, 900)
    assert backends.collections.model("proj-lab-heart") == ("hashed-words", 384)


def test_one_that_exists_stays_as_it_is_and_what_differs_is_named(backends):
    add_project(backends, "lab")
    again = create_project("lab", Options(hybrid_enabled=False, top_k=5, max_characters=900), backends)
    assert (again.new, again.restored) == (False, False)
    assert len(again.differs) == 3
    assert create_project("lab", PLAIN, backends).differs == ()
    assert backends.projects.get("lab").top_k == PLAIN.top_k
    assert backends.collections.count("proj-lab") == len(passages())


@pytest.mark.parametrize("name", ["", "Lab", "../lab", "lab/", "a b", "lab*", "x" * 101])
def test_an_id_that_no_project_can_have_is_refused(backends, name):
    with pytest.raises(InvalidInput, match="cannot be the id of a project"):
        create_project(name, PLAIN, backends)
    assert backends.projects.all() == []


def test_a_project_that_lost_its_index_gets_an_empty_one_and_its_documents_count_as_unread(backends):
    project = add_project(backends, "lab")
    backends.project_documents.put("lab", ProjectDocument(NEWBORNS, frozenset({"pmid:17727691"}), chunks=2))
    backends.collections.drop(project.collection)
    assert create_project("lab", PLAIN, backends).restored
    assert backends.collections.model(project.collection) == ("hashed-words", 384)
    assert backends.project_documents.all("lab") == []


class Killed(Exception):
    """The process ends here."""


def killing(port, name):
    """A port whose method of this name ends the process before it does anything."""
    return Hooked(port, name, before=raising(Killed))


def test_whoever_is_killed_while_making_a_project_makes_it_again(backends):
    with pytest.raises(Killed):
        create_project("lab", PLAIN, Over(backends, projects=killing(backends.projects, "put")))
    assert backends.projects.all() == []
    assert create_project("lab", PLAIN, backends).new


@pytest.mark.parametrize(
    ("port", "at"), [("collections", "drop"), ("project_documents", "drop"), ("projects", "delete")]
)
def test_whoever_is_killed_while_deleting_one_finds_it_listed_and_deletes_it_again(backends, port, at):
    add_project(backends, "lab")
    backends.project_documents.put("lab", ProjectDocument(NEWBORNS, frozenset({"pmid:17727691"}), chunks=2))
    backends.project_documents.put_cursor("lab", "library", {"version": 7})
    with pytest.raises(Killed):
        delete_project("lab", Over(backends, **{port: killing(getattr(backends, port), at)}))
    assert [each.project_id for each in backends.projects.all()] == ["lab"]
    delete_project("lab", backends)
    assert backends.projects.all() == []
    assert backends.collections.model("proj-lab") is None
    assert backends.project_documents.all("lab") == []
    assert backends.project_documents.cursor("lab", "library") == {}


def test_deleting_a_project_leaves_the_others(backends):
    add_project(backends, "lab")
    add_project(backends, "lab/two")
    delete_project("lab", backends)
    assert passages_of("lab/two", backends) == len(passages())
    with pytest.raises(NotFound, match=r"Available projects: lab/two"):
        passages_of("lab", backends)


def test_what_a_deletion_left_behind_never_comes_back_in_a_new_project(backends):
    project = add_project(backends, "lab")
    backends.projects.delete("lab")
    with pytest.raises(InvalidInput, match="deleted half-way"):
        create_project("lab", PLAIN, backends)
    assert passages_of("lab", backends) == len(passages())
    delete_project("lab", backends)
    assert create_project("lab", PLAIN, backends).new
    assert backends.collections.count(project.collection) == 0


def test_an_outage_is_no_missing_project(backends):
    down = Hooked(backends.projects, before=raising(StoreFailed, "the table cannot be read"))
    with pytest.raises(StoreFailed):
        create_project("lab", PLAIN, Over(backends, projects=down))
