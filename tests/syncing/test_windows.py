from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.errors import InvalidInput, NcbiQueryRejected
from bio_mcp.syncing.windows import FIRST_DAY, FURTHER_FIELDS, LAST_DAY, Range, Segment, check_term, windows

TODAY = date(2021, 6, 8)
DAYS = st.dates(FIRST_DAY, LAST_DAY)


def holds(segment, dates):
    def inside(part):
        return part.start <= dates[part.field] <= part.end

    return all(map(inside, segment.within)) and not any(map(inside, segment.without))


def test_each_window_starts_at_its_own_watermark_less_the_overlap():
    found = windows({"edat": date(2021, 6, 1), "crdt": date(2021, 5, 30), "mdat": None}, 5, TODAY)
    assert [each.within[0].start for each in found] == [date(2021, 5, 27), date(2021, 5, 25), FIRST_DAY]
    assert {each.within[0].end for each in found} == {TODAY}


@given(edat=DAYS, crdt=DAYS, mdat=DAYS, watermark=st.dates(date(2020, 1, 1), TODAY))
def test_a_record_is_in_exactly_one_window_if_any_of_its_dates_is(edat, crdt, mdat, watermark):
    dates = {"edat": edat, "crdt": crdt, "mdat": mdat}
    found = [each for each in windows(dict.fromkeys(dates, watermark), 0, TODAY) if holds(each, dates)]
    assert len(found) == any(watermark <= each <= TODAY for each in dates.values())


@given(
    edat=DAYS,
    crdt=DAYS,
    mdat=DAYS,
    pdat=DAYS,
    start=DAYS,
    length=st.integers(0, 5000),
    path=st.lists(st.booleans(), max_size=40),
)
def test_halves_hold_each_record_of_the_whole_exactly_once(edat, crdt, mdat, pdat, start, length, path):
    dates = {"edat": edat, "crdt": crdt, "mdat": mdat, "pdat": pdat}
    end = min(LAST_DAY, date.fromordinal(min(start.toordinal() + length, LAST_DAY.toordinal())))
    whole = Segment("edat", (Range("edat", start, end),))
    for second in path:
        halves = whole.split()
        assert sum(holds(half, dates) for half in halves) == holds(whole, dates)
        whole = halves[second]


def test_a_single_day_is_cut_along_another_date():
    day = Segment("edat", (Range("edat", TODAY, TODAY),))
    first, second = day.split()
    assert [each.field for each in first.within] == ["edat", FURTHER_FIELDS[0]]
    assert first.within[1].end + timedelta(days=1) == second.within[1].start


def test_a_day_that_no_date_can_cut_is_refused_with_advice():
    segment = Segment("edat", tuple(Range(field, TODAY, TODAY) for field in ("edat", "pdat", "mdat", "crdt")))
    with pytest.raises(NcbiQueryRejected, match="narrow the term"):
        segment.split()


def test_the_users_term_is_parenthesised_before_clauses_are_added():
    [first, second, _] = windows({}, 0, TODAY)
    assert first.term("a OR b") == '(a OR b) AND ("1800/01/01"[edat] : "2021/06/08"[edat])'
    assert second.term("a OR b") == (
        '((a OR b) AND ("1800/01/01"[crdt] : "2021/06/08"[crdt])) NOT (("1800/01/01"[edat] : "2021/06/08"[edat]))'
    )


@given(st.data())
def test_a_segment_survives_json(data):
    segment = data.draw(st.sampled_from(windows({"edat": date(2021, 1, 1)}, 3, TODAY)))
    for second in data.draw(st.lists(st.booleans(), max_size=12)):
        segment = segment.split()[second]
    assert Segment.from_json(segment.to_json()) == segment


@pytest.mark.parametrize("term", ["a) OR (b", "(a", 'a "b', "a))", " "])
def test_a_term_that_would_swallow_the_clauses_is_refused(term):
    with pytest.raises(InvalidInput, match="term: "):
        check_term(term)


def test_brackets_inside_quotes_are_text():
    assert check_term(' "a (b"[ti] ') == '"a (b"[ti]'
