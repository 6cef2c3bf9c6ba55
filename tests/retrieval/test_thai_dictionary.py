"""The Thai names that ship with the package, and what is known of each."""

from importlib.resources import files

from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.thai import THAI, dictionary, longest_name, spelled

ROWS = [line.split("\t") for line in files("bio_mcp.retrieval").joinpath("thai_english.tsv").read_text().splitlines()]
MEANING, FORM = set("wmp"), set("ka")  # thai_english.md says what they stand for


def test_every_row_was_checked_in_two_ways_one_of_which_is_of_its_meaning():
    for thai, _, _, checks in ROWS:
        assert set(checks) <= MEANING | FORM, thai
        assert len(set(checks)) == len(checks) >= 2, thai
        assert set(checks) & MEANING, thai


def test_every_row_has_a_thai_name_and_english_ones_that_are_searched_by():
    assert len(ROWS) > 800
    for thai, english, kind, _ in ROWS:
        assert THAI.match(thai), thai
        assert kind in {"herb", "constituent", "drug", "disease", "body", "clinical"}
        assert all(analyse(name) and name.isascii() for name in english.split(";")), thai


def test_no_thai_name_stands_twice_and_rows_are_in_order():
    names = [thai for thai, *_ in ROWS]
    assert names == sorted(set(names))
    assert len(dictionary()) == len(ROWS)
    assert longest_name() == max(map(len, dictionary()))


def test_a_name_is_found_however_its_vowels_are_typed():
    assert dictionary()[spelled("น้ำตาลในเลือด")] == ("blood glucose",)
    assert spelled("น้\u0e4d\u0e32ตาล") == "น้ำตาล"  # sara am of two characters
    assert spelled("เเผล\u200b") == "แผล"  # sara ae of two, and a space without width
