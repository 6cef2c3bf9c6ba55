"""Reads one file in the child process: finds its kind, calls the reader of that kind, and cleans what it gives."""

import codecs
import re
import zipfile
from dataclasses import replace
from enum import StrEnum
from io import BytesIO
from pathlib import PurePosixPath

from bio_mcp.adapters.parsers.frames import Options
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature import identifiers
from bio_mcp.literature.documents import PageWord, ParsedDocument, ParsedSection
from bio_mcp.literature.languages import language_of, two_letters

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is the start of this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED_WITHIN = 4096
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_OF_TEXT = re.compile(
    r"utf-?8|iso-?8859-?\d+|latin-?\d|windows-?(?:125\d|874)|tis-?620|koi8-[ru]|(?:us-)?ascii|gb(?:k|2312|18030)"
    r"|big5|euc-(?:jp|kr)|shift[_-]jis|mac(?:intosh|roman)",
    re.IGNORECASE,
)
_REPLACED = "\ufffd"
GUESSED = "The text is not UTF-8 and declares no encoding; it was read as Windows-1252, so some letters may be wrong."


def decode(content: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text and the warnings about it. Every file has one: bytes that mean nothing become U+FFFD."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace"), ()
    for encoding in filter(None, (_declared(content[:_DECLARED_WITHIN]), "utf-8")):
        try:
            return content.decode(encoding), ()
        except (UnicodeDecodeError, LookupError):
            continue
    text = content.decode("utf-8", "replace")
    bad = text.count(_REPLACED)
    good = sum(1 for character in text if character > "\x7f") - bad
    if good >= 4 * bad:  # UTF-8 with a few bad bytes
        return text, (f"{bad:,} characters of the text could not be read.",)
    return content.decode("cp1252", "replace"), (GUESSED,)


def _declared(head: bytes) -> str | None:
    """The encoding that a page of HTML declares. Latin-1 means Windows-1252, as in browsers."""
    if not (found := _CHARSET.search(head)) or not _OF_TEXT.fullmatch(name := found[1].decode("ascii", "replace")):
        return None
    return "cp1252" if re.fullmatch(r"(?:us-)?ascii|iso-?8859-?1|latin-?1", name, re.IGNORECASE) else name


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
_NAMED_BINARY = {
    "pdf": "a PDF",
    "docx": "a Word document",
    **dict.fromkeys(("png", "jpg", "jpeg", "tif", "tiff"), "an image"),
}
_HEAD = 1 << 16
_PROLOG = re.compile(r"\s*(?:<\?[^>]*>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>|\s+)*", re.DOTALL | re.IGNORECASE)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)")
_OF_JATS = re.compile(r"<front[\s>]|<article-meta|dtd-version|JATS|<body><sec|article-type=")
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
        raise UnreadableDocument(f"The file is named as {named} but is {shown}; download it again.")
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
    if root and not is_page and (root[1] in ("article", "pmc-articleset") and _OF_JATS.search(text)):
        return Kind.JATS
    if is_page and text.lstrip().startswith("<"):
        return Kind.HTML
    if text.lstrip().startswith("<?xml"):
        if root and root[1].startswith(("Pubmed", "BookDocument")):
            raise UnreadableDocument(
                "The file holds records of PubMed, not an article; import it with `bio-mcp import`."
            )
        raise UnreadableDocument("The file is XML of a kind that is not read; of XML only JATS is.")
    if root and root[1].casefold() in _OF_PAGES and _ending(name) not in ("md", "markdown", "txt"):
        return Kind.HTML
    return _NAMED_TEXT.get(_ending(name), Kind.TEXT)


def _ending(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).suffix.removeprefix(".").casefold()


LONGEST_TEXT = 20_000_000  # characters of a document: some 8,000 pages
MOST_SECTIONS = 50_000
LONGEST_LINE = 500  # characters of a title or heading
_TERMINAL = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-_])"
# C0 but tab and line feed, DEL and C1; soft hyphens, marks of direction and of width; surrogates; non-characters.
_UNSEEN = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    r"\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_REMOVED = re.compile(f"{_TERMINAL}|{_UNSEEN}")


def without_controls(text: str) -> str:
    """`text` without control sequences of terminals and characters that are not seen."""
    return _REMOVED.sub("", text)


def clean(document: ParsedDocument) -> ParsedDocument:
    """Return the document as it may be stored. Raises `UnreadableDocument` for one without text, or with too much."""
    if len(document.sections) > MOST_SECTIONS or sum(len(each.text) for each in document.sections) > LONGEST_TEXT:
        raise UnreadableDocument(
            f"The document has more than {LONGEST_TEXT:,} characters or {MOST_SECTIONS:,} sections; split it."
        )
    sections = tuple(each for each in map(_cleaned, document.sections) if each.text or each.heading)
    if not any(each.text for each in sections):
        raise UnreadableDocument("The document holds no text: it is empty, or holds images alone.")
    return replace(
        document,
        sections=sections,
        language=language_of("\n".join(each.text for each in sections)) or two_letters(document.language or ""),
        title=_line(document.title or "") or None,
        doi=identifiers.normal(identifiers.doi, document.doi),
        pmid=identifiers.normal(identifiers.parse_pmid, document.pmid),
        authors=tuple(filter(None, map(_line, document.authors))),
        journal=_line(document.journal or "") or None,
        warnings=tuple(map(_line, document.warnings)),
    )


def _cleaned(section: ParsedSection) -> ParsedSection:
    text = without_controls(section.text)
    starts = section.page_starts
    if len(text) != len(section.text):
        starts = tuple((len(without_controls(section.text[:at])), page) for at, page in starts)
    led = len(text) - len(text.lstrip())
    text = text.strip()
    return replace(
        section,
        text=text,
        heading=_line(section.heading or "") or None,
        path=tuple(filter(None, map(_line, section.path))),
        page_starts=tuple((min(max(at - led, 0), len(text)), page) for at, page in starts),
    )


def _line(text: str) -> str:
    line = " ".join(without_controls(text.replace("\n", " ")).split())
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE].rpartition(' ')[0] or line[:LONGEST_LINE]} …"


def read(content: bytes, name: str, options: Options) -> ParsedDocument:
    """Read the file. Raises `UnreadableDocument` with the reason."""
    return clean(_parsed(content, kind_of(content, name), options))


def words_on(content: bytes, page: int, options: Options) -> list[PageWord]:
    """Recognise the words on a page of a PDF. Raises `UnreadableDocument`."""
    from bio_mcp.adapters.parsers.scans import words_on_page

    return words_on_page(content, page, options)


def _parsed(content: bytes, kind: Kind, options: Options) -> ParsedDocument:
    """Each import loads the libraries of its kind alone."""
    if kind in (Kind.PDF, Kind.IMAGE):
        from bio_mcp.adapters.parsers.scans import parse_image, parse_pdf_with_scans

        return (parse_pdf_with_scans if kind is Kind.PDF else parse_image)(content, options)
    if kind is Kind.DOCX:
        from bio_mcp.adapters.parsers.docx import parse_docx

        return parse_docx(content)
    from bio_mcp.adapters.parsers.text_files import parse_html, parse_jats, parse_markdown, parse_plain_text

    if kind is Kind.JATS:
        return parse_jats(content)
    text, warnings = decode(content)
    parse = {Kind.HTML: parse_html, Kind.MARKDOWN: parse_markdown}.get(kind, parse_plain_text)
    document = parse(text.replace("\0", ""))  # HTML's parser would put U+FFFD there
    return replace(document, warnings=(*warnings, *document.warnings))
