"""snowball, called as every door calls it, over the sample corpus whose papers cite each other in a ring."""

from types import SimpleNamespace

import pytest

from bio_mcp.call import call
from bio_mcp.errors import NcbiFailed
from bio_mcp.tools.snowball import snowball_papers
from tests.support.corpus import Over
from tests.support.sample_corpus import corpus
from tests.support.sample_review import QUERY_KEY


@pytest.fixture(scope="module")
def sample():
    return corpus()


def ask(backends, **arguments):
    return call(snowball_papers, arguments, backends).body


def test_references_and_citing_papers_are_found_with_titles_and_where_they_are_known(sample):
    pmids = [each.pmid for each in sample.articles]
    body = ask(sample, pmids=[pmids[5]], query_key=QUERY_KEY)
    found = {each["pmid"]: each for each in body["papers"]}
    assert set(found) == {pmids[4], pmids[6]}
    assert found[pmids[6]]["ways"] == ["references"]
    assert found[pmids[4]]["ways"] == ["citations"]
    assert found[pmids[6]]["title"] == sample.articles[6].title
    assert found[pmids[6]]["known_in"] == ["corpus", "review"]
    assert (body["found"], body["left_out"], body["status"], body["sources"]) == (2, 0, "complete", ["NIH iCite"])


def test_without_pmids_the_papers_that_the_review_includes_are_the_seeds(sample):
    pmids = [each.pmid for each in sample.articles]
    body = ask(sample, query_key=QUERY_KEY, direction="references")
    assert body["seeds"] == 3
    assert {each["pmid"] for each in body["papers"]} == {pmids[1], pmids[3], pmids[5]}


def test_what_the_review_has_is_left_out_on_request(sample):
    body = ask(sample, query_key=QUERY_KEY, new_only=True)
    assert (body["papers"], body["found"]) == ([], 4)


def test_only_so_many_are_shown_as_are_asked_for(sample):
    body = ask(sample, query_key=QUERY_KEY, top_k=2)
    assert (len(body["papers"]), body["left_out"]) == (2, 2)


def test_papers_without_titles_are_still_found_and_the_answer_is_partial(sample):
    def esummary(_pmids, **_):
        raise NcbiFailed("away")

    away = Over(sample, pubmed=SimpleNamespace(esummary=esummary))
    body = ask(away, pmids=[sample.articles[5].pmid])
    assert (len(body["papers"]), body["status"]) == (2, "partial")
    assert body["papers"][0]["title"] is None


@pytest.mark.parametrize("given", [{}, {"query_key": "unknown"}, {"project": "lab", "query_key": "x", "pmids": ["1"]}])
def test_seeds_are_needed_and_one_review(sample, given):
    assert ask(sample, **given)["error"]["code"] == "VALIDATION"
