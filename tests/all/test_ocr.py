"""Scans recognised by tesseract, per language, against what stands on them.

It needs tesseract with the packs eng, deu and tha: `make tesseract` installs them on Debian.
"""

import io
import os
import struct
import subprocess
import unicodedata
import zlib
from pathlib import Path

import pypdfium2
import pytest

from bio_mcp.adapters.parsers.isolated import IsolatedParser, Limits
from bio_mcp.adapters.parsers.scans import turned
from bio_mcp.errors import UnreadableDocument
from tests.adapters.parsers.pages import drawn, scan, typeset
from tests.adapters.parsers.reading import read

DATA = Path(__file__).parents[1] / "data"
LEAST = 0.97
GERMAN = """\
Wirksamkeit von Kurkuma bei Verdauungsbeschwerden
Die Übersicht fasst fünf randomisierte Studien mit insgesamt 412 Erwachsenen zusammen,
die täglich 500 mg Kurkuma oder ein Scheinmittel erhielten. Größere Unterschiede zeigten
sich nach vier Wochen: Die Beschwerden nahmen um 38 % ab (p < 0,01), während sie in der
Vergleichsgruppe gleich blieben. Unerwünschte Wirkungen waren selten und mild; häufiger
als zuvor klagten Teilnehmer über weichen Stuhl. Bei Gallensteinen, während der
Schwangerschaft und bei gerinnungshemmenden Mitteln wie Phenprocoumon ist Vorsicht nötig.
Für eine abschließende Bewertung fehlen längere Beobachtungen, insbesondere bei Älteren.
Weitere Prüfungen müssen Darreichungsform, Löslichkeit und Aufnahme genau beschreiben.""".split("\n")
ENGLISH = """\
Curcumin for functional dyspepsia
We searched four databases for randomised trials that compared curcumin with placebo.
Five trials with 412 adults were included; the dose was 500 mg a day in all of them.
After four weeks symptoms had fallen by 38% (p < 0.01) and did not change with placebo.
Adverse events were rare and mild. Caution is due with gallstones and anticoagulants.""".split("\n")


def plain(text):
    """The text with quotes, dashes and spaces as one types them: no difference that a reader would see."""
    text = unicodedata.normalize("NFC", text).translate(str.maketrans("‘’“”—–", "''\"\"--"))
    return " ".join(text.split())


def similarity(one, other):
    """1 less the share of characters that must be changed, by Levenshtein's distance."""
    one, other = plain(one), plain(other)
    before = list(range(len(other) + 1))
    for row, left in enumerate(one, 1):
        now = [row]
        for column, right in enumerate(other, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (left != right)))
        before = now
    return 1 - before[-1] / max(len(one), len(other))


def whole(document):
    """Headings and text, in order."""
    parts = []
    for section in document.sections:
        parts += [section.heading or "", section.text]
    return " ".join(parts)


def recognised(content, name, *languages):
    return read(content, name, languages, tesseract="tesseract")


@pytest.fixture
def parser():
    limits = Limits(1 << 30, 300, 120, 2_000)
    made = IsolatedParser(limits, tesseract="tesseract", environment={"PATH": os.environ["PATH"]})
    yield made
    made.close()


def test_an_old_print_is_read():
    page = recognised((DATA / "ocr/gutenberg_c03.pdf").read_bytes(), "scan.pdf", "en")
    truth = (DATA / "ocr/gutenberg_c03.txt").read_text()
    assert similarity(whole(page), truth) >= LEAST
    assert (page.pages, page.ocr, page.language) == (1, True, "en")
    assert 0.8 < page.confidence <= 1
    assert {each.page_span for each in page.sections} == {(1, 1)}


def test_the_default_is_english_and_german():
    scanned = scan(drawn(typeset(GERMAN)), drawn(typeset(ENGLISH)))
    document = recognised(scanned, "scan.pdf")
    assert similarity(whole(document), " ".join([*GERMAN, *ENGLISH])) >= LEAST
    assert document.pages == 2


@pytest.mark.parametrize(("lines", "language"), [(GERMAN, "de-DE"), (GERMAN, "ger"), (ENGLISH, "eng")])
def test_a_scan_of_a_language_is_read(lines, language):
    document = recognised(scan(drawn(typeset(lines))), "scan.pdf", language)
    assert similarity(whole(document), " ".join(lines)) >= LEAST
    assert document.language == ("en" if lines is ENGLISH else "de")


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_that_lies_on_its_side_or_its_head_is_turned(angle):
    document = recognised(scan(turned(drawn(typeset(GERMAN)), angle)), "scan.pdf", "de")
    assert similarity(whole(document), " ".join(GERMAN)) >= LEAST


@pytest.mark.parametrize("dpi", [200, 300])
def test_thai_is_read_without_spaces_between_its_letters(dpi):
    printed = (DATA / "pdf/thai_turmeric.pdf").read_bytes()
    document = recognised(scan(drawn(printed, dpi=dpi)), "scan.pdf", "th")
    assert similarity(whole(document), whole(read(printed, "a.pdf"))) >= LEAST
    assert document.language == "th"
    assert "ขมิ้นชันเป็นสมุนไพรไทย" in document.text.replace(" (Curcuma longa L.) ", "")


@pytest.mark.parametrize(("paper", "page"), [("demarchis2016.pdf", 2), ("micropub001725.pdf", 3)])
def test_a_page_of_a_paper_gives_the_text_that_its_file_has(paper, page):
    printed = (DATA / "pdf" / paper).read_bytes()
    document = pypdfium2.PdfDocument(printed)
    own = document[page - 1].get_textpage().get_text_range()
    document.close()
    found = recognised(scan(drawn(printed, page)), "scan.pdf", "en")
    assert shared_words(own, found.text) >= LEAST


def test_the_columns_of_a_page_are_read_one_after_the_other():
    printed = (DATA / "pdf/demarchis2016.pdf").read_bytes()
    found = recognised(scan(drawn(printed)), "scan.pdf", "en")
    text = whole(found)
    inner = [
        "Background: Functional Electrical Stimulation",
        "still a challenge.",
        "Methods: A multi-contact set-up",
        "a kinematic glove.",
        "Results: The stimulation electrodes",
        "Conclusions: A subset of functionally",
        "Functional Electrical Stimulation (FES) is a widely used",
        "target muscles. This technique has been",
        "extensively studied for both training",
        "functionality when physical therapy alone",
    ]
    places = [text.find(each) for each in inner]
    assert -1 not in places
    assert places == sorted(places)


def shared_words(truth, found):
    """The share of the truth's words that were found, whatever the order of columns."""
    words, seen = plain(truth.replace("\ufffe", "").replace("-\r\n", "")).split(), set(plain(found).split())
    return sum(word in seen for word in words) / len(words)


def test_only_pages_without_text_are_recognised():
    mixed = pypdfium2.PdfDocument(typeset(ENGLISH))
    mixed.import_pages(pypdfium2.PdfDocument(scan(drawn(typeset(GERMAN)))))
    stream = io.BytesIO()
    mixed.save(stream)
    document = recognised(stream.getvalue(), "mixed.pdf", "de")
    assert ENGLISH[1] in document.text
    assert similarity(whole(document), " ".join([*ENGLISH, *GERMAN])) >= LEAST
    assert document.ocr


def png(image):
    rows = b"".join(b"\0" + image.pixels[row * image.width : (row + 1) * image.width] for row in range(image.height))
    header = struct.pack(">IIBBBBB", image.width, image.height, 8, 0, 0, 0, 0)
    return png_of(header, zlib.compress(rows), (b"pHYs", struct.pack(">IIB", 7874, 7874, 1)))


def png_of(header, body, *more):
    parts = [(b"IHDR", header), *more, (b"IDAT", body), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )


def test_an_image_alone_is_a_page():
    document = recognised(png(drawn(typeset(ENGLISH))), "page.png", "en")
    assert similarity(whole(document), " ".join(ENGLISH)) >= LEAST
    assert (document.pages, document.ocr) == (1, True)


@pytest.mark.parametrize("image", [b"\x89PNG\r\n\x1a\njunk", b"\xff\xd8\xff\xe0 not a JPEG", b"II*\0\x08\0\0\0"])
def test_an_image_that_is_damaged_is_refused(image):
    with pytest.raises(UnreadableDocument, match="cannot be read: it is damaged"):
        recognised(image, "page")


def test_an_image_without_text_is_refused():
    blank = drawn(typeset([]))
    with pytest.raises(UnreadableDocument, match="No text is recognised"):
        recognised(png(blank), "page.png")


def test_an_image_that_unpacks_to_gigabytes_is_refused(parser):
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    packer = zlib.compressobj(9)
    row = bytes(60_001)
    body = b"".join(packer.compress(row) for _ in range(2_000)) + packer.flush()
    with pytest.raises(UnreadableDocument, match="cannot be read"):
        parser.parse(png_of(header, body), "page.png")


def test_a_scan_goes_through_the_child(parser):
    document = parser.parse(scan(drawn(typeset(GERMAN))), "scan.pdf", ["deu"])
    assert similarity(whole(document), " ".join(GERMAN)) >= LEAST


def test_the_packs_that_are_needed_are_installed():
    listed = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=True).stdout
    assert {"eng", "deu", "tha"} <= set(listed.split())


def test_the_words_of_a_page_have_boxes_where_they_stand(parser):
    scanned = scan(drawn(typeset(ENGLISH)), drawn(typeset(GERMAN)))
    words = parser.words(scanned, 1, ["en"])
    assert similarity(" ".join(each.text for each in words), " ".join(ENGLISH)) >= LEAST
    first, second = (next(each for each in words if each.text == text) for text in ("Curcumin", "dyspepsia"))
    left, top, right, bottom = first.box
    assert 0 < left < right < second.box[0] < 1
    assert abs(top - second.box[1]) < bottom - top < 0.05
    assert parser.words(scanned, 3) == []
    with pytest.raises(UnreadableDocument, match="not a PDF"):
        parser.words(b"nothing of the kind", 1)


LIES = {  # where a box of an upright page is on one that was turned clockwise
    90: lambda left, top, right, bottom: (1 - bottom, left, 1 - top, right),
    180: lambda left, top, right, bottom: (1 - right, 1 - bottom, 1 - left, 1 - top),
    270: lambda left, top, right, bottom: (top, 1 - right, bottom, 1 - left),
}


@pytest.mark.parametrize("angle", LIES)
def test_the_words_of_a_page_that_lies_on_its_side_or_its_head_have_boxes_where_they_stand(parser, angle):
    page = drawn(typeset(ENGLISH))
    upright, lying = (parser.words(scan(image), 1, ["en"]) for image in (page, turned(page, angle)))
    assert [each.text for each in lying] == [each.text for each in upright]
    for one, other in zip(upright, lying, strict=True):
        assert other.box == pytest.approx(LIES[angle](*one.box), abs=0.005)
