"""What a file is: by its first bytes, and by its name where these do not say."""

import re
import zipfile
from enum import StrEnum
from io import BytesIO
from pathlib import PurePosixPath

from bio_mcp.adapters.parsers.decoding import decode
from bio_mcp.errors import UnreadableDocument


class Kind(StrEnum):
    """A kind of file that is read."""

    PDF = "PDF"
    DOCX = "Word document"
    IMAGE = "image"
    JATS = "JATS XML"
    HTML = "HTML page"
    MARKDOWN = "Markdown"
    TEXT = "text"


_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*")
_REFUSED = (
    (b"\xd0\xcf\x11\xe0", "an old or an encrypted document of Office; save it as .docx or PDF, without a password"),
    (b"{\\rtf", "RTF; save it as .docx or PDF"),
    (b"%!PS", "PostScript; convert it to PDF"),
    (b"AT&TFORM", "DjVu; convert it to PDF"),
    *((magic, "an archive; unpack it and give the files in it") for magic in
      (b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"BZh", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")),
    *((magic, "an image of a kind that is not read; save it as PNG") for magic in
      (b"GIF8", b"BM", b"\0\0\0\x0cjP", b"\xff\x0a")),
)  # fmt: skip
_ZIPPED = {
    "word/document.xml": None,
    "xl/workbook.xml": "an Excel workbook; save the sheet as PDF or HTML",
    "ppt/presentation.xml": "a PowerPoint presentation; save it as PDF",
    "META-INF/container.xml": "an EPUB; convert it to HTML or PDF",
    "content.xml": "an OpenDocument file; save it as .docx or PDF",
}
_NAMED_TEXT = {"md": Kind.MARKDOWN, "markdown": Kind.MARKDOWN, "html": Kind.HTML, "htm": Kind.HTML, "xhtml": Kind.HTML}
_NAMED_BINARY = {"pdf": "PDF", "docx": "Word document", **dict.fromkeys(("png", "jpg", "jpeg", "tif", "tiff"), "image")}
_HEAD = 1 << 16
_PROLOG = re.compile(r"\s*(?:<\?[^>]*>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>|\s+)*", re.DOTALL | re.IGNORECASE)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)")
_OF_PAGES = frozenset("html head body title meta link script style div p h1 h2 h3 table article main section".split())
_MOST_CONTROLS = 0.06  # of the characters of a text; random bytes have twice as many


def kind_of(content: bytes, name: str) -> Kind:
    """Say what the file is. Raises `UnreadableDocument` for what is not read, with what would help."""
    if not content.strip(b"\0 \t\r\n"):
        raise UnreadableDocument("The file is empty.")
    if found := _binary(content, name):
        return found
    text = decode(content[:_HEAD])[0]
    kind = _text(text, name)
    if named := _NAMED_BINARY.get(_ending(name)):
        shown = "an HTML page, as servers send in place of a file" if kind is Kind.HTML else "text or something else"
        raise UnreadableDocument(f"The file is named as {_a(named)} but is {shown}; download it again.")
    return kind


def _binary(content: bytes, name: str) -> Kind | None:
    head = content[:1024]
    if b"%PDF-" in (head if _ending(name) == "pdf" else head.lstrip()[:5]):
        return Kind.PDF
    if head.startswith(_IMAGES):
        return Kind.IMAGE
    if head.startswith(b"PK\x03\x04"):
        return _zipped(content)
    for magic, what in _REFUSED:
        if head.startswith(magic) and (len(magic) > 2 or b"\0" in head):
            raise UnreadableDocument(f"The file is {what}.")
    return None


def _zipped(content: bytes) -> Kind:
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            names = frozenset(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise UnreadableDocument("The file is a Word document or an archive that is damaged; save it again.") from None
    for part, what in _ZIPPED.items():
        if part in names:
            if what is None:
                return Kind.DOCX
            raise UnreadableDocument(f"The file is {what}.")
    raise UnreadableDocument("The file is an archive; unpack it and give the files in it.")


def _text(text: str, name: str) -> Kind:
    controls = len(re.findall("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]", text))
    if controls > _MOST_CONTROLS * len(text):
        raise UnreadableDocument(
            "The file is of no kind that is read: PDF, DOCX, HTML, Markdown, JATS XML, text, or an image of a page."
        )
    prolog = _PROLOG.match(text)
    root = _ROOT.match(text, prolog.end() if prolog else 0)
    is_page = re.search(r"<!DOCTYPE\s+html|<html[\s>]", text[:4096], re.IGNORECASE) is not None
    if root and not is_page and (root[1] in ("article", "pmc-articleset") and _is_jats(text)):
        return Kind.JATS
    if is_page and text.lstrip().startswith("<"):
        return Kind.HTML
    if text.lstrip().startswith("<?xml"):
        raise UnreadableDocument(_other_xml(root[1] if root else ""))
    if root and root[1].casefold() in _OF_PAGES and _ending(name) not in ("md", "markdown", "txt"):
        return Kind.HTML
    return _NAMED_TEXT.get(_ending(name), Kind.TEXT)


def _is_jats(text: str) -> bool:
    return re.search(r"<front[\s>]|<article-meta|dtd-version|JATS|<body><sec|article-type=", text) is not None


def _other_xml(root: str) -> str:
    if root.startswith(("Pubmed", "BookDocument")):
        return "The file holds records of PubMed, not an article; import it with `bio-mcp import`."
    return "The file is XML of a kind that is not read; of XML only JATS is."


def _ending(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).suffix.removeprefix(".").casefold()


def _a(named: str) -> str:
    return f"{'an' if named[0] in 'aeiou' else 'a'} {named}"
