"""The papers of a project come into its review under the ids that they have elsewhere."""

from types import SimpleNamespace

import pytest

from bio_mcp.deadline import Deadline
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.screening.reviews import collect_project
from tests.support.memory_corpus import Corpus, article
from tests.support.sample_corpus import TheseRecords

R = "project:lab"
PAPERS = [article("1", "One"), article("2", "Two", doi="10.1000/two"), article("3", "Three")]


@pytest.fixture
def backends():
    made = Corpus(*PAPERS[:2])
    made.pubmed = TheseRecords(PAPERS)
    return made


def having(backends, *works):
    documents = [ProjectDocument(each, frozenset()) for each in works]
    backends.project_documents = SimpleNamespace(all=lambda _project: documents)
    return backends


def records(backends):
    return {each.record_id: each for each in backends.screenings.records(R)}


def test_a_document_known_by_its_doi_is_the_paper_of_the_corpus_that_has_it(backends):
    having(backends, Work("a", doi="10.1000/two", title="A preprint's title"), Work("b", pmid="3"))
    done = collect_project(R, "lab", backends, Deadline(20))
    assert (done.new, done.unknown) == (2, [])
    assert {name: each.title for name, each in records(backends).items()} == {"2": "Two", "3": "Three"}


def test_a_document_outside_of_pubmed_has_its_title_and_a_name_that_stays(backends):
    works = Work("a", title="A thesis", year=1999), Work("b", title="A paper", doi="10.9/x"), Work("c", source="c.pdf")
    having(backends, *works)
    assert collect_project(R, "lab", backends, Deadline(20)).new == 3
    found = records(backends)
    assert found["doi:10.9/x"].doi == "10.9/x"
    named = {(each.title, each.year) for each in found.values()}
    assert named == {("A thesis", 1999), ("A paper", None), ("c.pdf", None)}
    assert collect_project(R, "lab", backends, Deadline(20)).new == 0
    assert records(backends) == found


def test_all_documents_are_one_search_that_is_of_no_database(backends):
    having(backends, Work("a", pmid="1"), Work("b", title="A thesis"))
    collect_project(R, "lab", backends, Deadline(20))
    [search] = backends.screenings.searches(R)
    assert (search.method, search.database, search.found) == ("other", "documents of the project", 2)
    assert len(search.record_ids) == 2
