"""PDF files opened, or refused with the reason."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.languages import two_letters

_HEAD = 1024  # bytes among which PDF's mark stands
_TAIL = 2048
_LONGEST_TAG = 64  # letters of a tag such as "en-GB"
_ENCRYPTED = "The PDF is encrypted; save it without its password, then give it again."
_TRUNCATED = "The PDF is cut off before its end; download or copy it again."
_DAMAGED = "The PDF is damaged or has no pages; save it anew from the program that made it."


@contextmanager
def opened(content: bytes, most_pages: int) -> Iterator[Any]:
    """Open the file as a `pypdfium2.PdfDocument` of 1 to `most_pages` pages. Raises `UnreadableDocument`."""
    import pypdfium2

    if b"%PDF-" not in content[:_HEAD]:
        raise UnreadableDocument("The file is not a PDF, whatever its name says; check what was downloaded.")
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        raise UnreadableDocument(_reason(error, content)) from error
    try:
        _check(len(document), most_pages)
        yield document
    finally:
        document.close()


def _reason(error: Any, content: bytes) -> str:
    from pypdfium2 import raw

    # PDFium tells the last error of all files, not of this one.
    if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY) and b"/Encrypt" in content:
        return _ENCRYPTED
    return _DAMAGED if b"%%EOF" in content[-_TAIL:] else _TRUNCATED


def _check(pages: int, most_pages: int) -> None:
    if not pages:
        raise UnreadableDocument(_DAMAGED)
    if pages > most_pages:
        raise UnreadableDocument(
            f"The PDF has {pages:,} pages, more than the {most_pages:,} that are read; split it into parts."
        )


def stated_language(document: Any) -> str | None:
    """The ISO 639-1 code of the language that the file says it is in."""
    from pypdfium2 import raw

    stored = (ctypes.c_ushort * _LONGEST_TAG)()
    size = raw.FPDFCatalog_GetLanguage(document, stored, ctypes.sizeof(stored)) // ctypes.sizeof(ctypes.c_ushort)
    return two_letters("".join(map(chr, stored[: size - 1]))) if 1 < size <= _LONGEST_TAG else None


def outline_of(document: Any, most: int = 5000) -> list[tuple[int, str, int]]:
    """Page, title and level, from 1, of the file's bookmarks; those that name no page are left out."""
    found = []
    for at, bookmark in enumerate(document.get_toc(max_depth=6)):
        if at == most:
            break
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        if page is not None and page >= 0:
            found.append((page + 1, bookmark.get_title(), bookmark.level + 1))
    return found
