"""What notices make of a work."""

import pytest

from bio_mcp.literature.notices import Notice, graver, kind_of, status_of
from bio_mcp.literature.records import RetractionStatus


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("retraction", "retraction"),
        ("Expression of concern", "concern"),
        ("expression_of_concern", "concern"),
        ("partial-retraction", "retraction"),
        ("withdrawal", "retraction"),
        ("corrigendum", "correction"),
        ("Reinstatement", "reinstatement"),
        ("new_edition", "other"),
        ("", "other"),
    ],
)
def test_a_notice_is_known_by_its_type(word, kind):
    assert kind_of(word) == kind


@pytest.mark.parametrize(
    ("notices", "status"),
    [
        ([], "clear"),
        ([("other", "2020")], "clear"),
        ([("correction", "2020"), ("concern", "2019")], "concern"),
        ([("concern", "2021"), ("retraction", "2019")], "retracted"),
        ([("retraction", "2019-01-01"), ("reinstatement", "2020-05-01")], "clear"),
        ([("retraction", "2021-01-01"), ("reinstatement", "2020-05-01")], "retracted"),
        ([("retraction", "2019"), ("correction", "2018"), ("reinstatement", "2020")], "corrected"),
        ([("retraction", "2019"), ("reinstatement", "")], "retracted"),
        ([("retraction", ""), ("reinstatement", "2020")], "clear"),
    ],
)
def test_the_gravest_notice_that_was_not_taken_back_counts(notices, status):
    assert status_of(Notice(kind, date=date) for kind, date in notices) == status


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [("clear", "retracted", "retracted"), ("unknown", "clear", "clear"), ("concern", "corrected", "concern")],
)
def test_of_two_sources_the_graver_counts(one, other, both):
    assert graver(RetractionStatus(one), RetractionStatus(other)) == both
    assert graver(RetractionStatus(other), RetractionStatus(one)) == both
