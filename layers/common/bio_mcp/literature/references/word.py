"""Word documents (.docx) to references.

They are the works that Zotero, Mendeley, EndNote or Word itself put into the document, or else the paragraphs below its
heading "References".
"""

import base64
import binascii
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree

from bio_mcp.errors import InvalidInput, UnreadableDocument
from bio_mcp.literature.medline.stream import sealed_builder
from bio_mcp.literature.references.files import Places, chosen, csl_work
from bio_mcp.literature.references.plain import HEADING, read_plain
from bio_mcp.literature.references.works import CitedWork, refuse_too_many, work

LARGEST_PART = 64 << 20  # bytes of XML, unpacked
MOST_PARTS = 200
DAMAGED = "the Word document is damaged, encrypted or too large; save it again as .docx"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SOURCES = "{http://schemas.openxmlformats.org/officeDocument/2006/bibliography}"
_CSL = re.compile(r"CSL_CITATION\s*(\{.*)", re.DOTALL)
_ENDNOTE = re.compile(r"<EndNote>.*?</EndNote>", re.DOTALL)
_BODY = "word/document.xml"
_MENDELEY = "MENDELEY_CITATION_v3_"


def read_docx(content: bytes) -> list[CitedWork]:
    """The references of the document, each once. Raises `UnreadableDocument`, and `InvalidInput` where it has none."""
    parts = _parts(content)
    body = _parsed(parts.get(_BODY, b""))
    if body is None:
        raise UnreadableDocument(DAMAGED)
    lists = [_parsed(xml) for name, xml in sorted(parts.items()) if name != _BODY and b"bibliography" in xml]
    works = _cited(body)
    works += [_source(each) for root in lists if root is not None for each in root.iter(f"{_SOURCES}Source")]
    if not works:  # the paragraphs below the last heading of a list of references
        lines = [" ".join("".join(_texts(paragraph)).split()) for paragraph in body.iter(f"{_WORD}p")]
        works = read_plain("\n\n".join(lines)) if any(map(HEADING.match, lines)) else []
    refuse_too_many(len(works))
    if not works:
        raise InvalidInput(
            'no references found: no fields of a reference manager, and no heading "References" with a list'
        )
    return works


def _parts(content: bytes) -> dict[str, bytes]:
    """The document and its custom parts. Nothing else is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            wanted = [
                each
                for each in archive.infolist()
                if re.fullmatch(r"word/document\.xml|customXml/item\d+\.xml", each.filename)
            ]
            if len(wanted) > MOST_PARTS or sum(each.file_size for each in wanted) > LARGEST_PART:
                raise UnreadableDocument(DAMAGED)
            return {each.filename: _unpacked(archive, each) for each in wanted}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
        raise UnreadableDocument(DAMAGED) from None


def _unpacked(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """The part, which may claim to be smaller than it is."""
    with archive.open(part) as opened:
        content = opened.read(LARGEST_PART + 1)
    if len(content) > LARGEST_PART or b"<!DOCTYPE" in content[: 1 << 16].replace(b"\0", b""):
        raise UnreadableDocument(DAMAGED)
    return content


def _parsed(xml: bytes) -> etree._Element | None:
    """The root; None for what is no XML."""
    try:
        return etree.fromstring(xml, sealed_builder())
    except (etree.XMLSyntaxError, ValueError):
        return None


def _cited(body: etree._Element) -> list[CitedWork]:
    """The works of citation fields, in the order of their first citation."""
    items: dict[str, dict[str, Any]] = {}
    endnote: dict[str, CitedWork] = {}
    for field in (*_fields(body), *_controls(body)):
        for item in _csl_items(field):
            items.setdefault(str(item.get("DOI") or item.get("id") or item.get("title")), item)
        for found in _ENDNOTE.findall(field):
            for each in read_endnote(found):
                endnote.setdefault(each.key or each.title, each)
    return [*map(csl_work, items.values()), *endnote.values()]


def _fields(body: etree._Element) -> Iterator[str]:
    """The instructions of each field: all text between its beginning and its result, and data that is stored beside."""
    pieces: list[str] = []
    for each in body.iter(f"{_WORD}instrText", f"{_WORD}fldChar", f"{_WORD}fldSimple", f"{_WORD}fldData"):
        node = each
        if node.tag == f"{_WORD}instrText":
            pieces.append(node.text or "")
        elif node.tag == f"{_WORD}fldSimple":
            yield node.get(f"{_WORD}instr", "")
        elif node.tag == f"{_WORD}fldData":
            yield _decoded(node.text or "")
        elif pieces and node.get(f"{_WORD}fldCharType") != "begin":
            yield "".join(pieces)
            pieces = []


def _controls(body: etree._Element) -> Iterator[str]:
    """The citations that Mendeley Cite stores in content controls."""
    for each in body.iter(f"{_WORD}tag"):
        value = each.get(f"{_WORD}val", "")
        if value.startswith(_MENDELEY):
            yield f"CSL_CITATION {_decoded(value.removeprefix(_MENDELEY))}"


def _decoded(encoded: str) -> str:
    """Base64 as text; "" for what is none."""
    try:
        return base64.b64decode("".join(encoded.split()) + "==").decode("utf-8", "replace").replace("\0", "")
    except (binascii.Error, ValueError):
        return ""


def _csl_items(field: str) -> Iterable[dict[str, Any]]:
    found = _CSL.search(field)
    if not found:
        return ()
    try:
        citation, _ = json.JSONDecoder().raw_decode(found[1])
    except (ValueError, RecursionError):
        return ()
    cited = citation.get("citationItems") if isinstance(citation, dict) else None
    data = [each.get("itemData") for each in cited if isinstance(each, dict)] if isinstance(cited, list) else []
    return [each for each in data if isinstance(each, dict)]


_SOURCE: Places = {
    "title": ("Title",), "journal": ("JournalName",), "year": ("Year",), "volume": ("Volume",), "issue": ("Issue",),
    "pages": ("Pages",), "doi": ("DOI", "StandardNumber"), "key": ("Tag",),
}  # fmt: skip


def _source(source: etree._Element) -> CitedWork:
    people = [
        ", ".join(filter(None, (person.findtext(f"{_SOURCES}Last"), person.findtext(f"{_SOURCES}First"))))
        for person in source.iter(f"{_SOURCES}Person")
    ]
    is_article = source.findtext(f"{_SOURCES}SourceType") in ("JournalArticle", "ArticleInAPeriodical", "", None)
    stated = chosen(_SOURCE, lambda name: source.findtext(f"{_SOURCES}{name}"))
    return work(**stated, authors=people, kind="article" if is_article else "other")


def _texts(paragraph: etree._Element) -> Iterator[str]:
    """The text that is shown: what is deleted as a tracked change is left out."""
    for each in paragraph.iter(f"{_WORD}t", f"{_WORD}tab", f"{_WORD}br", f"{_WORD}noBreakHyphen"):
        names = {f"{_WORD}t": each.text or "", f"{_WORD}noBreakHyphen": "-"}
        if next(each.iterancestors(f"{_WORD}del"), None) is None:
            yield names.get(str(each.tag), " ")


_RECORD: Places = {
    "title": ("titles/title",), "journal": ("titles/secondary-title", "periodical/full-title"),
    "year": ("dates/year",), "volume": ("volume",), "issue": ("number",), "pages": ("pages",),
    "doi": ("electronic-resource-num",), "pmid": ("accession-num",), "pmcid": ("custom2",), "key": ("rec-number",),
}  # fmt: skip
_ENDNOTE_ARTICLES = frozenset(("Journal Article", "Electronic Article", "Magazine Article", ""))


def read_endnote(xml: str) -> list[CitedWork]:
    """The cited records; none for what is no XML or declares entities."""
    root = _parsed(xml.encode()) if "<!" not in xml else None
    return [_endnote_work(record) for record in root.iter("record")] if root is not None else []


def _endnote_work(record: etree._Element) -> CitedWork:
    kind = record.find("ref-type")
    is_article = (kind.get("name", "") if kind is not None else "") in _ENDNOTE_ARTICLES
    people = [_text(author) for author in record.iterfind("contributors/authors/author")]
    return work(
        **chosen(_RECORD, lambda path: _text(record.find(path))),
        authors=people,
        kind="article" if is_article else "other",
    )


def _text(element: etree._Element | None) -> str:
    return " ".join("".join(map(str, element.itertext())).split()) if element is not None else ""
