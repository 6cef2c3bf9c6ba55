import pytest

from bio_mcp.adapters.parsers.pdf import PageImage, RecognisedPage, parse_pdf
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.layout.lines import PositionedLine
from tests.adapters.parsers.pdf.files import CATALOG, image, paragraph, pdf, show, written
from tests.adapters.parsers.pdf.papers import PDF

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


def test_an_empty_page_is_no_reason_for_a_warning():
    assert parse_pdf(pdf(paragraph(TEXT), b"")).warnings == ()


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
    assert (document.ocr, document.confidence, document.warnings) == (
        False,
        None,
        ("No text could be read on page 2.",),
    )


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


ENCRYPT = b"/Encrypt << /Filter /Standard /V 1 /R 2 /O (%s) /U (%s) /P -4 >> /ID [(a) (a)]" % (b"o" * 32, b"u" * 32)
EMPTY = b"<< /Type /Pages /Kids [] /Count 0 >>"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html><title>403 Forbidden</title></html>", "is not a PDF"),
        (b"", "is not a PDF"),
        ((PDF / "micropub001725.pdf").read_bytes()[:50_000], "is cut off"),
        (b"%PDF-1.7\n" + b"\x00" * 5000, "is cut off"),
        (b"%PDF-1.7\nnothing\n%%EOF\n", "is damaged"),
        (written([CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", b"<< >>"], ENCRYPT), "is encrypted"),
        (written([CATALOG, EMPTY]), "damaged or has no pages"),
        (pdf(*[b""] * 5), "has 5 pages, more than the 4"),
    ],
    ids=["html", "empty", "cut off", "zeros", "damaged", "encrypted", "no pages", "many pages"],
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
