"""Identifiers of papers and trials, and their addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import bare_pmid, doi, is_pmid, parse_pmid, pmcid, registrations
from bio_mcp.literature.records import Databank
from tests.support.memory_corpus import article


@pytest.mark.parametrize(
    "text",
    [
        "384001", " 384001 ", "pmid:384001", "PMID: 384001", "PMID 384001", "pubmed:384001", "paper://pmid/384001",
        "0384001", "https://pubmed.ncbi.nlm.nih.gov/384001/", "http://www.ncbi.nlm.nih.gov/pubmed/384001", "384001v2",
    ],
)  # fmt: skip
def test_every_form_of_a_pmid_is_the_same_pmid(text):
    assert parse_pmid(text) == "384001"


@pytest.mark.parametrize(
    "text",
    ["", " ", "abc", "pmid:abc", "pmid:", "0", "-1", "1.5", "1e5", "1234567890", "٣٨٤", "³", "1 2",
     "https://example.org/384001", "384001\n384002", "PMC384001", "384001; DROP"],
)  # fmt: skip
def test_what_is_no_pmid_is_refused_with_an_example(text):
    with pytest.raises(InvalidInput, match="384001"):
        parse_pmid(text)


@pytest.mark.parametrize("text", ["pmid:384001", " 384001", "384001\n", "384001v2", "３８４００１", "0", "9" * 5000])
def test_a_bare_pmid_is_digits_alone(text):
    with pytest.raises(InvalidInput, match="is not a PMID"):
        bare_pmid(text)
    assert not is_pmid(text)


def test_a_stored_pmid_has_no_leading_zero():
    assert is_pmid(bare_pmid("0384001"))
    assert not is_pmid("0384001")


@pytest.mark.parametrize(
    "text",
    ["PMC6108041", "pmc6108041", "PMCID: PMC6108041", "PMC6108041.2", "https://pmc.ncbi.nlm.nih.gov/articles/PMC6108041/",
     "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC6108041"],
)  # fmt: skip
def test_every_form_of_a_pmcid_is_the_same_pmcid(text):
    assert pmcid(text) == "PMC6108041"


@pytest.mark.parametrize("text", ["", "6108041", "PMC", "PMC0", "PMC012", "PMCX", "NIHMS1", "PMC12345678901"])
def test_what_is_no_pmcid_is_refused(text):
    with pytest.raises(InvalidInput, match="PMC6108041"):
        pmcid(text)


@pytest.mark.parametrize(
    "text",
    ["10.1056/NEJMoa2034577", "10.1056/nejmoa2034577", "doi:10.1056/NEJMoa2034577", "DOI: 10.1056/NEJMoa2034577",
     "https://doi.org/10.1056/NEJMoa2034577", "http://dx.doi.org/10.1056/NEJMOA2034577",
     "info:doi/10.1056/nejmoa2034577",
     "https://doi.org/10.1056%2FNEJMoa2034577", "doi:https://doi.org/10.1056/NEJMoa2034577"],
)  # fmt: skip
def test_every_form_of_a_doi_compares_equal(text):
    assert doi(text) == "10.1056/nejmoa2034577"


def test_a_doi_keeps_its_odd_characters():
    assert doi("10.1016/s0960-9822(00)00336-5") == "10.1016/s0960-9822(00)00336-5"
    assert doi("10.1002/(SICI)1097-0258(19980815)17:15<1661::AID>3.0.CO;2-2").endswith("co;2-2")


@pytest.mark.parametrize(
    "text", ["", "10.1056", "10.1056/", "11.1056/x", "doi:", "10.1/x", "10.1056/a b", "10.5555/" + "x" * 600]
)
def test_what_is_no_doi_is_refused(text):
    with pytest.raises(InvalidInput, match=r"10\."):
        doi(text)


@given(st.integers(1, 999_999_999))
def test_normalising_twice_changes_nothing(number):
    assert parse_pmid(parse_pmid(f"pmid:{number}")) == str(number)
    assert pmcid(pmcid(f"PMC{number}")) == f"PMC{number}"


@given(st.text(max_size=30))
def test_any_text_is_an_identifier_or_invalid_input(text):
    for read in (parse_pmid, pmcid, doi):
        try:
            found = read(text)
        except InvalidInput:
            continue
        assert read(found) == found


@pytest.mark.parametrize(
    ("registry", "number", "url"),
    [
        ("ClinicalTrials.gov", "NCT01234567", "https://clinicaltrials.gov/study/NCT01234567"),
        ("ISRCTN", "ISRCTN12345678", "https://www.isrctn.com/ISRCTN12345678"),
        ("ISRCTN", "ISRCTN 12345678", "https://www.isrctn.com/ISRCTN12345678"),
        (
            "EudraCT",
            "2004-000001-01",
            "https://www.clinicaltrialsregister.eu/ctr-search/search?query=eudract_number:2004-000001-01",
        ),
        ("ANZCTR", "ACTRN12605000000000", "https://www.anzctr.org.au/ACTRN12605000000000.aspx"),
        ("DRKS", "DRKS00000001", "https://drks.de/search/en/trial/DRKS00000001"),
        ("CTRI", "CTRI/2011/07/001883", "https://trialsearch.who.int/Trial2.aspx?TrialID=CTRI%2F2011%2F07%2F001883"),
        ("JPRN", "UMIN000001234", "https://trialsearch.who.int/Trial2.aspx?TrialID=UMIN000001234"),
    ],
)
def test_a_registration_links_to_its_page(registry, number, url):
    [found] = registrations(article(databanks=(Databank(registry, (number,)),)))
    assert found == {"registry": registry, "number": number.replace(" ", ""), "url": url}


def test_each_stands_once_in_the_order_of_the_record_and_other_databanks_do_not():
    banks = (
        Databank("GENBANK", ("AF321191",)),
        Databank("ClinicalTrials.gov", ("NCT00000002", "NCT00000001", "NCT00000002")),
        Databank("ISRCTN", ("ISRCTN00000003",)),
    )
    numbers = [each["number"] for each in registrations(article(databanks=banks))]
    assert numbers == ["NCT00000002", "NCT00000001", "ISRCTN00000003"]


@pytest.mark.parametrize("number", ["", "none", "NCT1?x=1", "javascript:alert(1)", "NCT01234567" * 9, "ＮＣＴ０１２３"])
def test_what_is_no_number_is_no_link(number):
    assert registrations(article(databanks=(Databank("ClinicalTrials.gov", (number,)),))) == []
