import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.querying.search import DateRange, clean, effective_term


def test_a_query_alone_is_asked_as_it_is():
    assert effective_term("  statins\n OR  niacin ") == "statins OR niacin"


def test_a_query_keeps_its_or_to_itself_when_something_is_added():
    term = effective_term("statins OR niacin", publication_types=["Review"])
    assert term == '(statins OR niacin) AND "Review"[Publication Type]'


def test_any_of_several_publication_types_will_do():
    term = effective_term("statins", publication_types=["Review", "Clinical Trial", "Review"])
    assert term == '(statins) AND ("Review"[Publication Type] OR "Clinical Trial"[Publication Type])'


@pytest.mark.parametrize(
    ("first", "last", "clause"),
    [
        ("2020", None, '("2020"[pdat] : "3000"[pdat])'),
        (None, "2020/06", '("1800"[pdat] : "2020/06"[pdat])'),
        ("2020/02/29", "2020/02/29", '("2020/02/29"[pdat] : "2020/02/29"[pdat])'),
        ("2020/06", "2020", '("2020/06"[pdat] : "2020"[pdat])'),
    ],
    ids=["open end", "open beginning", "one day", "the rest of a year"],
)
def test_a_range_of_dates_always_has_both_ends(first, last, clause):
    assert effective_term("statins", DateRange(first, last)) == f"(statins) AND {clause}"


def test_a_range_without_ends_adds_nothing():
    assert effective_term("statins", DateRange(None, None, "edat")) == "statins"


def test_all_parts_stand_together():
    term = effective_term("a OR b", DateRange("2020", "2021", "edat"), ["Review"])
    assert term == '(a OR b) AND ("2020"[edat] : "2021"[edat]) AND "Review"[Publication Type]'


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        ("2020/13", None, "no month 13; months are 01 to 12"),
        ("2020/00/01", None, "no month 00"),
        ("2021/02/29", None, "no day 29; that month has 28 days"),
        (None, "2020/04/31", "maxDate: '2020/04/31' has no day 31"),
        ("0000", None, "no year 0000"),
        ("9999", None, "no year 9999"),
        ("2021", "2020", "2021 is after the last day, 2020"),
        ("2020/06/02", "2020/06/01", "is after the last day"),
        ("３０００", None, "is not YYYY"),
    ],
)
def test_a_date_that_no_calendar_has_is_refused(first, last, why):
    with pytest.raises(InvalidInput, match=why.replace("(", r"\(")):
        effective_term("statins", DateRange(first, last))


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("  ab  ", "at least 3 characters"),
        ("\x00\x01abc"[:3], "at least 3 characters"),
        ('statins "heart', "quotation mark"),
        ("(statins", "not closed"),
        ("statins) OR (niacin", "not opened"),
    ],
)
def test_a_query_that_would_swallow_or_escape_its_filters_is_refused(query, why):
    with pytest.raises(InvalidInput, match=why):
        clean(query)


def test_brackets_within_quotation_marks_are_text():
    assert clean('"il-6 (human"[tiab]') == '"il-6 (human"[tiab]'


def test_control_characters_become_spaces():
    assert clean("stat\x00ins\u2028or\u200bniacin") == "stat ins or niacin"


@pytest.mark.parametrize(
    ("name", "asked"),
    [('Review"[pt] OR "x', '"Review pt OR x"[Publication Type]'), ("Rev]iew", '"Rev iew"[Publication Type]')],
)
def test_a_publication_type_cannot_leave_its_quotation_marks(name, asked):
    assert effective_term("statins", publication_types=[name]) == f"(statins) AND {asked}"


@pytest.mark.parametrize("name", ["", '""', " [] "])
def test_a_publication_type_without_a_name_is_refused(name):
    with pytest.raises(InvalidInput, match="filterByPublicationTypes"):
        effective_term("statins", publication_types=[name])
