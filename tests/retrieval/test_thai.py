"""Thai cut into words, with PyThaiNLP and without, and the names that ship with the package."""

import subprocess
import sys
from importlib.resources import files

import pytest

from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.thai import THAI, dictionary, segmenter, spelled, stop_words, word_terms, words_of

TEXT = "สมุนไพรขมิ้นชันลดน้ำตาลในเลือดของผู้ป่วยเบาหวานชนิดที่ 2 (n = 50)"


@pytest.fixture
def without_pythainlp(monkeypatch):
    monkeypatch.setitem(sys.modules, "pythainlp.corpus", None)
    segmenter.cache_clear()
    yield
    segmenter.cache_clear()


def test_names_of_the_dictionary_are_words_and_so_are_others():
    words = words_of(TEXT)
    assert {"สมุนไพร", "ขมิ้นชัน", "น้ำตาลในเลือด", "ผู้ป่วย", "เบาหวานชนิดที่ 2"} <= set(words)
    assert "ลด" in words
    assert "n" not in words


def test_words_as_short_as_two_letters_are_terms_and_no_term_holds_a_space():
    terms = word_terms("โรคของไต เบาหวานชนิดที่ 2")
    assert "=ไต" in terms
    assert "=เบาหวานชนิดที่2" in terms
    assert word_terms("kidney") == []


def test_words_that_say_nothing_are_known():
    assert {"ของ", "และ"} <= stop_words()
    assert "ตับ" not in stop_words()


def test_without_pythainlp_names_are_found_and_nothing_else_is_a_word(without_pythainlp):
    assert not segmenter()
    assert words_of(TEXT) == ["สมุนไพร", "ขมิ้นชัน", "ลด", "น้ำตาลในเลือด", "ของ", "ผู้ป่วย", "เบาหวานชนิดที่ 2"]
    assert word_terms(TEXT) == []
    assert stop_words() == frozenset()


def test_pythainlp_writes_nothing_into_the_home_directory_and_waits_until_thai_text_comes(tmp_path):
    code = (
        "import sys\n"
        "from bio_mcp.retrieval.thai import word_terms\n"
        "word_terms('kidney')\n"
        "assert 'pythainlp' not in sys.modules\n"
        "assert word_terms('ไต')\n"
        "assert 'pythainlp' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"HOME": str(tmp_path), "PATH": ""})
    assert list(tmp_path.iterdir()) == []


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


def test_a_name_is_found_however_its_vowels_are_typed():
    assert dictionary()[spelled("น้ำตาลในเลือด")] == ("blood glucose",)
    assert spelled("น้\u0e4d\u0e32ตาล") == "น้ำตาล"  # sara am of two characters
    assert spelled("เเผล\u200b") == "แผล"  # sara ae of two, and a space without width
