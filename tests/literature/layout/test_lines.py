"""Characters and lines, and how they are joined."""

import pytest

from bio_mcp.literature.layout.lines import joined, readable, words_of


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("e\ufb03cient \ufb01nding", "efficient finding"),
        ("T¨ubingen", "Tübingen"),
        ("caf´e", "café"),
        ("Franc¸ois", "François"),
        ("5´ end", "5´ end"),
        ("a\u00a0b\u2009c", "a b c"),
        ("a\u200bb\ufeff", "ab"),
        ("10⁻⁵ µg × 3", "10⁻⁵ µg × 3"),
        ("beta\u2010blocker", "beta-blocker"),
        ("ขมิ ้นชัน", "ขมิ้นชัน"),
        ("นĚา", "นำ"),
        ("ท่อนĚ้าดี", "ท่อน้ำดี"),
        ("น\u0e4dา", "นำ"),
        ("ปี\uf70aที\uf70bสุด".replace("\uf70b", "\uf70a"), "ปี่ที่สุด"),
        ("plain ASCII - text", "plain ASCII - text"),
    ],
)
def test_characters_are_those_that_a_reader_types(stored, read):
    assert readable(stored) == read


WORDS = words_of(
    ["a beta-blocker is a drug", "sub-threshold pulses", "the threshold", "beta cells", "small children", "to-day"]
)


@pytest.mark.parametrize(
    ("text", "line", "whole"),
    [
        ("an effective-", "ness of", "an effectiveness of"),
        ("the beta-", "blocker was", "the beta-blocker was"),
        ("by sub-", "threshold pulses", "by sub-threshold pulses"),
        ("a non-", "painful stimulus", "a non-painful stimulus"),
        ("center-to-", "center distance", "center-to-center distance"),
        ("the M-", "wave", "the M-wave"),
        ("an IGF-", "like peptide", "an IGF-like peptide"),
        ("pre-", "and postoperative", "pre- and postoperative"),
        ("vor-", "und nachher", "vor- und nachher"),
        ("pages 10–", "14", "pages 10–14"),
        ("aged 10-", "14 years", "aged 10-14 years"),
        ("the Kaplan–", "Meier curve", "the Kaplan–Meier curve"),
        ("then –", "without", "then – without"),
        ("finger/", "wrist", "finger/wrist"),
        ("soft\u00ad", "ened", "softened"),
        ("https://doi.org/10.1/a-", "b.c", "https://doi.org/10.1/a-b.c"),
        ("two", "words", "two words"),
        ("ยาต้าน", "การแข็งตัว", "ยาต้านการแข็งตัว"),
        ("", "first", "first"),
    ],
)
def test_what_the_end_of_a_line_parts_is_made_whole(text, line, whole):
    assert joined(text, line, WORDS) == whole


def test_parts_of_words_at_the_end_of_a_line_are_no_words_of_the_document():
    words = words_of(["an effective-", "ness of the drug"])
    assert "ness" not in words
    assert "effective" not in words
    assert words["drug"] == 1
