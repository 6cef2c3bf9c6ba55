"""Thai cut into words, with PyThaiNLP and without."""

import subprocess
import sys

import pytest

from bio_mcp.retrieval import thai as thai_words
from bio_mcp.retrieval.thai import can_segment, stop_words, word_terms, words_of

TEXT = "สมุนไพรขมิ้นชันลดน้ำตาลในเลือดของผู้ป่วยเบาหวานชนิดที่ 2 (n = 50)"


@pytest.fixture
def without_pythainlp(monkeypatch):
    monkeypatch.setitem(sys.modules, "pythainlp.corpus", None)
    thai_words._newmm.cache_clear()
    yield
    thai_words._newmm.cache_clear()


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
    assert not can_segment()
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
