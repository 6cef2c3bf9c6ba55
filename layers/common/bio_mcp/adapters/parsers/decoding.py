"""Bytes of a text file to text, by its byte order mark, its declared encoding, UTF-8, or else Windows-1252."""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is the start of this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEAD = 4096
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
    for encoding in filter(None, (_declared(content[:_HEAD]), "utf-8")):
        try:
            return content.decode(encoding), ()
        except (UnicodeDecodeError, LookupError):
            continue
    return _damaged_utf8(content) or (content.decode("cp1252", "replace"), (GUESSED,))


def _declared(head: bytes) -> str | None:
    """The encoding that a page of HTML declares. Latin-1 means Windows-1252, as in browsers."""
    if not (found := _CHARSET.search(head)) or not _OF_TEXT.fullmatch(name := found[1].decode("ascii", "replace")):
        return None
    return "cp1252" if re.fullmatch(r"(?:us-)?ascii|iso-?8859-?1|latin-?1", name, re.IGNORECASE) else name


def _damaged_utf8(content: bytes) -> tuple[str, tuple[str, ...]] | None:
    """UTF-8 with a few bad bytes; None for text that has more of these than of good characters beyond ASCII."""
    text = content.decode("utf-8", "replace")
    bad = text.count(_REPLACED)
    good = sum(1 for character in text if character > "\x7f") - bad
    return (text, (f"{bad:,} characters of the text could not be read.",)) if good >= 4 * bad else None
