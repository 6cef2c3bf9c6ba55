"""`bio-mcp lookup` on the command line, over the local NCBI, through the real wiring."""

import pytest

from tests.literature.medline.records import fixture_records, wrapped


@pytest.fixture
def lookup(cli, ncbi):
    cli.ncbi = ncbi.base_url
    return lambda *argv: cli("lookup", *argv)


@pytest.fixture
def in_pmc(cli, ncbi):
    """PMID and PMCID of an article whose text is open."""
    cli.ncbi = ncbi.base_url
    corpus = cli.corpus()
    found = [each for each in corpus.ncbi.efetch([str(pmid) for pmid in ncbi.control.pmids()[-200:]]) if each.pmcid]
    corpus.close()
    return next((each.pmid, each.pmcid) for each in found if each.abstract and int(each.pmid) % 2 == 0)


def test_headings_are_listed_with_what_to_search_for(lookup):
    ran = lookup("mesh", "humans", "--max", "1")
    assert ran.code == 0
    assert 'D006801  "Humans"[MeSH Terms]' in ran.out
    assert "also: Humans (entry term)" in ran.out


def test_the_spelling_is_printed_and_a_right_word_stays(lookup):
    assert lookup("spell", "patiants").out == "patients\n"
    assert lookup("spell", "patients").out == "patients\n"


def test_ids_are_a_table(lookup, in_pmc):
    ran = lookup("ids", in_pmc[0], "what")
    assert in_pmc[1] in ran.out
    assert "invalid" in ran.out
    assert lookup("ids", in_pmc[1], "--json").json["records"][0]["pmid"] == in_pmc[0]


def test_ids_that_ncbi_could_not_be_asked_about_are_no_answer(lookup, ncbi, in_pmc):
    assert lookup("ids", "99999999").code == 0  # it is not found, which is an answer
    ncbi.control.fault(times=200, status=400)
    ran = lookup("ids", in_pmc[0], "what")
    assert (ran.code, "unknown" in ran.out, "could not be looked up" in ran.err) == (1, True, True)
    assert lookup("ids", in_pmc[0], "--json").code == 1


def test_a_reference_that_ncbi_could_not_be_asked_about_is_no_answer(lookup, ncbi):
    ncbi.control.fault(endpoint="esearch", times=200, status=400)
    ran = lookup("match", "--title", "A paper that nobody ever wrote", "--journal", "fake journal")
    assert (ran.code, "unverified" in ran.out) == (1, True)


def test_a_full_text_is_printed_by_sections_with_its_licence(lookup, in_pmc):
    ran = lookup("text", in_pmc[1])
    assert "CC BY 4.0" in ran.out
    assert "\n# " in ran.out
    assert "a | b" in ran.out
    assert "a | b" not in lookup("text", in_pmc[0], "--no-tables").out
    assert "left" in lookup("text", in_pmc[0], "--max", "500").err


def test_a_reference_is_matched(lookup):
    ran = lookup("match", "--journal", "fake journal", "--year", "2000", "--volume", "1")
    assert "not_found" in ran.out
    assert "invalid journal" in ran.out


def test_a_book_is_printed_with_its_contents(lookup, ncbi):
    [(_, raw)] = fixture_records()["20301577"]
    ncbi.control.add(wrapped(raw).decode())
    ran = lookup("book", "NBK1403")
    assert ran.out.startswith("Napolitano C, Priori SG.")
    assert "Diagnosis" in ran.out.splitlines()


def test_an_outage_is_an_error(lookup, ncbi):
    ncbi.control.fault(endpoint="espell", times=50, recorded="500_diagnostic.html")
    ran = lookup("spell", "patients")
    assert (ran.code, ran.out) == (1, "")
