"""Dates at the precision that was printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from bio_mcp.literature.medline.dates import calendar_day, medline_date, month_number, printed, stamp


def xml(**parts):
    element = etree.Element("PubDate")
    for tag, text in parts.items():
        etree.SubElement(element, tag).text = text
    return element


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("1998 Dec-1999 Jan", "1998-12"),
        ("2021 May-Jun", "2021-05"),
        ("1977-1978", "1977"),
        ("1977-1978 Dec-Jan", "1977-12"),
        ("1977 Apr 17-21", "1977-04-17"),
        ("2021 Apr-Jun 01", "2021-04"),
        ("2021 3rd Quarter", "2021-07"),
        ("1979 Mar/Apr", "1979-03"),
        ("2000 Spring", "2000"),
        ("Summer 1999", "1999"),
        ("1977 Feb 30-Mar 2", "1977-02"),
        ("2021 March 5", "2021-03-05"),
        ("2021 Marvellous", "2021"),
        ("no date at all", None),
        ("19781", None),
    ],
)
def test_free_text_dates_count_from_their_start(text, iso):
    assert medline_date(text).iso == iso
    assert medline_date(text).text == text


@given(st.text(max_size=40))
def test_no_free_text_breaks_the_reader(text):
    found = medline_date(text)
    assert found.text == " ".join(text.split())
    assert found.day is None or found.month
    assert found.month is None or found.year


@pytest.mark.parametrize(
    ("parts", "text", "iso"),
    [
        ({"Year": "2021", "Month": "06", "Day": "07"}, "2021 Jun 7", "2021-06-07"),
        ({"Year": "2021", "Month": "Jun"}, "2021 Jun", "2021-06"),
        ({"Year": "2021", "Season": "Spring"}, "2021 Spring", "2021"),
        ({"Year": "2021", "Season": "Sep-Dec"}, "2021 Sep-Dec", "2021-09"),
        ({"Year": "2021", "Month": "13"}, "2021 13", "2021"),
        ({"Year": "1900", "Month": "Feb", "Day": "29"}, "1900 Feb 29", "1900-02"),
        ({"Year": "20x1"}, "20x1", None),
    ],
)
def test_a_printed_date_keeps_its_precision(parts, text, iso):
    found = printed(xml(**parts))
    assert (found.text, found.iso) == (text, iso)


def test_an_empty_date_is_none():
    assert printed(xml()) is None
    assert printed(xml(Month="Jun")) is None


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("2021", "6", "7", "9", "5"), "2021-06-07T09:05"),
        (("2021", "6", "7", "9"), "2021-06-07T09:00"),
        (("2021", "6", "7"), "2021-06-07"),
        (("2021", "6", "7", "24", "0"), "2021-06-07"),
        (("2021", "6", "31", "0", "0"), None),
        (("2021", "6"), None),
        ((), None),
    ],
)
def test_history_stamps_hold_what_the_record_says(parts, expected):
    assert stamp(xml(**dict(zip(("Year", "Month", "Day", "Hour", "Minute"), parts, strict=False)))) == expected


def test_a_day_that_no_calendar_has_is_none():
    assert calendar_day(xml(Year="2021", Month="02", Day="30")) is None
    assert calendar_day(xml(Year="2020", Month="02", Day="29")).isoformat() == "2020-02-29"


def test_months_are_known_by_name_and_number():
    assert [month_number(text) for text in ("Jun", "June", "06", "6", "SEPT", "0", "Juniper", None)] == [
        6, 6, 6, 6, 9, None, None, None,
    ]  # fmt: skip
