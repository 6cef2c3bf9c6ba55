"""`bio-mcp pubmed`: PubMed on the command line, over the local NCBI."""

import pytest
from lxml import etree
from rich.cells import cell_len

from tests.tools.test_pubmed_fetch import RECORD


@pytest.fixture
def pubmed(cli, ncbi):
    cli.ncbi = ncbi.base_url
    ncbi.control.put(RECORD)
    return lambda *argv: cli("pubmed", *argv)


def test_a_search_lists_hits_with_their_titles(pubmed):
    ran = pubmed("search", "cancer OR asthma", "--max", "3", "--from", "2010", "--sort", "pub_date")
    assert ran.code == 0
    first, *lines = ran.out.splitlines()
    assert 'articles for (cancer OR asthma) AND ("2010"[pdat] : "3000"[pdat])' in " ".join([first, *lines])
    body = pubmed("search", "cancer OR asthma", "--max", "3", "--from", "2010", "--sort", "pub_date", "--json").json
    assert all(pmid in ran.out for pmid in body["pmids"])
    assert len(body["briefSummaries"]) == 3


def test_records_are_fetched_however_long_they_are_together(pubmed, ncbi):
    pmids = [str(pmid) for pmid in ncbi.control.pmids()[:60]]
    assert len(pubmed("fetch", *pmids, "--json").json["articles"]) == 60


def test_a_search_says_what_was_left_out(pubmed):
    ran = pubmed("search", "cancr AND xyzzyplugh", "--max", "1")
    assert "PubMed would spell it: cancer" in ran.out
    assert "xyzzyplugh" in ran.err


def test_a_record_is_shown_in_full_and_the_missing_are_named(pubmed):
    ran = pubmed("fetch", "77", "999999999")
    assert "[RETRACTED] On H₂O." in ran.out
    assert "Doe J, Test Group" in ran.out
    assert "PMID 77, DOI 10.1/x" in ran.out
    assert "AIM: To see." in ran.out
    assert "no record 999999999" in ran.err


def test_ncbis_own_text_comes_as_it_is(pubmed):
    assert etree.fromstring(pubmed("fetch", "77", "--as", "xml").out.encode()).findtext(".//PMID") == "77"
    assert "PMID- 77" in pubmed("fetch", "77", "--as", "medline").out


def test_related_articles_are_listed(pubmed):
    ran = pubmed("related", "25760099", "--kind", "citedin", "--max", "2")
    assert ran.out.startswith("1 of 1 article\n\n29232834")
    assert pubmed("related", "25760099", "--json").json["score_kind"] == "relative"


@pytest.mark.parametrize(
    ("style", "part"),
    [
        ("ris", "ER  -"),
        ("bibtex", "@article"),
        ("apa", "Doe, J."),
        ("mla", "Doe, John"),
        ("vancouver", "Doe J"),
        ("csl", '"DOI"'),
    ],
)
def test_a_citation_is_printed_in_its_style(pubmed, style, part):
    assert part in pubmed("cite", "77", "--style", style).out


def test_a_failure_is_one_sentence_and_exit_code_one(pubmed, ncbi):
    assert pubmed("search", "cancer", "--from", "2020/13").code == 2
    ran = pubmed("cite", "999999999")
    assert ran.code == 1
    assert "PubMed has no record 999999999" in ran.err
    assert pubmed("cite", "999999999", "--json").json["error"]["code"] == "NOT_FOUND"


def test_several_are_cited_at_once(pubmed, ncbi):
    another = str(ncbi.control.pmids()[-1])
    ran = pubmed("cite", "77", another, "--style", "ris")
    assert ran.out.count("ER  -") == 2
    assert len(pubmed("cite", "77", another, "--json").json["citations"]) == 2


def test_hits_stand_apart_and_say_their_date_once(pubmed):
    ran = pubmed("search", "cancer", "OR", "asthma", "--max", "20")
    summaries = pubmed("search", "cancer OR asthma", "--json").json["briefSummaries"]
    _, *hits = ran.out.split("\n\n")
    assert [hit.split()[0] for hit in hits] == [each["pmid"] for each in summaries]
    assert any(each["authors"].endswith("et al.") for each in summaries)
    assert "et al.." not in ran.out
    for hit, each in zip(hits, summaries, strict=True):
        assert hit.count(each["pubDate"][:4]) == 1 or each["pubDate"][:4] in each["title"]


@pytest.mark.parametrize("width", [60, 120])
def test_no_line_is_wider_than_the_terminal(pubmed, terminal, width):
    terminal(width)
    for argv in (("search", "cancer"), ("fetch", "77"), ("related", "25760099")):
        assert max(map(cell_len, pubmed(*argv).shown.splitlines())) <= width


def test_what_a_record_has_beyond_its_abstract_is_shown_on_request(pubmed):
    shown = pubmed("fetch", "77", "--include-grant-info", "--include-affiliations").out
    body = pubmed("fetch", "77", "--include-grant-info", "--include-affiliations", "--json").json["articles"][0]
    assert body["grantList"]
    assert body["affiliations"]
    assert all(place in shown for place in body["affiliations"])
    assert f"Grant: {body['grantList'][0]['grantId']}" in shown
    assert "Grant: " not in pubmed("fetch", "77").out


def test_a_record_may_be_had_without_its_abstract_or_its_headings(pubmed):
    assert "AIM: To see." not in pubmed("fetch", "77", "--as", "citation").out
    assert "meshTerms" in pubmed("fetch", "77", "--json").json["articles"][0]
    assert "meshTerms" not in pubmed("fetch", "77", "--no-include-mesh-terms", "--json").json["articles"][0]
