"""Plain text: paragraphs, in whatever encoding."""

import pytest

from tests.adapters.parsers.reading import outline, read


def test_wrapped_lines_are_joined_and_empty_ones_part_paragraphs():
    text = "The first\n  line is\nshort.\n\n\nThe second\r\nparagraph.\r\r\rThird."
    assert outline(read(text, "a.txt")) == [((), "The first line is short.\n\nThe second paragraph.\n\nThird.")]


def test_each_line_is_a_paragraph_where_lines_are_not_wrapped():
    text = "A sentence of a paragraph. " * 10 + "\nNext.\n"
    assert read(text, "a.txt").text.split("\n\n")[1:] == ["Next."]


@pytest.mark.parametrize("name", ["a.txt", "README", "a.log", "", "a.xyz"])
def test_text_needs_no_name(name):
    assert read("Words.", name).text == "Words."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be"])
def test_an_encoding_is_found_by_its_mark(encoding):
    content = ("\ufeff" if encoding == "utf-16-be" else "") + "Größe ขมิ้น"
    assert read(content.encode(encoding), "a.txt").text == "Größe ขมิ้น"
    assert read(content.encode(encoding), "a.txt").warnings == ()


def test_windows_1252_is_read_with_a_warning():
    found = read("Größe – €".encode("cp1252"), "a.txt")
    assert (found.text, len(found.warnings)) == ("Größe – €", 1)


def test_a_few_bad_bytes_do_not_spoil_utf_8():
    found = read("Größe, Länge, Übermaß, Öl und Ähre".encode().replace(b"und", b"\xff"), "a.txt")
    assert "Größe, Länge, Übermaß, Öl" in found.text
    assert found.warnings == ("1 characters of the text could not be read.",)


def test_what_a_terminal_would_obey_is_taken_out():
    text = "A\x00 \x1b[31mred\x1b[0m \x1b]0;title\x07word \u202ereversed\u202c so\u00adft\u200b \x9b2J \ufeffend."
    assert read(text, "a.txt").text == "A red word reversed soft 2J end."


def test_a_language_is_seen_by_its_words_and_letters():
    english = (
        "The results of the trial were in favour of the drug and were not due to chance, as this is a large trial."
    )
    german = "Die Ergebnisse der Studie waren für das Mittel und nicht durch den Zufall zu erklären, wie man sieht."
    assert [read(text, "a.txt").language for text in (english, german, "ขมิ้นชันเป็นพืชสมุนไพร")] == ["en", "de", "th"]
    assert read("Aspirin 5 mg", "a.txt").language is None
