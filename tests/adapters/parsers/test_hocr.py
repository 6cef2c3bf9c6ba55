"""From what tesseract says of a page to placed lines."""

import pytest

from bio_mcp.adapters.parsers.scans import pages_of


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


def test_sara_am_is_one_letter():
    [placed] = recognised(line(word("น", 0, 20), word("ํ", 18, 25), word("า", 26, 40))).lines
    assert placed.text == "นำ"


def test_heights_that_differ_a_little_are_one_size():
    lines = [line(word("text", 0, 100), height=height) for height in (38, 40, 41, 46, 33)]
    sizes = [each.size for each in recognised(*lines, line(word("Title", 0, 100), height=80)).lines]
    assert sizes == [9.5] * 5 + [19.0]


def test_a_caption_beside_the_text_stands_below_it():
    caption = line(word("Fig.", 0, 50), word("1", 60, 70), box="0 100 90 120", kind="ocr_caption")
    text = [line(word("one", 0, 60), box="0 90 900 130"), line(word("two", 0, 60), box="0 200 900 240")]
    lines = recognised(text[0], caption, text[1]).lines
    assert [each.text for each in sorted(lines, key=lambda each: each.y)] == ["one", "two", "Fig. 1"]


def test_turned_text_is_left_out():
    assert recognised(line(word("axis", 0, 60), box="0 100 40 300")).lines == ()
    assert recognised(line(word("axis", 0, 60)).replace("baseline 0 -10; ", "")).lines == ()


def test_an_unknown_resolution_is_that_of_scans():
    assert pages_of(page(line(word("a", 0, 9)), more=""))[0].dpi == 300
    assert pages_of(page(line(word("a", 0, 9)), more="; scan_res 0 0"))[0].dpi == 300


@pytest.mark.parametrize("answer", [b"", b"Estimating resolution", page(line(word("a", 0, 9)))[:-30]])
def test_an_answer_that_is_cut_off_has_no_pages(answer):
    assert pages_of(answer) == []


def test_an_empty_page_has_no_lines_and_no_confidence():
    found = recognised()
    assert (found.lines, found.confidence) == ((), 0.0)
