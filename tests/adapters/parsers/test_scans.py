"""Pages without text where tesseract is missing, lacks a language or fails; tests/all/test_ocr.py has what it reads."""

import io

import pypdfium2
import pytest

from bio_mcp.adapters.parsers.frames import Options
from bio_mcp.adapters.parsers.pdf import PageImage
from bio_mcp.adapters.parsers.scans import Tesseract, pages_of, parse_pdf_with_scans, text_recognition, turned
from bio_mcp.errors import UnreadableDocument
from bio_mcp.health import OK
from tests.adapters.parsers.pages import drawn, pdf, scan, typeset
from tests.adapters.parsers.reading import read

WORDS = ["Curcumin for dyspepsia: a trial of five hundred milligrams a day", "in four hundred and twelve adults."]
SCAN = scan(drawn(typeset(WORDS), dpi=50))
IMAGE = b"\x89PNG\r\n\x1a\n...."


def mixed():
    """A page of text, then a scan."""
    document = pypdfium2.PdfDocument(typeset(WORDS))
    document.import_pages(pypdfium2.PdfDocument(SCAN))
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


@pytest.fixture
def program(tmp_path):
    """Makes a program that stands for tesseract with these packs, and then does this."""

    def make(packs, then="exit 1"):
        path = tmp_path / "tesseract"
        listed = "\\n".join(["List of available languages (1):", *packs])
        path.write_text(f'#!/bin/sh\nif [ "$1" = --list-langs ]; then printf "{listed}\\n"; exit 0; fi\n{then}\n')
        path.chmod(0o700)
        return str(path)

    return make


@pytest.mark.parametrize(
    ("languages", "packs"),
    [
        ((), "tesseract-ocr tesseract-ocr-eng tesseract-ocr-deu"),
        (("th-TH",), "tesseract-ocr tesseract-ocr-tha tesseract-ocr-eng"),
        (("German", "zh"), "tesseract-ocr tesseract-ocr-deu tesseract-ocr-chi-sim tesseract-ocr-eng"),
    ],
)
@pytest.mark.parametrize("file", [(SCAN, "scan.pdf"), (IMAGE, "page.png")], ids=["pdf", "image"])
def test_without_tesseract_a_scan_is_refused_with_what_to_install(languages, packs, file):
    with pytest.raises(UnreadableDocument, match="tesseract is not installed") as raised:
        read(*file, languages=languages)
    assert f"apt-get install {packs}`" in str(raised.value)


def test_without_the_languages_a_scan_is_refused_with_what_to_install(program):
    with pytest.raises(UnreadableDocument, match="tesseract lacks tha, eng: "):
        read(SCAN, "scan.pdf", ("tha",), tesseract=program(["osd", "deu"]))


def test_pages_with_text_are_read_without_tesseract_and_the_others_are_named():
    assert read(typeset(WORDS), "a.pdf").warnings == ()
    document = read(mixed(), "mixed.pdf")
    assert document.text.split() == " ".join(WORDS).split()
    assert (document.ocr, document.confidence) == (False, None)
    assert document.warnings[0] == "No text could be read on page 2."
    assert "tesseract is not installed" in document.warnings[1]


HOCR = """<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><body>
<div class='ocr_page' title='image ""; bbox 0 0 400 600; ppageno 0; scan_res 50 50'>
<span class='ocr_line' title='bbox 40 40 200 50; baseline 0 -2; x_size 9'>
<span class='ocrx_word' title='bbox 40 40 90 50; x_wconf {sure}'>Curcumin</span>
<span class='ocrx_word' title='bbox 95 40 140 50; x_wconf {sure}'>helps.</span></span></div></body></html>"""


def test_what_is_recognised_without_one_of_the_languages_is_read_with_a_warning(program, tmp_path):
    (tmp_path / "answer").write_text(HOCR.format(sure=90))
    tesseract = program(["eng"], f'echo "$@" > {tmp_path}/called; cat > /dev/null; cat {tmp_path}/answer')
    document = read(SCAN, "scan.pdf", tesseract=tesseract)
    assert (document.text, document.ocr, document.confidence) == ("Curcumin helps.", True, 0.9)
    assert document.warnings == (
        "Text is recognised without deu: on Debian and Ubuntu `apt-get install tesseract-ocr tesseract-ocr-deu`, "
        "on macOS `brew install tesseract-lang`.",
    )
    assert (tmp_path / "called").read_text() == "stdin stdout --dpi 300 -l eng hocr\n"


def test_a_doubtful_text_is_read_with_a_warning(program, tmp_path):
    (tmp_path / "answer").write_text(HOCR.format(sure=65))
    document = read(SCAN, "scan.pdf", ("en",), tesseract=program(["eng"], f"cat > /dev/null; cat {tmp_path}/answer"))
    assert document.warnings == (
        "The text was recognised with a confidence of 0.65; name its languages if they are others.",
    )


@pytest.mark.parametrize("then", ["exit 1", "echo '<html'", "kill -9 $$", "true"])
def test_a_page_on_which_tesseract_fails_is_named(program, then):
    document = read(mixed(), "mixed.pdf", tesseract=program(["eng", "deu"], f"cat > /dev/null; {then}"))
    assert document.warnings == ("No text could be read on page 2.",)
    with pytest.raises(UnreadableDocument, match="The image cannot be read"):
        read(IMAGE, "page.png", tesseract=program(["eng", "deu"], f"cat > /dev/null; {then}"))


def test_thai_lines_are_taken_for_as_high_as_they_are(program, tmp_path):
    (tmp_path / "answer").write_text(HOCR.format(sure=90))
    program(["eng", "tha"], f'echo "$@" > {tmp_path}/called; cat > /dev/null; cat {tmp_path}/answer')
    Tesseract(str(tmp_path / "tesseract"), ["th"]).recognise(drawn(typeset(WORDS), dpi=50))
    assert "-l tha+eng -c textord_min_linesize=2.5" in (tmp_path / "called").read_text()


def test_an_image_is_turned_clockwise():
    image = PageImage(1, 3, 2, 72, b"abcdef")  # abc / def
    assert [(each.width, each.height, each.pixels) for each in (turned(image, angle) for angle in (90, 180, 270))] == [
        (2, 3, b"daebfc"),
        (3, 2, b"fedcba"),
        (2, 3, b"cfbead"),
    ]


def test_a_page_that_is_hardly_recognised_is_turned_as_tesseract_says(program, tmp_path):
    (tmp_path / "sure").write_text(HOCR.format(sure=90))
    (tmp_path / "unsure").write_text(HOCR.format(sure=20))
    tall = f'case "$(head -c 7)" in "P5 9 20") cat {tmp_path}/sure;; *) cat {tmp_path}/unsure;; esac'
    then = f'case "$*" in *"psm 0"*) cat > /dev/null; echo "Rotate: 90";; *) {tall};; esac'
    page = PageImage(1, 20, 9, 72, bytes(180))
    found = Tesseract(program(["eng"], then), ["en"]).recognise(page)
    assert (found.confidence, found.lines[0].text) == (0.9, "Curcumin helps.")


def test_each_recognised_page_is_progress(program, tmp_path):
    (tmp_path / "answer").write_text(HOCR.format(sure=90))
    tesseract, steps = program(["eng"], f"cat > /dev/null; cat {tmp_path}/answer"), []
    image = drawn(typeset(WORDS), dpi=50)
    parse_pdf_with_scans(scan(image, image), Options(("en",), 10, tesseract, lambda: steps.append(1)))
    assert len(steps) == 2


def test_a_pdf_without_text_and_images_holds_no_text():
    with pytest.raises(UnreadableDocument, match="holds no text"):
        read(pdf(b"", box="0 0 99 99"), "a.pdf")


def test_without_tesseract_it_says_what_to_install():
    found = text_recognition("no-such-program")
    assert (found.state, found.found) == (OK, "scanned pages are refused, all else is read")
    assert "apt-get install tesseract-ocr tesseract-ocr-eng tesseract-ocr-deu`" in found.remedy


def test_it_names_the_languages_and_the_pack_that_is_missing(program):
    found = text_recognition(program(["eng", "osd", "tha"]))
    assert (found.state, found.found) == (OK, "scanned pages are read: eng, tha")
    assert found.remedy.startswith("Text is recognised without deu: ")
    assert text_recognition(program(["deu", "eng", "fra"])).remedy == ""


def word(text, left, right, sure=95):
    return f"<span class='ocrx_word' title='bbox {left} 10 {right} 50; x_wconf {sure}'>{text}</span>"


def line(*words, box="0 100 900 140", baseline=-10, height=40, kind="ocr_line"):
    title = f"bbox {box}; baseline 0 {baseline}; x_size {height}"
    return f"<span class='{kind}' title='{title}'>{' '.join(words)}</span>"


def page(*lines, more="; scan_res 300 300"):
    body = f"<div class='ocr_page' title='image \"x\"; bbox 0 0 2480 3508{more}'><p>{''.join(lines)}</p></div>"
    html = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
    doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1.dtd">'
    return f'<?xml version="1.0" encoding="UTF-8"?>{doctype}{html}'.encode()


def recognised(*lines):
    [found] = pages_of(page(*lines))
    return found.in_points(found.dpi)


def test_a_line_is_placed_in_points():
    found = recognised(line(word("Methods", 300, 500), word("and", 510, 560, 85)))
    [placed] = found.lines
    assert (placed.text, placed.x0, placed.x1, placed.y, placed.size) == ("Methods and", 72, 134.4, 31.2, 9.5)
    assert found.confidence == pytest.approx(0.9)


def test_strokes_of_a_drawing_beside_the_text_are_left_out():
    strokes = [word("|", 0, 5, 78), word("“WW", 20, 60, 34), word("=", 70, 80, 21)]
    [placed] = recognised(
        line(*strokes, word("only", 200, 260), word("I", 270, 275, 35), word("could", 285, 400))
    ).lines
    assert placed.text == "only I could"
    assert recognised(line(word("Chabter", 0, 90, 20), word("II-", 100, 120, 26))).lines == ()
    assert recognised(line(word("—", 0, 90), word("|", 100, 120))).lines == ()


def test_letters_of_a_thai_word_are_joined_and_words_are_not():
    parts = [
        word("ขม", 0, 40),
        word("ิ", 38, 45),
        word("้", 40, 46),
        word("น", 50, 70),
        word("ใช", 100, 130),
        word("้", 131, 135),
    ]
    [placed] = recognised(line(*parts, word("500", 150, 190), word("mg", 195, 230))).lines
    assert placed.text == "ขมิ้น ใช้ 500 mg"
    [placed] = recognised(line(word("น", 0, 20), word("ํ", 18, 25), word("า", 26, 40))).lines
    assert placed.text == "นำ", "sara am is one letter"


def test_heights_that_differ_a_little_are_one_size():
    lines = [line(word("text", 0, 100), height=height) for height in (38, 40, 41, 46, 33)]
    sizes = [each.size for each in recognised(*lines, line(word("Title", 0, 100), height=80)).lines]
    assert sizes == [9.5] * 5 + [19.0]


def test_a_caption_beside_the_text_stands_below_it():
    caption = line(word("Fig.", 0, 50), word("1", 60, 70), box="0 100 90 120", kind="ocr_caption")
    text = [line(word("one", 0, 60), box="0 90 900 130"), line(word("two", 0, 60), box="0 200 900 240")]
    lines = recognised(text[0], caption, text[1]).lines
    assert [each.text for each in sorted(lines, key=lambda each: each.y)] == ["one", "two", "Fig. 1"]


def test_a_paragraph_that_is_taken_for_a_caption_stays_in_its_column():
    one, two, three, four = (line(word(each, 100, 160), box=f"0 {y} 900 {y + 40}") for each, y in ROWS.items())
    lines = recognised(one, two.replace("ocr_line", "ocr_textfloat"), three, four).lines
    assert [each.text for each in sorted(lines, key=lambda each: each.y)] == list(ROWS)


ROWS = {"one": 100, "two": 200, "three": 300, "four": 400}


def test_turned_text_is_left_out():
    assert recognised(line(word("axis", 0, 60), box="0 100 40 300")).lines == ()
    assert recognised(line(word("axis", 0, 60)).replace("baseline 0 -10; ", "")).lines == ()


def test_an_unknown_resolution_is_that_of_scans():
    assert pages_of(page(line(word("a", 0, 9)), more=""))[0].dpi == 300
    assert pages_of(page(line(word("a", 0, 9)), more="; scan_res 0 0"))[0].dpi == 300


def test_an_answer_that_is_cut_off_has_no_pages_and_an_empty_page_no_lines_and_no_confidence():
    for answer in (b"", b"Estimating resolution", page(line(word("a", 0, 9)))[:-30]):
        assert pages_of(answer) == []
    assert (recognised().lines, recognised().confidence) == ((), 0.0)
