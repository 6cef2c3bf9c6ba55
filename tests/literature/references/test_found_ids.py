"""Identifiers where people put them in a reference."""

import pytest

from bio_mcp.literature.references.works import ids_in


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.1000/a.b.", "10.1000/a.b"),
        ("doi: https://dx.doi.org/10.1000/ab", "10.1000/ab"),
        ("DOI:10.1000/ab;", "10.1000/ab"),
        ("(see 10.1000/s(20)1-9)", "10.1000/s(20)1-9"),
        ("[10.1000/ab].", "10.1000/ab"),
        ("“10.1000/ab”,", "10.1000/ab"),
        ("10.1000.10/ab", "10.1000.10/ab"),
        ("version 10.12/ab", ""),
        ("110.1000", ""),
    ],
)
def test_a_doi_is_taken_without_what_belongs_to_the_sentence(text, doi):
    assert ids_in(text)[0] == doi


@pytest.mark.parametrize(
    ("text", "pmid", "pmcid"),
    [
        ("PMID: 123; PMCID: PMC45", "123", "PMC45"),
        ("pmid 123", "123", ""),
        ("https://pubmed.ncbi.nlm.nih.gov/123/", "123", ""),
        ("http://www.ncbi.nlm.nih.gov/pubmed/123", "123", ""),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC45/", "", "PMC45"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC45", "", "PMC45"),
        ("PMID: 1234567890", "", ""),
        ("123", "", ""),
    ],
)
def test_pmids_and_pmcids_stand_behind_their_names_or_in_addresses(text, pmid, pmcid):
    assert ids_in(text)[1:3] == (pmid, pmcid)


def test_the_first_id_counts_and_the_text_is_left_without_any():
    doi, pmid, _, rest = ids_in("Doe J. Title. doi:10.1000/a PMID: 1 PMID: 2 <https://lab.example/x?y=1> end")
    assert (doi, pmid) == ("10.1000/a", "1")
    assert rest.split() == ["Doe", "J.", "Title.", "end"]
