"""Retraction status, from records and from their display."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.literature.medline.retraction_status import REF_TYPES, displayed_status, retraction_status
from bio_mcp.literature.notices import KINDS
from bio_mcp.literature.records import Correction, PublicationType, RetractionStatus

ARTICLE = PublicationType("D016428", "Journal Article")
BY_TYPE = {
    ("D016441", "Retracted Publication"): "retracted",
    ("", "Retracted Publication"): "retracted",
    ("D016440", "Retraction of Publication"): "notice",
    ("D016440", "Retraction Notice"): "notice",
    ("D000075742", "Expression of Concern"): "clear",
    ("D016425", "Published Erratum"): "clear",
    ("D016439", "Corrected and Republished Article"): "clear",
}
BY_NOTICE = {
    "RetractionIn": "retracted", "RetractedandRepublishedIn": "retracted", "PartialRetractionIn": "retracted",
    "RetractionOf": "notice", "PartialRetractionOf": "notice",
    "ExpressionOfConcernIn": "concern",
    "ErratumIn": "corrected", "CorrectedandRepublishedIn": "corrected", "RepublishedIn": "corrected",
    "ExpressionOfConcernFor": "clear", "ErratumFor": "clear", "RetractedandRepublishedFrom": "clear",
    "CorrectedandRepublishedFrom": "clear", "RepublishedFrom": "clear", "UpdateIn": "clear", "UpdateOf": "clear",
    "CommentIn": "clear", "CommentOn": "clear", "ReprintIn": "clear", "ReprintOf": "clear",
    "OriginalReportIn": "clear", "SummaryForPatientsIn": "clear", "Cites": "clear",
    "AssociatedDataset": "clear", "AssociatedPublication": "clear",
}  # fmt: skip
GRAVITY = ["retracted", "notice", "concern", "corrected", "clear"]


@pytest.mark.parametrize(("kind", "status"), BY_TYPE.items())
def test_a_publication_type_says_whether_it_stands(kind, status):
    assert retraction_status([ARTICLE, PublicationType(*kind)], []) == status


@pytest.mark.parametrize(("kind", "status"), BY_NOTICE.items())
def test_every_ref_type_of_the_dtd_is_decided(kind, status):
    assert retraction_status([ARTICLE], [Correction(kind)]) == status
    assert "and " not in Correction(kind).relation.replace(" and ", "")


@given(st.lists(st.sampled_from(sorted(BY_NOTICE))))
def test_the_gravest_notice_wins_in_any_order(kinds):
    expected = min((BY_NOTICE[kind] for kind in kinds), key=GRAVITY.index, default="clear")
    assert retraction_status([ARTICLE], [Correction(kind) for kind in kinds]) == expected


RECORD = "PMID- 7\nTI  - A trial\n      of RIN - and more.\nAB  - ECI - is no field here.\nPT  - Journal Article\n"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("", "clear"),
        ("PT  - Retracted Publication", "retracted"),
        ("PT  - Retraction of Publication", "notice"),
        ("RIN - J Test. 2024;1:1. PMID: 77", "retracted"),
        ("PRIN- J Test. 2024;1:1. PMID: 77", "retracted"),
        ("ROF - J Test. 2020;1:1. PMID: 76", "notice"),
        ("ECI - J Test. 2024;1:1. PMID: 77", "concern"),
        ("EIN - J Test. 2024;1:1. PMID: 77", "corrected"),
        ("ECF - J Test. 2020;1:1. PMID: 76", "clear"),
        ("UIN - J Test. 2024;1:1. PMID: 77", "clear"),
        ("EIN - a\nRIN - b\nECI - c", "retracted"),
    ],
)
def test_a_line_says_what_its_like_in_xml_says(line, status):
    assert displayed_status(f"{RECORD}{line}\r\n") == status


def test_every_reference_that_bears_on_standing_has_its_tag():
    assert retraction_status([], []) is RetractionStatus.CLEAR
    assert set(KINDS.values()) >= set(REF_TYPES)
    for tag, kind in KINDS.items():
        assert displayed_status(f"{tag:<4}- J Test. 2024") == retraction_status([], [Correction(kind)])
