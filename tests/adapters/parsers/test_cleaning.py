"""What is taken out of a parsed document, whatever reader made it."""

import pytest

from bio_mcp.adapters.parsers import reading
from bio_mcp.adapters.parsers.reading import clean
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.documents import ParsedDocument, ParsedSection


def test_pages_stay_with_their_text_when_characters_are_taken_out():
    section = ParsedSection(" \x00A\u200bb\n\nc\x1b[31md ", "H", ("H",), ((0, 4), (7, 5)))
    cleaned = clean(ParsedDocument((section,), pages=9)).sections[0]
    assert cleaned.text == "Ab\n\ncd"
    assert cleaned.page_starts == ((0, 4), (4, 5))
    assert cleaned.text[cleaned.page_starts[1][0] :] == "cd"


def test_headings_titles_and_warnings_are_one_line_without_controls():
    section = ParsedSection("t", "A\x1b[2J\nB", ("Top\x00", "A\x1b[2J\nB", "\x07"))
    cleaned = clean(ParsedDocument((section,), title="\u202eT\r\n", warnings=("w\x1b]0;x\x07",)))
    assert (cleaned.sections[0].heading, cleaned.sections[0].path) == ("A B", ("Top", "A B"))
    assert (cleaned.title, cleaned.warnings) == ("T", ("w",))


def test_a_heading_has_a_greatest_length():
    cleaned = clean(ParsedDocument((ParsedSection("t", "word " * 1_000),)))
    assert len(cleaned.sections[0].heading) <= reading.LONGEST_LINE + 2


def test_surrogates_that_no_encoding_has_are_taken_out():
    assert clean(ParsedDocument((ParsedSection("a\ud800b"),))).text == "ab"


def test_a_section_without_text_and_heading_is_left_out_and_one_with_a_heading_stays():
    sections = (ParsedSection(" \x00"), ParsedSection("", "Methods", ("Methods",)), ParsedSection("t"))
    assert [each.heading for each in clean(ParsedDocument(sections)).sections] == ["Methods", None]


@pytest.mark.parametrize(
    ("sections", "says"),
    [
        ((), "holds no text"),
        ((ParsedSection("", "Methods", ("Methods",)),), "holds no text"),
        ((ParsedSection("x" * (reading.LONGEST_TEXT + 1)),), "more than 20,000,000 characters"),
        ((ParsedSection("x"),) * (reading.MOST_SECTIONS + 1), "50,000 sections; split it"),
    ],
)
def test_too_little_and_too_much_are_refused(sections, says):
    with pytest.raises(UnreadableDocument, match=says):
        clean(ParsedDocument(sections))
