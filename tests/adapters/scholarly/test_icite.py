"""NIH iCite at a local server: figures and citations by PMID."""

import pytest

from bio_mcp.adapters.scholarly import Icite
from bio_mcp.deadline import NEVER
from tests.support.scholarly_server.shapes import icite_paper


@pytest.fixture
def icite(service):
    return Icite(service("NIH iCite", "icite/api"))


def test_a_paper_has_its_figures_and_its_citations_in_the_order_of_their_numbers(icite, server):
    clinical = {"cited_by_clin": [12], "is_clinical": True}
    server.papers["7"] = icite_paper(7, references=[30, 4], cited_by=[99, 100, 12], **clinical)
    [paper] = icite.of(["7"], deadline=NEVER).values()
    assert (paper.pmid, paper.title, paper.year, paper.doi) == ("7", "Paper 7", 2016, "10.1000/7")
    assert (paper.citation_count, paper.relative_citation_ratio, paper.percentile) == (3, 1.25, 60.1)
    assert (paper.references, paper.cited_by) == (("4", "30"), ("12", "99", "100"))
    assert (paper.is_clinical, paper.cited_by_clinical, paper.is_provisional) == (True, ("12",), False)


def test_the_forms_of_older_answers_are_read(icite, server):
    older = {"references": "12 5", "cited_by": "", "is_clinical": "Yes", "is_research_article": "No"}
    server.papers["7"] = icite_paper(7) | older
    paper = icite.of(["7"], deadline=NEVER)["7"]
    assert (paper.references, paper.cited_by, paper.is_clinical, paper.is_research) == (("5", "12"), (), True, False)


def test_many_papers_are_asked_for_in_portions(icite, server):
    pmids = [str(each) for each in range(1, 402)]
    server.papers |= {each: icite_paper(each) for each in pmids}
    assert list(icite.of(pmids, deadline=NEVER)) == pmids
    assert [len(each.parameters["pmids"].split(",")) for each in server.requests] == [200, 200, 1]


def test_pmids_that_are_none_are_left_out_and_each_stands_once(icite, server):
    odd = {"references": [5, "5", None, True, "x", -1, "9" * 5_000], "cited_by": {"1": 2}}
    server.papers["7"] = icite_paper(7) | odd
    paper = icite.of(["7"], deadline=NEVER)["7"]
    assert (paper.references, paper.cited_by, paper.citation_count) == (("5",), (), 0)


def test_a_count_that_is_missing_is_that_of_the_citing_papers_and_odd_figures_are_none(icite, server):
    odd = {"citation_count": None, "year": "soon", "relative_citation_ratio": "high", "doi": None, "title": 7}
    server.papers["7"] = icite_paper(7, cited_by=[8, 9]) | odd
    paper = icite.of(["7"], deadline=NEVER)["7"]
    assert (paper.citation_count, paper.year, paper.relative_citation_ratio) == (2, None, None)
    assert (paper.doi, paper.title) == (None, "")
