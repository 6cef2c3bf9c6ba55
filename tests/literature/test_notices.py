"""Notices about works, and the status that they give."""

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.notices import Notice, graver, kind_of, notices_by_doi, status_of
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


HEAD = (
    "Record ID,Title,Subject,Institution,Journal,Publisher,Country,Author,URLS,ArticleType,RetractionDate,"
    "RetractionDOI,RetractionPubMedID,OriginalPaperDate,OriginalPaperDOI,OriginalPaperPubMedID,RetractionNature,"
    "Reason,Paywalled,Notes\n"
)


def row(doi, nature="Retraction", date="7/26/2019 0:00", notice="10.1000/notice", title="A paper"):
    return f'20946,"{title}",,,J,,,,,,{date},{notice},0,1/1/2015 0:00,{doi},0,{nature},+Data;,No,\n'


def test_each_notice_is_read_with_its_day_and_its_paper():
    found = notices_by_doi([HEAD, row("10.1021/AM300292V"), row("https://doi.org/10.1000/b", "Expression of concern")])
    assert found["10.1021/am300292v"] == (
        Notice("retraction", "10.1000/notice", "2019-07-26", "Retraction", "retraction-watch"),
    )
    assert found["10.1000/b"][0].kind == "concern"


def test_a_paper_that_was_reinstated_later_is_clear():
    rows = [HEAD, row("10.1000/a", "Reinstatement", "3/1/2021 0:00"), row("10.1000/a", date="2019-07-26")]
    [notices] = notices_by_doi(rows).values()
    assert [each.kind for each in notices] == ["retraction", "reinstatement"]
    assert status_of(notices) == "clear"


def test_rows_without_a_doi_are_left_out_and_titles_may_have_lines():
    rows = [HEAD, row("unavailable"), row(""), row("10.1000/a", notice="unavailable", date="", title="Two\nlines, so")]
    assert notices_by_doi(rows) == {"10.1000/a": (Notice("retraction", None, "", "Retraction", "retraction-watch"),)}


@pytest.mark.parametrize("lines", [[], ["a,b\n", "1,2\n"], ["PK\x03\x04\n"]])
def test_another_file_is_refused(lines):
    with pytest.raises(InvalidInput, match="not Retraction Watch's file"):
        notices_by_doi(lines)


def test_a_field_without_an_end_is_refused():
    with pytest.raises(InvalidInput, match="cannot be read as CSV"):
        notices_by_doi([HEAD, '1,"' + "x" * (2 << 20)])
