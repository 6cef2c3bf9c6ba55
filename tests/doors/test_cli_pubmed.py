"""`bio-mcp pubmed`: PubMed on the command line, over the local NCBI."""

import pytest
from lxml import etree

from tests.literature.medline.records import fixture_records, wrapped
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
    assert 'found for (cancer OR asthma) AND ("2010"[pdat] : "3000"[pdat])' in " ".join([first, *lines])
    body = pubmed("search", "cancer OR asthma", "--max", "3", "--from", "2010", "--sort", "pub_date", "--json").json
    assert all(pmid in ran.out for pmid in body["pmids"])
    assert len(body["briefSummaries"]) == 3


def test_a_search_says_what_was_left_out(pubmed):
    ran = pubmed("search", "cancr AND xyzzyplugh", "--max", "1")
    assert "suggested term cancer" in " ".join(ran.out.split())
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
    assert ran.out.startswith("1 of 1\n\n")
    assert "PMID 29232834" in ran.out
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


def test_what_a_record_has_beyond_its_abstract_is_shown_on_request(pubmed):
    shown = pubmed("fetch", "77", "--include-grant-info", "--include-affiliations").out
    body = pubmed("fetch", "77", "--include-grant-info", "--include-affiliations", "--json").json["articles"][0]
    assert body["grantList"]
    assert body["affiliations"]
    assert all(place in shown for place in body["affiliations"])
    assert f"grant id {body['grantList'][0]['grantId']}" in shown
    assert "grant id" not in pubmed("fetch", "77").out


@pytest.fixture
def in_pmc(cli, ncbi):
    """PMID and PMCID of an article whose text is open."""
    cli.ncbi = ncbi.base_url
    corpus = cli.corpus()
    found = [each for each in corpus.ncbi.efetch([str(pmid) for pmid in ncbi.control.pmids()[-200:]]) if each.pmcid]
    corpus.close()
    return next((each.pmid, each.pmcid) for each in found if each.abstract and int(each.pmid) % 2 == 0)


def test_headings_are_listed_with_what_to_search_for(pubmed):
    ran = pubmed("mesh", "humans", "--max", "1")
    assert ran.code == 0
    assert '"Humans"[MeSH Terms]' in ran.out
    assert "ui D006801; also Humans (entry term)" in ran.out


def test_the_spelling_is_printed_and_a_right_word_stays(pubmed):
    assert pubmed("spell", "patiants").out == "patients\n"
    assert pubmed("spell", "patients").out == "patients\n"


def test_ids_are_a_table(pubmed, in_pmc):
    ran = pubmed("ids", in_pmc[0], "what")
    assert in_pmc[1] in ran.out
    assert "invalid" in ran.out
    assert pubmed("ids", in_pmc[1], "--json").json["records"][0]["pmid"] == in_pmc[0]


def test_ids_that_ncbi_could_not_be_asked_about_are_no_answer(pubmed, ncbi, in_pmc):
    assert pubmed("ids", "99999999").code == 0  # it is not found, which is an answer
    ncbi.control.fault(times=200, status=400)
    ran = pubmed("ids", in_pmc[0], "what")
    assert (ran.code, "unknown" in ran.out, "could not be looked up" in ran.err) == (1, True, True)
    assert pubmed("ids", in_pmc[0], "--json").code == 1


def test_a_reference_that_ncbi_could_not_be_asked_about_is_no_answer(pubmed, ncbi):
    ncbi.control.fault(endpoint="esearch", times=200, status=400)
    ran = pubmed("match", "--title", "A paper that nobody ever wrote", "--journal", "fake journal")
    assert (ran.code, "unverified" in ran.out) == (1, True)


def test_a_full_text_is_printed_by_sections_with_its_licence(pubmed, in_pmc):
    ran = pubmed("text", in_pmc[1])
    assert "CC BY 4.0" in ran.out
    assert "licence" in ran.out
    assert "a | b" in ran.out
    assert "a | b" not in pubmed("text", in_pmc[0], "--no-tables").out
    assert "left" in pubmed("text", in_pmc[0], "--max", "500").err


def test_a_reference_is_matched(pubmed):
    ran = pubmed("match", "--journal", "fake journal", "--year", "2000", "--volume", "1")
    assert "not_found" in ran.out
    assert "INVALID_JOURNAL" in ran.out


def test_a_book_is_printed_with_its_contents(pubmed, ncbi):
    [(_, raw)] = fixture_records()["20301577"]
    ncbi.control.add(wrapped(raw).decode())
    ran = pubmed("book", "NBK1403")
    assert "Napolitano C, Priori SG." in ran.out
    assert "Diagnosis" in ran.out
