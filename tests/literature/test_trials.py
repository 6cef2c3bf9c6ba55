"""Registrations of trials, from the databanks that a record names."""

import pytest

from bio_mcp.literature.identifiers import registrations
from bio_mcp.literature.records import Databank
from tests.support.memory_corpus import article


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
