"""Word documents (.docx) to sections: headings by their style, tables as rows, notes at the end."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from lxml import etree

from bio_mcp.adapters.parsers.text_files import Outline, titled
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.documents import ParsedDocument
from bio_mcp.literature.medline.text import subscript, superscript

if TYPE_CHECKING:
    from docx.document import Document

MOST_FILES = 5_000
LARGEST_TEXT = 128 << 20  # bytes of XML, unpacked
LARGEST = 512 << 20  # bytes, pictures included
LARGEST_RATIO = 200  # a byte unpacked to so many; text reaches thirty
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_TITLE = 0  # the level of the paragraph that is the document's title
_SCRIPTS = {"superscript": superscript, "subscript": subscript}
DAMAGED = "The Word document is damaged: it cannot be unpacked; save it again."


def parse_docx(content: bytes) -> ParsedDocument:
    """Read the document. What is deleted as a tracked change is left out, what is inserted is read."""
    import docx
    from docx.opc.exceptions import OpcError

    check_archive(content)
    try:
        document = docx.Document(io.BytesIO(content))
    except (OpcError, KeyError, ValueError, zipfile.BadZipFile, etree.XMLSyntaxError):
        raise UnreadableDocument(DAMAGED) from None
    title, outline = _read(document)
    named = title or document.core_properties.title or None
    shown, sections = titled(outline, named) if named and not title else (title, outline.sections())
    return ParsedDocument(sections, title=shown, language=document.core_properties.language or None)


def check_archive(content: bytes) -> None:
    """Raise `UnreadableDocument` for an archive that is damaged, encrypted, too large or declares entities."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_sizes(archive.infolist())
            for each in archive.infolist():
                is_xml = each.filename.endswith((".xml", ".rels"))
                head = archive.read(each)[: 1 << 16].replace(b"\0", b"") if is_xml else b""  # UTF-16 has them between
                if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
                    raise UnreadableDocument("The Word document declares entities, which Word never does; refused.")
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError):
        raise UnreadableDocument(DAMAGED) from None


def _check_sizes(files: list[zipfile.ZipInfo]) -> None:
    if any(each.flag_bits & 1 for each in files):
        raise UnreadableDocument("The Word document is encrypted; save it without a password.")
    texts = sum(each.file_size for each in files if each.filename.endswith((".xml", ".rels")))
    whole = sum(each.file_size for each in files)
    packed = sum(each.compress_size for each in files)
    if len(files) > MOST_FILES or texts > LARGEST_TEXT or whole > LARGEST or whole > LARGEST_RATIO * (packed + 10_000):
        raise UnreadableDocument("The Word document unpacks to far more than a document holds; refused.")


def _read(document: "Document") -> tuple[str | None, Outline]:
    """The title, where a paragraph has that style, and all else."""
    levels, outline, titles = _levels(document), Outline(), list[str]()
    for block in _blocks(document.element.body):
        if block.tag == f"{_WORD}tbl":
            rows = [row for row in block.iter(f"{_WORD}tr") if next(row.iterancestors(f"{_WORD}tbl")) is block]
            outline.table([[_text(cell) for cell in row.iterchildren(f"{_WORD}tc")] for row in rows])
            continue
        style, level = block.find(f"{_WORD}pPr/{_WORD}pStyle"), _outline_level(block)
        if level is None and style is not None:
            level = levels.get(style.get(f"{_WORD}val", ""))
        if level == _TITLE:
            titles.append(_text(block))
        elif level is not None:
            outline.heading(level, _text(block))
        elif text := _text(block):
            outline.paragraph(f"- {text}" if block.find(f"{_WORD}pPr/{_WORD}numPr") is not None else text)
    for kind in ("footnotes", "endnotes"):
        _read_notes(document, kind, outline)
    return " ".join(filter(None, titles)) or None, outline


def _read_notes(document: "Document", kind: str, outline: Outline) -> None:
    part = next((each for each in document.part.rels.values() if each.reltype == _NOTES + kind), None)
    if part is None or part.is_external:
        return
    notes = etree.fromstring(part.target_part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
    texts = [_text(note) for note in notes if note.get(f"{_WORD}type") is None]
    if any(texts):
        outline.heading(1, kind.capitalize())
    for text in texts:
        outline.paragraph(text)


def _levels(document: "Document") -> dict[str, int]:
    """The level of each paragraph style that is a heading, by its id; styles inherit it."""
    levels: dict[str, int] = {}
    for style in document.styles:
        ancestor: Any = style
        for _ in range(12):  # styles may be based on each other in a circle
            if ancestor is None:
                break
            level = _level_of_style(ancestor)
            if level is not None and style.style_id:
                levels[style.style_id] = level
                break
            ancestor = getattr(ancestor, "base_style", None)
    return levels


def _level_of_style(style: Any) -> int | None:
    name = (style.name or "").casefold()
    number = name.removeprefix("heading ")
    if name == "title":
        return _TITLE
    return int(number) if number != name and number.isdecimal() else _outline_level(style.element)


def _outline_level(element: etree._Element) -> int | None:
    """Word's level in the table of contents: 0 to 8, and 9 for text."""
    found = element.find(f"{_WORD}pPr/{_WORD}outlineLvl")
    value = found.get(f"{_WORD}val", "") if found is not None else ""
    return int(value) + 1 if value.isdecimal() and int(value) < 9 else None


def _blocks(body: etree._Element) -> Iterator[etree._Element]:
    """Paragraphs and tables in their order, those in content controls included."""
    walk = etree.iterwalk(body, events=("start",))
    for _, each in walk:
        element = cast(etree._Element, each)
        if element.tag in (f"{_WORD}p", f"{_WORD}tbl"):
            walk.skip_subtree()
            yield element


def _text(element: etree._Element) -> str:
    """The text in an element on one line; paragraphs and breaks are parted by a space."""
    parts: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, each in walk:
        node = cast(etree._Element, each)
        if event == "end":
            parts.append(" " if node.tag == f"{_WORD}p" else "")
        elif node.tag in (_FALLBACK, f"{_WORD}del", f"{_WORD}moveFrom"):
            walk.skip_subtree()
        elif node.tag == f"{_WORD}t":
            parts.append(_raised(node))
        elif node.tag in (f"{_WORD}tab", f"{_WORD}br", f"{_WORD}cr"):
            parts.append(" ")
        elif node.tag == f"{_WORD}noBreakHyphen":
            parts.append("-")
    return " ".join("".join(parts).split())


def _raised(text: etree._Element) -> str:
    run = text.getparent()
    align = run.find(f"{_WORD}rPr/{_WORD}vertAlign") if run is not None else None
    script = _SCRIPTS.get(align.get(f"{_WORD}val", "")) if align is not None else None
    return script(text.text or "") if script else text.text or ""
