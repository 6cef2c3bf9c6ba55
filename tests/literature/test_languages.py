"""Codes of languages from what people and programs write, and the language of a text."""

import pytest

from bio_mcp.literature.languages import language_of, three_letters, two_letters


@pytest.mark.parametrize(
    ("written", "three", "two"),
    [
        ("en-US", "eng", "en"),
        ("eng", "eng", "en"),
        (" German ", "deu", "de"),
        ("ger", "deu", "de"),
        ("de-Latn-AT", "deu", "de"),
        ("th-TH", "tha", "th"),
        ("ไทย", "tha", "th"),
        ("fre", "fra", "fr"),
        ("Klingon", None, None),
        ("", None, None),
    ],
)
def test_a_language_has_its_codes_however_it_is_written(written, three, two):
    assert (three_letters(written), two_letters(written)) == (three, two)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "BRCA1 TP53 EGFR",
        "Les résultats de cette étude ne sont pas dus au hasard et nous en avons tenu compte dans les calculs.",
        "the the",
    ],
)
def test_an_unclear_language_is_none(text):
    assert language_of(text) is None


def test_thai_among_english_words_is_thai():
    assert language_of("ขมิ้นชัน (Curcuma longa) เป็นพืชสมุนไพรในวงศ์ขิง") == "th"
