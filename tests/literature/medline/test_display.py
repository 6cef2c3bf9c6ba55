"""Standing read off the MEDLINE display format, where the XML of the same record says the same."""

import pytest

from bio_mcp.literature.medline.retraction_status import REF_TYPES, displayed_status, retraction_status
from bio_mcp.literature.notices import KINDS
from bio_mcp.literature.records import Correction

RECORD = "PMID- 7\nTI  - A trial\n      of RIN - and more.\nAB  - ECI - is no field here.\nPT  - Journal Article\n"


def test_a_record_that_says_nothing_is_clear():
    assert displayed_status(RECORD) == "clear"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("PT  - Retracted Publication", "retracted"),
        ("PT  - Retraction of Publication", "notice"),
        ("RIN - J Test. 2024;1:1. PMID: 77", "retracted"),
        ("PRIN- J Test. 2024;1:1. PMID: 77", "retracted"),
        ("ROF - J Test. 2020;1:1. PMID: 76", "notice"),
        ("ECI - J Test. 2024;1:1. PMID: 77", "concern"),
        ("EIN - J Test. 2024;1:1. PMID: 77", "corrected"),
        ("ECF - J Test. 2020;1:1. PMID: 76", "clear"),
        ("UIN - J Test. 2024;1:1. PMID: 77", "clear"),
    ],
)
def test_a_line_says_what_its_like_in_xml_says(line, status):
    assert displayed_status(f"{RECORD}{line}\r\n") == status


def test_the_gravest_finding_wins():
    assert displayed_status(f"{RECORD}EIN - a\nRIN - b\nECI - c\n") == "retracted"


def test_every_reference_that_bears_on_standing_has_its_tag():
    assert set(KINDS.values()) >= set(REF_TYPES)
    for tag, kind in KINDS.items():
        assert displayed_status(f"{tag:<4}- J Test. 2024") == retraction_status([], [Correction(kind)])
