"""Word documents: headings by style, tables, notes; and archives that are none."""

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from bio_mcp.errors import UnreadableDocument
from tests.adapters.parsers.documents import file_in, packed, repacked, saved, simple
from tests.adapters.parsers.reading import outline, read


@pytest.fixture
def document():
    return docx.Document()


def test_a_document_becomes_its_sections(document):
    document.add_heading("A trial", 0)
    document.add_paragraph("By Ada.")
    document.add_heading("Methods", 1)
    paragraph = document.add_paragraph("We gave H")
    paragraph.add_run("2").font.subscript = True
    paragraph.add_run("O at 10")
    paragraph.add_run("-3").font.superscript = True
    document.add_heading("People", 2)
    table = document.add_table(2, 2)
    for cell, text in zip((cell for row in table.rows for cell in row.cells), ("arm", "n", "A", "1"), strict=True):
        cell.text = text
    document.add_paragraph("After.")
    document.add_heading("References", 1)
    document.add_paragraph("Doe 2020.")
    found = read(saved(document), "a.docx")
    assert found.title == "A trial"
    assert outline(found) == [
        ((), "By Ada."),
        (("Methods",), "We gave H₂O at 10⁻³"),
        (("Methods", "People"), ""),
        (("Methods", "People"), "arm\tn\nA\t1", "table"),
        (("Methods", "People"), "After."),
        (("References",), "Doe 2020.", "references"),
    ]


def test_a_style_that_is_based_on_a_heading_is_one(document):
    style = document.styles.add_style("Kapitel", WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = document.styles["Heading 2"]
    document.add_paragraph("Ergebnisse", style="Kapitel")
    document.add_paragraph("Text.")
    document.add_paragraph("Abschnitt").paragraph_format.element.get_or_add_pPr().append(
        parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="2"/>')
    )
    document.add_paragraph("Mehr.")
    assert outline(read(saved(document), "a.docx")) == [
        (("Ergebnisse",), "Text."),
        (("Ergebnisse", "Abschnitt"), "Mehr."),
    ]


def test_what_the_file_says_of_itself_is_read(document):
    document.core_properties.title = "A trial"
    document.core_properties.language = "de-DE"
    document.add_paragraph("Text.")
    found = read(saved(document), "a.docx")
    assert (found.title, found.language) == ("A trial", "de")


def test_the_language_of_the_text_counts_before_the_one_that_a_template_states(document):
    document.core_properties.language = "en-US"
    document.add_paragraph("Die Ergebnisse der Studie waren für das Mittel und nicht durch den Zufall zu erklären.")
    assert read(saved(document), "a.docx").language == "de"


def test_tracked_changes_links_and_content_controls_are_read_as_they_stand(document):
    body = document.element.body
    body.insert(0, parse_xml(
        f'<w:p {nsdecls("w")}><w:r><w:t xml:space="preserve">It </w:t></w:r>'
        "<w:ins><w:r><w:t>was</w:t></w:r></w:ins><w:del><w:r><w:delText>is</w:delText></w:r></w:del>"
        '<w:hyperlink><w:r><w:t xml:space="preserve"> here</w:t></w:r></w:hyperlink></w:p>'
    ))  # fmt: skip
    body.insert(1, parse_xml(
        f'<w:sdt {nsdecls("w")}><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>'
    ))  # fmt: skip
    assert read(saved(document), "a.docx").text == "It was here\n\nIn a control."


FOOTNOTES = (
    '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    '<w:footnote w:type="separator" w:id="0"><w:p><w:r><w:t>no</w:t></w:r></w:p></w:footnote>'
    '<w:footnote w:id="1"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>'
)


FOOTNOTES_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
LINK = f'<Relationship Id="n1" Type="{FOOTNOTES_KIND}" Target="footnotes.xml"/></Relationships>'


def test_footnotes_stand_at_the_end():
    links = "word/_rels/document.xml.rels"
    linked = file_in(simple(), links).replace("</Relationships>", LINK)
    made = repacked(simple(), {"word/footnotes.xml": FOOTNOTES, links: linked})
    assert outline(read(made, "a.docx")) == [((), "Some text."), (("Footnotes",), "A note.")]


BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><x>&b;</x>'

SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CELL, END = "<w:tbl><w:tr><w:tc>" * 60_000, "</w:tc></w:tr></w:tbl>" * 60_000
NESTED = f'<w:document xmlns:w="{SPACE}"><w:body>{CELL}<w:p/>{END}</w:body></w:document>'.encode()


HOSTILE = {
    "declares entities": lambda: repacked(simple(), {"word/document.xml": BOMB}),
    "declares entities, which Word never does": lambda: repacked(
        simple(), {"word/settings.xml": BOMB.decode().encode("utf-16")}
    ),
    "unpacks to far more": lambda: repacked(simple(), {"word/media/image1": b"\0" * 20_000_000}),
    "unpacks to far more than a document holds": lambda: packed(
        {"word/document.xml": b"", **{f"f{n}": b"" for n in range(5_001)}}
    ),
    "damaged": lambda: simple()[:-200],
    "damaged; save it again": lambda: simple().replace(b"PK\x01\x02", b"PK\x01\x03"),
    "damaged: it cannot be unpacked": lambda: packed({"word/document.xml": b"<x/>"}),
    "Word document is damaged": lambda: repacked(simple(), {"word/document.xml": NESTED}),
    "encrypted": lambda: encrypted(simple()),
}


def encrypted(content):
    """The archive with the mark of encryption at each of its files."""
    marked = bytearray(content)
    at = marked.find(b"PK\x01\x02")
    while at >= 0:
        marked[at + 8] |= 1
        at = marked.find(b"PK\x01\x02", at + 1)
    return bytes(marked)


@pytest.mark.parametrize("says", HOSTILE)
def test_a_hostile_document_is_refused(says):
    with pytest.raises(UnreadableDocument, match=says):
        read(HOSTILE[says](), "a.docx")
