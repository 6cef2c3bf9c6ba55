"""Entries that are one paper are found, and papers that only look alike are apart, with the reason."""

import pytest

from bio_mcp.ports.stores import ReviewRecord
from bio_mcp.screening.deduplicating import Records, compare

TITLE = "Thiazides in heart failure: a randomised trial"


def entry(record_id="title:1", title=TITLE, authors=("Doe, Jane",), year=2020, **more):
    given = {"journal": "European heart journal", "volume": "41", "pages": "12-19", **more}
    return ReviewRecord(record_id, title, "", year, authors=authors, **given)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (entry("1", doi="10.1/x"), "the same title, year, first author, journal, volume, pages"),
        (entry("title:2", "THIAZIDES in Heart-Failure – a randomised trial.", ("J. Doe",)), "the same title"),
        (entry("title:2", authors=("Doe J", "Roe R"), journal="Eur Heart J", pages="12"), "the same title"),
        (entry("title:2", year=2021), "in years next to each other"),  # online first
        (entry("title:2", journal="", volume="", pages="012"), "the same title, year, first author, pages"),
    ],
)
def test_the_same_paper_is_recognised_by_title_and_imprint(other, why):
    for pair in ((entry(), other), (other, entry())):
        same, said = compare(*pair)
        assert same
        assert why in said


@pytest.mark.parametrize(
    "other",
    [
        entry("title:2", "Thiazides in heart failure: a randomised trial, part 2"),
        entry("title:2", "Thiazides in heart failure: a randomized trials"),
        entry("title:2", "Erratum: Thiazides in heart failure: a randomised trial"),
        entry("title:2", journal="Journal of the American College of Cardiology", volume="", pages=""),
        entry("title:2", pages="112-119"),
        entry("title:2", volume="41 Suppl 1", pages="S12", year=2018),
        entry("title:2", authors=("Roe, Richard",)),
        entry("title:2", journal="medRxiv", volume="", pages=""),
        entry("title:2", doi="10.1101/2020.01.02.20012345", journal="", volume="", pages=""),
        entry("title:2", journal="", volume="", pages=""),
        entry("title:2", authors=()),
    ],
)
def test_parts_notices_preprints_and_what_differs_are_apart(other):
    one = entry(doi="10.1000/paper") if other.doi else entry()
    for pair in ((one, other), (other, one)):
        assert not compare(*pair)[0]


def test_an_identifier_in_common_is_enough_unless_the_titles_differ():
    one = entry("doi:10.1/x", doi="10.1/x")
    assert compare(one, entry("doi:10.1/x", "Thiazides in heart failure", (), None, doi="10.1/x", journal="")) == (
        True, "the same DOI",
    )  # fmt: skip
    apart, why = compare(one, entry("title:3", "Poster session 3: abstracts", doi="10.1/x"))
    assert (apart, why) == (False, "the same DOI, and other titles")
    assert compare(entry("7"), entry("doi:10.1/y", pmid="7", doi="10.1/y")) == (True, "the same PMID")


def test_two_pmids_are_two_records_whatever_else_agrees_also_through_a_third():
    assert not compare(entry("1"), entry("2"))[0]
    known = Records()
    imported = entry("doi:10.1/x", doi="10.1/x")
    known.add(imported)
    known.add(entry("1", doi="10.1/x"), imported)
    assert known.same_as(entry("1", doi="10.1/x")).record == imported
    assert known.same_as(entry("2")) is None


def test_a_notice_of_the_same_doi_or_a_reply_is_no_paper():
    for title in ("Correction to: " + TITLE, "Retraction: " + TITLE, "Reply: " + TITLE, "Comment on " + TITLE):
        assert not compare(entry(doi="10.1/x"), entry("title:2", title, doi="10.1/x"))[0]
    assert compare(entry(doi="10.1/x"), entry("title:2", "RETRACTED: " + TITLE, doi="10.1/x"))[0]


def test_short_titles_need_their_pages():
    one = entry(title="Editorial", pages="")
    assert compare(one, entry("title:2", "Editorial", pages="")) == (False, "the same short title")
    assert compare(entry(title="Editorial"), entry("title:2", "Editorial"))[0]
