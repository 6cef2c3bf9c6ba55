"""Files made to do harm, through the parser as it is shipped: each a clear refusal, or read as far as it is one."""

import zlib
from pathlib import Path

import pytest

from bio_mcp.adapters.parsers.isolated import IsolatedParser, Limits
from bio_mcp.errors import UnreadableDocument
from tests.adapters.parsers.documents import repacked, simple
from tests.adapters.parsers.pages import stream, typeset, written

DATA = Path(__file__).parents[2] / "data"
PAPER = (DATA / "pdf/micropub001725.pdf").read_bytes()
SENTENCES = ["A page of a trial of curcumin in four hundred adults with dyspepsia,", "who took it for four weeks."]
CATALOGUE = b"<</Type /Catalog /Pages 2 0 R>>"
PAGE = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources <<%s>>>>"
FONT = b"/Font <</F1 <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>"
ONE_PAGE = b"<</Type /Pages /Count 1 /Kids [3 0 R]>>"


def pages(count, kids=None):
    tree = b"<</Type /Pages /Count %d /Kids [%s]>>" % (count, b"3 0 R " * (kids or count))
    return written([CATALOGUE, tree, PAGE % FONT, stream(b"BT /F1 12 Tf 60 700 Td (Text) Tj ET")])


def encrypted():
    """A PDF that asks for a password."""
    secret = b"<</Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <%s> /U <%s>>>" % (b"ab" * 32, b"cd" * 32)
    return written(
        [CATALOGUE, ONE_PAGE, PAGE % FONT, stream(b""), secret], b"/Encrypt 5 0 R /ID [<%s> <%s>]" % ((b"01" * 16,) * 2)
    )


def forms(depth, width):
    """A page that draws a form, which draws the next `width` times, and so on: `width ** depth` texts."""
    objects = [CATALOGUE, ONE_PAGE, PAGE % (FONT + b"/XObject <</X 5 0 R>>"), stream(b"/X Do")]
    for level in range(depth):
        head = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources <<%s /XObject <</X %d 0 R>>>>"
        objects.append(stream(b"/X Do " * width, head % (FONT, 6 + level)))
    last = stream(b"BT /F1 12 Tf 60 700 Td (ha) Tj ET " * width, b"/Type /XObject /Subtype /Form /BBox [0 0 595 842]")
    return written([*objects, last])


def unpacking(megabytes):
    """A page whose content unpacks to so many megabytes of text."""
    packer = zlib.compressobj(9)
    line = b"BT /F1 1 Tf (word word word) Tj ET\n" * 30_000
    body = b"".join(packer.compress(line) for _ in range(megabytes)) + packer.flush()
    content = b"<</Length %d /Filter /FlateDecode>>\nstream\n%s\nendstream" % (len(body), body)
    return written([CATALOGUE, ONE_PAGE, PAGE % FONT, content])


REFUSED = {
    "an encrypted PDF": (encrypted, "a.pdf", "is encrypted; save it without its password"),
    "a PDF that is cut off": (PAPER[: len(PAPER) // 3], "a.pdf", "cut off before its end; download or copy it again"),
    "5,000 pages": (lambda: pages(5_000), "a.pdf", "5,000 pages, more than the 2,000 that are read; split it"),
    "a page tree that is its own child": (
        lambda: written([CATALOGUE, b"<</Type /Pages /Count 3 /Kids [2 0 R 2 0 R 2 0 R]>>"]),
        "a.pdf",
        "pages|text|damaged",
    ),
    "binary junk": (bytes(range(256)) * 99, "a", "of no kind that is read"),
    "a Word document that unpacks to gigabytes": (
        lambda: repacked(simple(), {"word/media/image1.png": bytes(60_000_000)}), "a.docx", "unpacks to far more"
    ),
    "XML that is nested without end": (
        b'<?xml version="1.0"?><article article-type="x"><body>' + b"<sec>" * 50_000, "a.xml", "cannot be read"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_with_a_reason(parser, what):
    made, name, says = REFUSED[what]
    with pytest.raises(UnreadableDocument, match=says) as raised:
        parser.parse(made() if callable(made) else made, name)
    assert str(raised.value).isprintable()
    assert str(raised.value).endswith(".")
    assert parser.parse(b"Read on.", "b.txt").text == "Read on."


def test_more_pages_are_read_where_the_setting_says_so(make):
    assert make(pages=3).parse(typeset(*([line] for line in (*SENTENCES, "The end."))), "a.pdf").pages == 3
    with pytest.raises(UnreadableDocument, match="4 pages, more than the 3 that are read"):
        make(pages=3).parse(pages(4), "a.pdf")


def test_a_page_tree_that_counts_wrongly_is_read_by_the_pages_that_it_has(parser):
    assert parser.parse(pages(2_000_000_000, kids=1), "a.pdf").pages == 1


def test_a_page_that_draws_itself_a_billion_times_is_given_up(make):
    parser = make(seconds=3, memory=400 << 20)
    with pytest.raises(UnreadableDocument, match=r"within 3 s|more than 400 MB"):
        parser.parse(forms(9, 10), "a.pdf")
    assert parser.parse(b"Read on.", "b.txt").text == "Read on."


def test_a_form_that_draws_itself_is_read_without_it(parser):
    circle = stream(b"BT /F1 12 Tf 60 700 Td (Text) Tj ET /X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] "
                    b"/Resources <<%s /XObject <</X 5 0 R>>>>" % FONT)  # fmt: skip
    made = written([CATALOGUE, ONE_PAGE, PAGE % (FONT + b"/XObject <</X 5 0 R>>"), stream(b"/X Do"), circle])
    assert "Text" in parser.parse(made, "a.pdf").text


@pytest.mark.parametrize(
    "name", ["\x1b[2J\x07/etc/passwd\n.pdf", "a\0.pdf", "\udcff\u202efdp.pdf", "x" * 100_000 + ".pdf", "../../a.pdf"]
)
def test_no_name_harms_and_none_is_repeated(parser, name):
    assert parser.parse(typeset(SENTENCES), name).pages == 1
    with pytest.raises(UnreadableDocument, match="named as a PDF") as raised:
        parser.parse(b"text", name)
    assert str(raised.value).isprintable()
    assert "passwd" not in str(raised.value)


def test_what_a_pdf_has_between_its_letters_is_taken_out(parser):
    made = typeset([SENTENCES[0].replace("trial", "tri\x1bal").replace("four", "fo\x07ur"), SENTENCES[1]])
    assert set(parser.parse(made, "a.pdf").text) & set("\x1b\x07\0") == set()


def test_a_page_that_unpacks_to_gigabytes_is_given_up_and_leaves_no_file(tmp_path):
    limits = Limits(200 << 20, 60, 30, 9)
    parser = IsolatedParser(limits, tesseract="none", environment={"TMPDIR": str(tmp_path)})
    parser.parse(simple(), "a.docx")
    with pytest.raises(UnreadableDocument, match="more than 200 MB"):
        parser.parse(unpacking(400), "a.pdf")
    parser.close()
    assert list(tmp_path.iterdir()) == []


def test_every_paper_of_the_tests_is_read(parser):
    papers = {path.name: parser.parse(path.read_bytes(), path.name) for path in (DATA / "pdf").glob("*.pdf")}
    assert {name: each.pages for name, each in papers.items()} == {
        "demarchis2016.pdf": 9, "micropub001725.pdf": 6, "thai_turmeric.pdf": 1,
    }  # fmt: skip
    assert not any(each.ocr for each in papers.values())


@pytest.mark.parametrize(
    "moved",
    [b"1 0 0 1 1e30 700 Tm", b"1 0 0 1 9999999 700 Tm", b"1e38 0 0 1e38 60 700 Tm", b"0 0 0 0 60 700 Tm",
     b"1 0 0 1 60 -8e7 Tm", b"1e-30 0 0 1e-30 60 700 Tm"],
)  # fmt: skip
def test_text_that_is_placed_or_sized_without_measure_takes_no_memory(make, moved):
    lines = b" ".join(b"1 0 0 1 60 %d Tm (line %d of the trial) Tj" % (600 - 20 * n, n) for n in range(9))
    content = stream(b"BT /F1 12 Tf %s (far) Tj (away) Tj %s ET" % (moved, lines))
    document = make(memory=200 << 20).parse(written([CATALOGUE, ONE_PAGE, PAGE % FONT, content]), "a.pdf")
    assert "line 8 of the trial" in document.text
