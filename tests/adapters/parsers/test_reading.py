"""The kind of a file, and what is taken out of a parsed document."""

import pytest

from bio_mcp.adapters.parsers import reading
from bio_mcp.adapters.parsers.reading import Kind, clean, kind_of
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.documents import ParsedDocument, ParsedSection
from tests.adapters.parsers.documents import packed, simple

HTML = b"<!DOCTYPE html><html><body><p>Text"
KINDS = [
    (b"%PDF-1.7\n...", "", Kind.PDF),
    (b"\n%PDF-1.7", "paper.txt", Kind.PDF),
    (b"junk %PDF-1.4", "paper.pdf", Kind.PDF),
    (b"junk about %PDF-1.4", "notes.txt", Kind.TEXT),
    (b"\x89PNG\r\n\x1a\n....", "page", Kind.IMAGE),
    (HTML, "page", Kind.HTML),
    (b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x" "y">\n<html xmlns="z"><p>', "page.xml", Kind.HTML),
    (b"<div>A piece", "page", Kind.HTML),
    (b"<div>A piece", "note.md", Kind.MARKDOWN),
    (b"# Note", "NOTE.MD", Kind.MARKDOWN),
    (b"<html> is a tag", "", Kind.HTML),
    (b"We write <html> here", "", Kind.TEXT),
    (b"BM is text", "a.txt", Kind.TEXT),
    ("Größe".encode("utf-16"), "a", Kind.TEXT),
    (b"<article><front><article-meta/></front></article>", "", Kind.JATS),
    (b"<article><h1>Blog</h1></article>", "", Kind.HTML),
    (b"<!-- c --><?x y?><pmc-articleset dtd-version='1'>", "", Kind.JATS),
    (simple(), "paper.pdf", Kind.DOCX),
]


@pytest.mark.parametrize(("content", "name", "kind"), KINDS, ids=[f"{name}: {kind}" for _, name, kind in KINDS])
def test_content_says_what_a_file_is_before_its_name(content, name, kind):
    assert kind_of(content, name) is kind


REFUSED = [
    (b"", "a.pdf", "empty"),
    (b" \0\n\0", "a.txt", "empty"),
    (HTML, "a.pdf", "named as a PDF but is an HTML page"),
    (b"words", "a.tiff", "named as an image but is text"),
    (bytes(range(256)) * 4, "a.pdf", "of no kind that is read"),
    (b"\x7fELF\x02\x01\x01" + b"\0" * 50, "a", "of no kind that is read"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc", "old or an encrypted document of Office"),
    (b"{\\rtf1 text}", "a.rtf", "RTF"),
    (b"\x1f\x8b\x08", "a.pdf.gz", "an archive"),
    (b"BM\x9a\0\0\0", "a.bmp", "save it as PNG"),
    (packed({"xl/workbook.xml": ""}), "a.xlsx", "Excel"),
    (packed({"META-INF/container.xml": ""}), "a.epub", "EPUB"),
    (packed({"a.pdf": ""}), "a.zip", "an archive; unpack it"),
    (b"PK\x03\x04 junk", "a.docx", "damaged"),
    (b"<?xml version='1.0'?><TEI/>", "a.xml", "of XML only JATS is"),
    (b"<?xml version='1.0'?><PubmedArticleSet/>", "a.xml", "bio-mcp import"),
]


@pytest.mark.parametrize(("content", "name", "says"), REFUSED, ids=[f"{name}: {says}" for _, name, says in REFUSED])
def test_what_is_not_read_is_refused_with_what_would_help(content, name, says):
    with pytest.raises(UnreadableDocument, match=says):
        kind_of(content, name)


def test_random_bytes_are_no_text():
    state, junk = 1, bytearray()
    for _ in range(3_000):
        state = state * 1_103_515_245 + 12_345 & 0x7FFFFFFF
        junk.append(state >> 16 & 0xFF)
    for start in range(0, 2_000, 500):
        with pytest.raises(UnreadableDocument, match="of no kind"):
            kind_of(b"\xfd" + bytes(junk[start : start + 1_000]), "a.txt")


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


def test_a_heading_has_a_greatest_length_and_surrogates_that_no_encoding_has_are_taken_out():
    cleaned = clean(ParsedDocument((ParsedSection("a\ud800b", "word " * 1_000),)))
    assert len(cleaned.sections[0].heading) <= reading.LONGEST_LINE + 2
    assert cleaned.text == "ab"


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
