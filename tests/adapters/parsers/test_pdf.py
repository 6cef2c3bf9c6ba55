"""PDF files: made ones, and papers as publishers print them, beside what they are known to say.

GROBID errs too, so words alone are compared: it drops hyphens of words ("Mwave"), takes a caption into the text, leaves
out a line, and writes every number of "[10-14]".
"""

import lzma
import re
import unicodedata
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bio_mcp.adapters.parsers.pdf import PageImage, RecognisedPage, parse_pdf
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.documents import ParsedDocument, SectionKind
from bio_mcp.literature.layout.lines import PositionedLine
from bio_mcp.untrusted import neutral
from tests.adapters.parsers.pages import CATALOG, image, paragraph, pdf, show, written

PDF = Path(__file__).parents[2] / "data/pdf"
TEI = "{http://www.tei-c.org/ns/1.0}"


@cache
def parsed(name: str) -> ParsedDocument:
    return parse_pdf((PDF / name).read_bytes())


def words(text: str) -> list[str]:
    """Words alone, in small letters and compatible characters, so that neither quotes nor hyphens count."""
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())


def similarity(one: str, other: str) -> float:
    return SequenceMatcher(None, words(one), words(other), autojunk=False).ratio()


@cache
def grobid() -> tuple[list[str], str]:
    """The headings of the paper's text as GROBID finds them, and the text itself without figures."""
    tei = ElementTree.fromstring(lzma.decompress((PDF / "demarchis2016.tei.xml.xz").read_bytes()))
    divisions = tei.findall(f"{TEI}text/{TEI}body/{TEI}div")
    headings = ["".join(each.itertext()) for division in divisions for each in division.findall(f"{TEI}head")]
    parts = [each for division in divisions for each in division.iter() if each.tag in (f"{TEI}p", f"{TEI}formula")]
    return headings, " ".join("".join(each.itertext()) for each in parts)


def body(document: ParsedDocument, first: str, last: str) -> str:
    """The text of the top sections from `first` to `last`, without captions."""
    tops = [section.path[0] if section.path else "" for section in document.sections]
    chosen = document.sections[tops.index(first) : len(tops) - tops[::-1].index(last)]
    kept = [
        each.text for each in chosen if each.kind is SectionKind.BODY and not re.match(r"Fig(ure|\.) \d", each.text)
    ]
    return "\n\n".join(kept)


TEXT = "\n".join(
    f"Line {word} of a text about the sleep of mice in the laboratory" for word in "one two three four five six".split()
)
JOINED = TEXT.replace("\n", " ")
GARBLED = "\n".join("7KHSDWLHQWVZHUHWUHDWHGZLWKPHWIRUPLQDQGWKHUHVXOWVRIWKHVWXG" for _ in range(6))


class Reader:
    """Recognises `text` on every page that it is given, and remembers the images."""

    def __init__(self, text="what was recognised", confidence=0.9):
        self.images: list[PageImage] = []
        self.text, self.confidence = text, confidence

    def __call__(self, drawn):
        self.images.append(drawn)
        lines = (PositionedLine(self.text, 50, 200, 100, 10),) if self.text else ()
        return RecognisedPage(lines, self.confidence)


def test_text_in_bold_type_above_text_is_a_heading():
    document = parse_pdf(pdf(show("Results", y=720, size=12, font="B") + paragraph(TEXT)))
    assert [(each.heading, each.text, each.page_span) for each in document.sections] == [("Results", JOINED, (1, 1))]
    assert (document.pages, document.ocr, document.confidence, document.warnings) == (1, False, None, ())


def test_a_page_that_is_stored_on_its_side_is_read_upright():
    lines = [show(line, x=72 + 12 * at, y=72, turned=True) for at, line in enumerate(TEXT.split("\n"))]
    assert parse_pdf(pdf(b"".join(lines), more="/Rotate 90")).text == JOINED
    assert parse_pdf(pdf(b"".join(lines))).text == JOINED


def test_a_page_without_text_is_named_in_a_warning():
    document = parse_pdf(pdf(image(612, 792), paragraph(TEXT), image(612, 792), image(612, 792)))
    assert document.warnings == ("No text could be read on pages 1, 3-4.",)
    assert document.sections[0].page_span == (2, 2)
    assert parse_pdf(pdf(paragraph(TEXT), b"")).warnings == (), "an empty page is no reason for one"


def test_a_page_without_text_is_recognised_and_its_text_is_on_its_page():
    reader = Reader()
    document = parse_pdf(pdf(paragraph(TEXT), image(612, 792)), reader)
    assert [drawn.page for drawn in reader.images] == [2]
    assert (document.ocr, document.confidence, document.warnings) == (True, 0.9, ())
    section = document.sections[-1]
    at = section.text.index("what was recognised")
    assert section.pages_of(at, at + 5) == (2, 2)


def test_a_page_on_which_nothing_is_recognised_is_named_in_a_warning():
    document = parse_pdf(pdf(paragraph(TEXT), image(612, 792)), Reader(text=""))
    assert (document.ocr, document.confidence) == (False, None)
    assert document.warnings == ("No text could be read on page 2.",)


@pytest.mark.parametrize(
    "content",
    [paragraph(GARBLED), image(612, 792) + show("Downloaded on a day", y=20), image(600, 700)],
    ids=["letters shifted", "a stamp on a scan", "a scan"],
)
def test_text_that_is_not_the_pages_is_not_used(content):
    reader = Reader()
    assert parse_pdf(pdf(content), reader).text == "what was recognised"


@pytest.mark.parametrize("content", [paragraph(TEXT) + image(612, 792), show("Part II"), paragraph(TEXT.upper())])
def test_text_that_is_the_pages_is_used(content):
    reader = Reader()
    parse_pdf(pdf(content), reader)
    assert reader.images == []


def test_an_image_shows_the_page_as_it_is_seen_in_grey():
    reader = Reader()
    parse_pdf(pdf(image(306, 792), box="0 0 612 792"), reader)
    (drawn,) = reader.images
    assert (drawn.width, drawn.height, round(drawn.dpi)) == (2550, 3301, 300)
    assert len(drawn.pixels) == drawn.width * drawn.height
    row = drawn.pixels[100 * drawn.width :][: drawn.width]
    assert row[-1] == 255, "the right half is paper"
    assert row[10] < 255, "the left half is the picture"


def test_an_image_of_a_huge_page_is_bounded():
    reader = Reader()
    parse_pdf(pdf(image(14400, 14400), box="0 0 14400 14400"), reader)
    assert reader.images[0].width * reader.images[0].height <= 20_100_000


def test_the_language_is_the_texts_and_else_the_one_that_the_file_states():
    catalog = b"<< /Type /Catalog /Pages 2 0 R /Lang (de-AT) >>"
    assert parse_pdf(pdf(paragraph(TEXT), catalog=catalog)).language == "en"
    assert parse_pdf(pdf(show("Kurz"), catalog=catalog)).language == "de"
    assert parse_pdf(pdf(show("Kurz"))).language is None


GREEK = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap
1 begincodespacerange <00> <FF> endcodespacerange
2 beginbfchar <61> <D835DEFC> <62> <D835DC34> endbfchar
endcmap end end"""
MATHEMATICAL = b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Italic /ToUnicode 7 0 R >>"


def test_mathematical_letters_and_raised_and_lowered_numbers_are_read():
    line = show("The protein G", 72, 700) + show("a", 131, 700, font="M") + show("q is active at 3x10", 136, 700)
    line += show("-7", 208.6, 704, size=6) + show("mol of CO", 230, 700) + show("2", 272, 698, size=6)
    line += show("in cells", 279, 700) + show("1,2", 307.4, 704, size=6) + show("of mice.", 324, 700)
    extra = [MATHEMATICAL, b"<< /Length %d >>\nstream\n%s\nendstream" % (len(GREEK), GREEK)]
    text = parse_pdf(pdf(line, extra=extra, fonts=b"/M 6 0 R")).text
    assert text == "The protein G 𝛼q is active at 3x10⁻⁷ mol of CO₂ in cells¹,² of mice."
    assert neutral(text) == text, "they are no hidden characters"
    assert parse_pdf(pdf(show("On the 4", 72, 700) + show("th", 106, 704, size=6) + show("day", 116, 700))).text == (
        "On the 4th day"
    )


EMPTY = b"<< /Type /Pages /Kids [] /Count 0 >>"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html><title>403 Forbidden</title></html>", "is not a PDF"),
        (b"", "is not a PDF"),
        (b"%PDF-1.7\n" + b"\x00" * 5000, "is cut off"),
        (b"%PDF-1.7\nnothing\n%%EOF\n", "is damaged"),
        (written([CATALOG, EMPTY]), "damaged or has no pages"),
        (pdf(*[b""] * 5), "has 5 pages, more than the 4"),
    ],
    ids=["html", "empty", "zeros", "damaged", "no pages", "many pages"],
)
def test_what_cannot_be_read_is_refused_with_the_reason(content, reason):
    with pytest.raises(UnreadableDocument, match=reason):
        parse_pdf(content, most_pages=4)


_DAMAGED = "The PDF is damaged or has no pages; save it anew from the program that made it."
NESTED = b"[" * 50_000 + b"]" * 50_000
CIRCLE = b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"


def _pages_or_reason(content):
    try:
        return parse_pdf(content, Reader()).pages
    except UnreadableDocument as refused:
        return str(refused)


@pytest.mark.parametrize(
    "content",
    [
        pdf(b"q " * 100_000 + b"BT ET"),
        pdf(NESTED + b" TJ"),
        written([CATALOG, CIRCLE]),
        written([CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", NESTED]),
        pdf(b"", box="0 0 1e30 1e30"),
        pdf(show("x") * 3, box="0 0 0 0"),
        pdf(b"", more="/Rotate 33"),
    ],
    ids=["states", "arrays", "circle", "a page of arrays", "huge", "no area", "odd turn"],
)
def test_what_is_made_to_harm_is_read_or_refused(content):
    assert _pages_or_reason(content) in (1, _DAMAGED)


PAPER = "demarchis2016.pdf"


def test_every_heading_that_grobid_finds_is_found():
    ours = {section.heading for section in parsed(PAPER).sections}
    headings, _ = grobid()
    found = [heading for heading in headings if heading in ours]
    assert len(headings) == 18
    assert len(found) / len(headings) >= 0.95


def test_the_text_is_grobids_in_its_order():
    _, text = grobid()
    assert similarity(text, body(parsed(PAPER), "Background", "Conclusions")) >= 0.97


def test_headings_are_nested_as_their_type_says():
    paths = {section.path for section in parsed(PAPER).sections}
    assert ("Methods", "Experimental setup", "Neuromuscular electrical stimulation and EMG recording") in paths
    assert ("Methods", "Data analysis") in paths
    assert ("Results", "Hand opening with a rotated forearm position") in paths
    assert ("Conclusions",) in paths
    assert ("References",) in paths


def test_no_running_header_page_number_or_stamp_is_in_the_text():
    text = parsed(PAPER).text
    assert "Page 2 of 9" not in text
    assert not re.search(r"Rehabilitation\s+\(2016\) 13:22", text)
    assert "7/10/2025" not in parsed("micropub001725.pdf").text


def test_the_references_are_apart_one_a_paragraph():
    references = [each for each in parsed(PAPER).sections if each.kind is SectionKind.REFERENCES]
    assert [each.path for each in references] == [("References",)]
    entries = references[0].text.split("\n\n")
    assert len(entries) == 49
    assert all(entry.startswith(f"{number}. ") for number, entry in enumerate(entries, 1))
    assert references[0].page_span == (8, 9)


def test_a_paper_says_who_wrote_it_when_and_where():
    paper, report = parsed(PAPER), parsed("micropub001725.pdf")
    # Of "Thiago Santos Monteiro" nothing on the paper says that "Santos" is a family name.
    assert paper.authors == ("De Marchis C", "Monteiro TS", "Simon-Martinez C", "Conforto S", "Gharabaghi A")
    assert (paper.year, paper.journal) == (2016, "Journal of NeuroEngineering and Rehabilitation")
    assert report.authors == ("Mendoza Andrade O", "Wright Z", "Ghasemzadeh S", "Bergstralh DT")
    assert (report.year, report.journal) == (2025, "microPublication Biology")
    thai = parsed("thai_turmeric.pdf")
    assert (thai.authors, thai.year, thai.journal) == ((), None, None)


def test_a_paper_says_its_title_and_doi():
    assert parsed(PAPER).title.startswith("Multi-contact functional electrical stimulation for hand opening: electro")
    assert parsed(PAPER).doi == "10.1186/s12984-016-0129-6"
    micropub = parsed("micropub001725.pdf")
    assert micropub.title.endswith("Additional Cell Populations in the Drosophila melanogaster Ovary")
    assert micropub.doi == "10.17912/micropub.biology.001725"
    assert micropub.pmid is None


def test_what_a_reader_missed_in_the_papers_is_read():
    paths = {section.path for section in parsed(PAPER).sections}
    assert ("Methods", "Data analysis") in paths
    assert "TFEi" not in {path[-1] for path in paths if path}
    assert ("Discussion", "Potential Application for Neurorehabilitation") in paths
    assert ("Discussion", "Possible limitations and future perspectives") in paths
    assert "(GO:0010623, p=1.980×10⁻⁷)" in parsed("micropub001725.pdf").text


def test_words_parted_at_the_end_of_a_line_are_whole_and_compounds_keep_their_hyphen():
    wholes = ["effectiveness of FES", "spinal cord injury", "non-painful", "center-to-center", "M-wave was calculated"]
    assert [whole for whole in wholes if whole not in parsed(PAPER).text] == []


def test_captions_interrupt_no_sentence():
    captions = [each for each in parsed(PAPER).sections if re.match(r"Fig\. \d", each.text)]
    assert [each.text[:6] for each in captions] == [f"Fig. {number}" for number in range(1, 7)]
    assert "Single pulses were applied every 300 ms in order to avoid summation effects" in parsed(PAPER).text


def test_a_report_in_one_column_has_its_sections():
    tops = [each.path for each in parsed("micropub001725.pdf").sections]
    named = ["Title page", "Abstract", "Description", "Methods", "Reagents", "Acknowledgements", "Extended Data"]
    assert list(dict.fromkeys(path[0] for path in tops))[:7] == named
    assert ("Funding",) in tops
    nested = list(dict.fromkeys(path for path in tops if len(path) > 1))
    clusters = ["Clusters 0, 3, and 5", "Cluster 6", "Clusters 1 and 2", "Cluster 7", "Cluster 4"]
    assert nested == [*(("Description", each) for each in clusters), ("Copyright", "Citation")]


def test_thai_is_read_without_spaces_between_its_letters():
    document = parsed("thai_turmeric.pdf")
    truth = (PDF / "thai_turmeric.txt").read_text(encoding="utf-8")
    title, team, heading, abstract = truth.strip().split("\n")
    assert document.title == title
    assert document.sections[0].text == f"{title}\n\n{team}"
    assert (document.sections[1].heading, document.sections[1].text) == (heading, abstract)
    assert document.sections[-1].kind is SectionKind.REFERENCES
    assert document.pmid is None, "that of a cited paper is not its own"
