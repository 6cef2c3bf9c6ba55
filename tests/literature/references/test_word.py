"""References in Word documents, and EndNote's records."""

import base64
import io
import json
import zipfile
from xml.sax.saxutils import escape

import pytest

from bio_mcp.errors import InvalidInput, UnreadableDocument
from bio_mcp.literature.references.word import read_docx, read_endnote

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
ITEM = {
    "id": 7, "type": "article-journal", "title": "A novel coronavirus", "container-title": "NEJM", "volume": "382",
    "author": [{"family": "Zhu", "given": "Na"}], "issued": {"date-parts": [[2020]]}, "DOI": "10.1056/NEJMoa2001017",
}  # fmt: skip
CITATION = json.dumps({"citationItems": [{"id": 7, "itemData": ITEM}, {"id": 8}], "properties": {}})
ENDNOTE = (
    "<EndNote><Cite><record><rec-number>5</rec-number><ref-type name='Journal Article'>17</ref-type><contributors>"
    "<authors><author><style>Zhu, N.</style></author></authors></contributors><titles><title><style>A novel </style>"
    "<style>coronavirus</style></title><secondary-title>NEJM</secondary-title></titles><pages>727-33</pages>"
    "<dates><year>2020</year></dates><accession-num>31978945</accession-num></record></Cite></EndNote>"
)


def docx(body, **parts):
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>')
        for name, content in parts.items():
            archive.writestr(f"customXml/{name}.xml", content)
    return stored.getvalue()


def paragraph(text, around="w:r"):
    return f"<w:p><{around}><w:t>{escape(text)}</w:t></{around}></w:p>"


def field(*instructions):
    inside = "".join(f"<w:r><w:instrText>{escape(each)}</w:instrText></w:r>" for each in instructions)
    return "".join(
        (
            '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>',
            inside,
            '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>(1)</w:t></w:r>',
            '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>',
        )
    )


@pytest.mark.parametrize(
    "body",
    [
        field("ADDIN ZOTERO_ITEM CSL_CITATION ", CITATION[:50], CITATION[50:]) * 2,
        field(f"ADDIN CSL_CITATION {CITATION}"),
        '<w:sdt><w:sdtPr><w:tag w:val="MENDELEY_CITATION_v3_'
        + base64.b64encode(CITATION.encode()).decode()
        + '"/></w:sdtPr></w:sdt>',
        field(f"ADDIN EN.CITE {ENDNOTE}"),
        f'<w:p><w:r><w:fldChar w:fldCharType="begin"><w:fldData>{base64.b64encode(ENDNOTE.encode()).decode()}'
        "</w:fldData></w:fldChar></w:r></w:p>",
    ],
    ids=["zotero", "mendeley", "mendeley cite", "endnote", "endnote, stored beside"],
)
def test_what_a_reference_manager_put_in_is_read_once(body):
    [only] = read_docx(docx(body + paragraph("References") + paragraph("Doe J. Other. J Virol. 2020;1:2.")))
    assert (only.title, only.journal, only.year) == ("A novel coronavirus", "NEJM", "2020")
    assert only.authors[0].startswith("Zhu, N")


def test_words_own_sources_are_read():
    b = "http://schemas.openxmlformats.org/officeDocument/2006/bibliography"
    source = "<b:Source><b:Tag>Zhu20</b:Tag><b:SourceType>JournalArticle</b:SourceType><b:Title>A novel coronavirus"
    source += "</b:Title><b:Year>2020</b:Year><b:Author><b:Author><b:NameList><b:Person><b:Last>Zhu</b:Last>"
    source += "<b:First>Na</b:First></b:Person></b:NameList></b:Author></b:Author></b:Source>"
    [only] = read_docx(docx("", item1=f'<b:Sources xmlns:b="{b}">{source}</b:Sources>'))
    assert (only.key, only.title, only.authors, only.year) == ("Zhu20", "A novel coronavirus", ("Zhu, Na",), "2020")


def test_the_paragraphs_below_the_heading_are_read_without_what_was_deleted():
    body = paragraph("We saw it in 2020 (1).") + paragraph("REFERENCES")
    body += paragraph("Zhu N, Zhang D. A novel coronavirus. N Engl J Med. 2020;382:727-33.")
    body += paragraph("Gone G. Deleted. J Virol. 2019;1:1.", "w:del")
    body += paragraph("Kimura M. A simple method. J Mol Evol. 1980;16:111-20.")
    assert [each.year for each in read_docx(docx(body))] == ["2020", "1980"]


def test_a_document_without_references_is_refused():
    with pytest.raises(InvalidInput, match="no references found"):
        read_docx(docx(paragraph("Nothing here.")))


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04 no archive",
        docx("")[:-30],
        docx("<unclosed>"),
        docx("", item1=" " * (65 << 20)),
        docx("", item1='<!DOCTYPE a [<!ENTITY b "c">]><bibliography>&b;</bibliography>'),
    ],
    ids=["no archive", "cut", "no XML", "a bomb", "entities"],
)
def test_a_hostile_document_is_refused(content):
    with pytest.raises(UnreadableDocument):
        read_docx(content)


def records(inside):
    return f"<EndNote><Cite><record>{inside}</record></Cite></EndNote>"


def test_each_part_of_a_record_is_read_through_its_styles():
    [only] = read_endnote(
        records(
            "<rec-number>3</rec-number><ref-type name='Journal Article'>17</ref-type>"
            "<titles><title><style>Of </style><style face='italic'>E. coli</style></title></titles>"
            "<periodical><full-title>Gut</full-title></periodical><volume>7</volume><number>2</number>"
            "<custom2>PMC4852275</custom2><electronic-resource-num>https://doi.org/10.1000/X</electronic-resource-num>"
        )
    )
    assert (only.key, only.title, only.journal, only.kind) == ("3", "Of E. coli", "Gut", "article")
    assert (only.volume, only.issue, only.pmcid, only.doi) == ("7", "2", "PMC4852275", "10.1000/x")


@pytest.mark.parametrize(
    ("name", "kind"), [("Book", "other"), ("Web Page", "other"), ("Electronic Article", "article")]
)
def test_a_book_and_a_page_are_no_articles(name, kind):
    [only] = read_endnote(records(f"<ref-type name='{name}'/><titles><title>Some title</title></titles>"))
    assert only.kind == kind


def test_a_number_of_another_database_is_no_pmid():
    [only] = read_endnote(records("<accession-num>WOS:000187</accession-num><titles><title>Some</title></titles>"))
    assert (only.pmid, only.title, only.kind) == ("", "Some", "article")


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "<EndNote>",
        "no XML",
        '<!DOCTYPE a [<!ENTITY b "c">]><EndNote><record>&b;</record></EndNote>',
        "<EndNote/>",
        "<a>\0</a>",
    ],
)
def test_what_is_broken_or_declares_entities_has_no_records(xml):
    assert read_endnote(xml) == []
