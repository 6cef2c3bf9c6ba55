"""Papers come into a review once each, with their text, from the corpus or else from PubMed, and with their search."""

from types import SimpleNamespace

import pytest

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NcbiFailed
from bio_mcp.literature.records import AbstractSection
from bio_mcp.ports.ncbi import SearchPage
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.screening import collecting
from bio_mcp.screening.collecting import BY_HAND, collect, collect_project, record_of, search_pubmed
from tests.support.hooked import raising
from tests.support.memory_corpus import Corpus, article
from tests.support.sample_corpus import TheseRecords

R = "query:x"
IN_PUBMED = [article(str(number), f"Title {number}", doi=f"10.1000/{number}") for number in range(1, 9)]


class Pubmed(TheseRecords):
    """PubMed that notes what is fetched."""

    def __init__(self, articles, count=None):
        super().__init__(articles)
        self.fetched, self.count = [], count

    def esearch(self, term, **options):
        page = super().esearch(term, **options)
        return SearchPage(self.count or page.count, page.ids, term)

    def efetch(self, pmids, **options):
        self.fetched.append(list(pmids))
        return super().efetch(pmids, **options)


@pytest.fixture
def backends():
    made = Corpus(*IN_PUBMED[:2])
    made.pubmed = Pubmed(IN_PUBMED)
    return made


def records(backends):
    return backends.screenings.records(R)


def ids(backends):
    return [each.record_id for each in records(backends)]


def test_papers_of_the_corpus_are_read_there_and_others_fetched(backends):
    done = collect(R, ["2", "3", "1", "3", "77"], BY_HAND, backends, Deadline(20))
    assert ids(backends) == ["1", "2", "3"]
    assert backends.pubmed.fetched == [["3", "77"]]
    assert (done.new, done.known, done.unknown, done.left) == (3, 0, ["77"], 0)


def test_a_record_has_the_labelled_abstract_and_the_year():
    paper = article("5", "A title.", year=2019, doi="10.1/x")
    paper.abstract = (AbstractSection("METHODS", None, "One."), AbstractSection(None, None, "Two."))
    found = record_of(paper)
    assert (found.record_id, found.title, found.abstract) == ("5", "A title.", "METHODS: One. Two.")
    assert (found.year, found.doi) == (2019, "10.1/x")


def test_a_search_is_stored_with_what_it_returned_duplicates_included(backends):
    collect(R, ["1"], BY_HAND, backends, Deadline(20))
    search_pubmed(R, " statins[ti] ", backends, Deadline(20))
    [by_hand, search] = sorted(backends.screenings.searches(R), key=lambda each: each.method, reverse=True)
    assert (by_hand.database, by_hand.found, by_hand.record_ids) == ("chosen by hand", 1, ("1",))
    assert (search.database, search.term, search.found) == ("PubMed", "statins[ti]", 8)
    assert len(search.record_ids) == 8


def test_the_same_search_on_the_same_day_is_one(backends):
    for pmids in (["1"], ["1", "2"]):
        collect(R, pmids, BY_HAND, backends, Deadline(20))
    [search] = backends.screenings.searches(R)
    assert (search.record_ids, search.found) == (("1", "2"), 2)


def test_a_search_that_pubmed_cannot_list_is_refused_and_adds_nothing(backends):
    backends.pubmed = Pubmed(IN_PUBMED, count=12_345)
    with pytest.raises(InvalidInput, match=r"12345 records and lists 9999"):
        search_pubmed(R, "cancer", backends, Deadline(20))
    assert (ids(backends), backends.screenings.searches(R)) == ([], [])


def test_a_call_that_runs_out_of_time_says_how_many_are_left_and_the_next_goes_on(backends):
    more = [article(str(number), f"Title {number}") for number in range(1_000, 1_450)]
    backends.pubmed = Pubmed(more)
    pmids = [each.pmid for each in more]
    done = collect(R, pmids, BY_HAND, backends, Deadline(collecting.SPARE_S - 1))
    assert (done.new, done.left, len(ids(backends))) == (200, 250, 200)
    [search] = backends.screenings.searches(R)
    assert len(search.record_ids) == 200
    done = collect(R, pmids, BY_HAND, backends, Deadline(20))
    assert (done.new, done.known, done.left) == (250, 200, 0)


def test_an_outage_of_pubmed_fails_and_leaves_no_search(backends):
    backends.pubmed.efetch = raising(NcbiFailed, "NCBI does not answer")
    with pytest.raises(NcbiFailed):
        collect(R, ["1", "5"], BY_HAND, backends, Deadline(20))
    assert backends.screenings.searches(R) == []


def test_a_review_has_no_more_records_than_can_be_ranked(backends):
    pmids = [str(number) for number in range(1, collecting.MOST_RECORDS + 2)]
    with pytest.raises(InvalidInput, match="20000 are the most"):
        collect(R, pmids, BY_HAND, backends, Deadline(20))


def having(backends, *works):
    documents = [ProjectDocument(each, frozenset()) for each in works]
    backends.projects = SimpleNamespace(get=lambda project_id: project_id)
    backends.project_documents = SimpleNamespace(all=lambda _project: documents)
    return backends


def test_a_document_known_by_its_doi_is_the_paper_of_the_corpus_that_has_it(backends):
    having(backends, Work("a", doi="10.1000/2", title="A preprint's title"), Work("b", pmid="3"))
    done = collect_project(R, "lab", backends, Deadline(20))
    assert (done.new, done.unknown) == (2, [])
    assert {each.record_id: each.title for each in records(backends)} == {"2": "Title 2", "3": "Title 3"}


def test_a_document_outside_of_pubmed_has_its_title_and_a_name_that_stays(backends):
    works = Work("a", title="A thesis", year=1999), Work("b", title="A paper", doi="10.9/x"), Work("c", source="c.pdf")
    having(backends, *works)
    assert collect_project(R, "lab", backends, Deadline(20)).new == 3
    found = records(backends)
    assert "doi:10.9/x" in ids(backends)
    named = {(each.title, each.year) for each in found}
    assert named == {("A thesis", 1999), ("A paper", None), ("c.pdf", None)}
    assert collect_project(R, "lab", backends, Deadline(20)).new == 0
    assert records(backends) == found


def test_all_documents_are_one_search_that_is_of_no_database(backends):
    having(backends, Work("a", pmid="1"), Work("b", title="A thesis"))
    collect_project(R, "lab", backends, Deadline(20))
    [search] = backends.screenings.searches(R)
    assert (search.method, search.database, search.found) == ("other", "documents of the project", 2)
    assert len(search.record_ids) == 2
