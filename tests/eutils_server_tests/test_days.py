"""Days as PubMed counts them."""

import pytest

from tests.eutils_server import days


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("2021/06/07", ("2021/06/07", "2021/06/07")),
        ("2021/6", ("2021/06/01", "2021/06/31")),
        ("2021", ("2021/01/01", "2021/12/31")),
        ("3000", ("3000/01/01", "3000/12/31")),
        ("2021-06-07", None),
        ("2021/09/28 06:00", None),
        ("June", None),
        ("", None),
    ],
)
def test_a_date_of_a_query_covers_all_it_leaves_open(text, covered):
    assert days.span(text) == covered


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1998 Dec-1999 Jan", "1998/12/01"),
        ("2021 May-Jun", "2021/05/01"),
        ("1977-1978", "1977/01/01"),
        ("1977-1978 Dec-Jan", "1977/12/01"),
        ("1977 Apr 17-21", "1977/04/17"),
        ("2021 Apr-Jun 01", "2021/04/01"),
        ("2021 3rd Quarter", "2021/07/01"),
        ("1979 Mar/Apr", "1979/03/01"),
        ("1999 Winter", "1999/12/01"),
        ("undated", None),
    ],
)
def test_a_medline_date_counts_from_its_start(text, day):
    assert days.from_medline_date(text) == day


def test_ninety_days_back_is_january_from_april():
    assert days.minus("2019/04/05", 90) == "2019/01/05"


def test_months_may_be_names_numbers_or_seasons():
    assert [days.month_number(text) for text in ("Jun", "06", "Summer", "", "Jul-Aug")] == [6, 6, 6, 1, 7]
