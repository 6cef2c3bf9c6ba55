"""PDF files, by PDFium: their text where they have some, and images of their pages for whoever recognises it there."""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby, islice, pairwise, takewhile
from statistics import mean
from typing import Any, NamedTuple

from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.documents import ParsedDocument
from bio_mcp.literature.languages import language_of, two_letters
from bio_mcp.literature.layout.document import lay_out
from bio_mcp.literature.layout.lines import PageLines, PositionedLine, is_garbled, letters, readable
from bio_mcp.literature.medline.text import subscript, superscript

DPI = 300
_MOST_PIXELS = 20_000_000  # of a page's image: 300 dots an inch of A3; a larger page is drawn coarser
POINTS_PER_INCH = 72
_OBJECTS = 10_000  # of a page that are looked at


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page as it is seen, upright where the file says how: grey, one byte a pixel, rows from the top without padding.

    `dpi` is the resolution: a point of the page is `dpi / 72` pixels.
    """

    page: int
    width: int
    height: int
    dpi: float
    pixels: bytes

    @property
    def pgm(self) -> bytes:
        """The image as a file."""
        return b"P5 %d %d 255\n" % (self.width, self.height) + self.pixels


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """What was recognised on a page: lines placed in points (pixels times 72 / dpi), and how surely (0 to 1)."""

    lines: tuple[PositionedLine, ...]
    confidence: float


def image_of(page: Any, number: int) -> PageImage:
    """Draw a `pypdfium2.PdfPage`."""
    width, height = page.get_size()
    most = math.sqrt(_MOST_PIXELS / max(1.0, width * height))
    scale = min(DPI / POINTS_PER_INCH, most)
    bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False)
    try:
        stored = bytes(bitmap.buffer)
        rows = (stored[at * bitmap.stride : at * bitmap.stride + bitmap.width] for at in range(bitmap.height))
        pixels = stored if bitmap.stride == bitmap.width else b"".join(rows)
        return PageImage(number, bitmap.width, bitmap.height, scale * POINTS_PER_INCH, pixels)
    finally:
        bitmap.close()


def image_share(page: Any) -> float:
    """How much of the page the largest image covers, from 0 to 1; drawings that are no image count a little."""
    from pypdfium2 import raw

    left, bottom, right, top = page.get_bbox()
    whole = max(1.0, (right - left) * (top - bottom))
    share = 0.0
    for each in islice(page.get_objects(max_depth=4), _OBJECTS):
        if each.type == raw.FPDF_PAGEOBJ_IMAGE:
            x0, y0, x1, y1 = each.get_bounds()
            share = max(share, (x1 - x0) * (y1 - y0) / whole)
        elif each.type in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING):
            share = max(share, 0.01)
    return min(share, 1.0)


_ITALIC = 64  # flag of a font descriptor
_BOLD = re.compile(r"bold|black|heavy|semib|demi|medi\b|[-.,_]b[di]?$|cmb|sfbx", re.IGNORECASE)
_ITALIC_NAME = re.compile(r"ital|obli|[-.,_]b?i$|cmti|sfti", re.IGNORECASE)
_HYPHEN = 0x02  # PDFium's mark of a hyphen at the end of a line
_ENDS = frozenset({0x0A, 0x0D, _HYPHEN})
_PARTING = _ENDS | {0x20, 0xA0, 0x09, 0x3000}  # words
_LINE_END = 0.15  # font sizes: where PDFium ends a line, though the same one goes on
_THAI_SPACE = 0.3  # Thai words have no space between them, and letters are set apart to fill a line
_THAI = re.compile("[ก-๛]")
_THAI_MARK = re.compile("[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]")
_LABEL = re.compile(r"[\[(]?(\d{1,3}|[a-z])[\].)]{1,2}|[•▪■●–-]|\d{1,2}(\.\d{1,2})*")
_AFTER_LABEL = 3.0  # font sizes between the number of an item, or of a heading, and its text
_LARGEST = 2_000.0  # points of a font; more than a poster has
_WIDE = 1.0  # times the font's size: a gap that words of one column do not have


class Style(NamedTuple):
    """How an object of text is printed. `angle` is 0, 90, 180 or 270, counted as the page is stored."""

    size: float
    font: str
    bold: bool
    italic: bool
    angle: int


class Word(NamedTuple):
    """Characters of one style with no space between them. `ends` if a line does with them.

    `space` is how wide the gap before them must be, in font sizes, to be a space; None if it is none.
    """

    text: str
    x0: float
    x1: float
    y: float
    style: Style
    space: float | None
    ends: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """The page's box as it is stored: left, bottom, right and top."""

    left: float
    bottom: float
    right: float
    top: float

    def along(self, angle: int, low: tuple[float, float], high: tuple[float, float]) -> tuple[float, float]:
        """The start and end of a box from corner `low` to `high` along the direction of text at `angle`."""
        if angle == 90:
            return low[1] - self.bottom, high[1] - self.bottom
        if angle == 180:
            return self.right - high[0], self.right - low[0]
        if angle == 270:
            return self.top - high[1], self.top - low[1]
        return low[0] - self.left, high[0] - self.left

    def reaches(self, word: Word) -> bool:
        """Whether the word is on the page or no further from it than another page is large: damaged files place some
        at any number."""
        most = 2 * max(self.right - self.left, self.top - self.bottom)
        return all(-most < each < most for each in (word.x0, word.x1, word.y))

    def down(self, angle: int, x: float, y: float) -> float:
        """How far down a page is that has text at `angle` upright."""
        return {0: self.top - y, 90: x - self.left, 180: y - self.bottom, 270: self.right - x}[angle]


def page_lines(page: Any, number: int) -> PageLines:
    """Read the lines of a `pypdfium2.PdfPage`. Those at another angle than most letters come last, with that angle."""
    frame = Frame(*page.get_bbox())
    text_page = page.get_textpage()
    try:
        words = [word for word in _Characters(text_page, frame).words() if frame.reaches(word)]
    finally:
        text_page.close()
    angles: Counter[int] = Counter()
    for word in words:
        angles[word.style.angle] += len(word.text)
    upright = angles.most_common(1)[0][0] if words else (-page.get_rotation()) % 360
    lines = [replace(line, angle=(line.angle - upright) % 360) for line in _lines(words)]
    width, height = frame.right - frame.left, frame.top - frame.bottom
    if upright in (90, 270):
        width, height = height, width
    return PageLines(number, width, height, tuple(sorted(lines, key=lambda line: line.angle != 0)))


class _Characters:
    """The characters of a page: their codes, and the objects of text that they belong to, by index."""

    def __init__(self, text_page: Any, frame: Frame) -> None:
        from pypdfium2 import raw

        self._pdfium, self._page, self._frame = raw, text_page.raw, frame
        # By its address alone, since an object of ctypes for each character takes as long as all else.
        address = ctypes.cast(raw.FPDFText_GetTextObject, ctypes.c_void_p).value or 0
        object_of = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(address)
        page = ctypes.cast(self._page, ctypes.c_void_p).value
        indexes = range(raw.FPDFText_CountChars(self._page))
        self._codes = [raw.FPDFText_GetUnicode(self._page, at) for at in indexes]
        self._objects = [object_of(page, at) for at in indexes]

    def words(self) -> Iterator[Word]:
        codes, objects, count = self._codes, self._objects, len(self._codes)
        styles: dict[int, Style] = {}
        space: float | None = None
        start = 0
        while start < count:
            if codes[start] in _PARTING or not objects[start]:
                space, start = self._space(start), start + 1
                continue
            end = start + 1
            while end < count and objects[end] == objects[start] and codes[end] not in _PARTING:
                end += 1
            style = styles.get(objects[start]) or styles.setdefault(objects[start], self._style(start))
            after = codes[end] if end < count else 0
            text = _whole("".join(map(chr, codes[start:end]))) + ("-" if after == _HYPHEN else "")
            yield Word(text, *self._place(start, end, style), style, space, after in _ENDS)
            space, start = None, end

    def _space(self, at: int) -> float:
        """How wide the gap at `at` must be: more where PDFium saw it between Thai letters, and the file has no
        space."""
        code = self._codes[at]
        if code in _ENDS:
            return _LINE_END
        around = self._codes[max(0, at - 1) : at + 2]
        thai = all(each == code or _THAI.match(chr(each)) for each in around)
        return _THAI_SPACE if thai and self._pdfium.FPDFText_IsGenerated(self._page, at) == 1 else 0.0

    def _place(self, start: int, end: int, style: Style) -> tuple[float, float, float]:
        """Start, end and baseline of a word, by the characters that may reach farthest: first and last, and what a last
        Thai mark stands on."""
        reach = end - 1
        while reach > start and _THAI_MARK.match(chr(self._codes[reach])):
            reach -= 1
        left, right, bottom, top, x, y = (ctypes.c_double() for _ in range(6))
        boxes = []
        for at in (start, *range(max(reach, start + 1), end)):
            self._pdfium.FPDFText_GetCharBox(self._page, at, left, right, bottom, top)
            boxes.append((left.value, bottom.value, right.value, top.value))
        lefts, bottoms, rights, tops = zip(*boxes, strict=True)
        begin, stop = self._frame.along(style.angle, (min(lefts), min(bottoms)), (max(rights), max(tops)))
        self._pdfium.FPDFText_GetCharOrigin(self._page, start, x, y)
        return begin, stop, self._frame.down(style.angle, x.value, y.value)

    def _style(self, at: int) -> Style:
        pdfium, page = self._pdfium, self._page
        matrix = pdfium.FS_MATRIX(1.0, 0.0, 0.0, 1.0)
        pdfium.FPDFText_GetMatrix(page, at, matrix)
        a, b, c, d = (part if math.isfinite(part) else 0.0 for part in (matrix.a, matrix.b, matrix.c, matrix.d))
        stored, flags = ctypes.create_string_buffer(256), ctypes.c_int()
        pdfium.FPDFText_GetFontInfo(page, at, stored, len(stored), flags)
        name = stored.value.decode("utf-8", "replace")
        family = name.partition("+")[2] or name
        drawn = pdfium.FPDFText_GetFontSize(page, at) * math.hypot(c, d)
        return Style(
            size=round(drawn, 1) or 1.0 if drawn < _LARGEST else 1.0,
            font=family,
            bold=pdfium.FPDFText_GetFontWeight(page, at) >= 600 or bool(_BOLD.search(family)),
            italic=bool(flags.value & _ITALIC) or bool(_ITALIC_NAME.search(family)),
            angle=round(math.degrees(math.atan2(b, a)) / 90) * 90 % 360,
        )


_HALF = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _whole(text: str) -> str:
    """The text with each pair of surrogates, as PDFium gives characters beyond U+FFFF, as that character."""
    if text.isascii():
        return text
    return _HALF.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _lines(words: list[Word]) -> Iterator[PositionedLine]:
    """Words that follow each other on one baseline, with raised and lowered ones among them."""
    current: list[Word] = []
    for word in words:
        if current and not _continues(current, word):
            yield _line(current)
            current = []
        current.append(word)
    if current:
        yield _line(current)


def _continues(line: list[Word], word: Word) -> bool:
    last = line[-1]
    size = max(last.style.size, word.style.size)
    gap = word.x0 - last.x1
    widest = _AFTER_LABEL if len(line) == 1 and _LABEL.fullmatch(last.text) else _WIDE
    if last.style.angle != word.style.angle or not -0.5 * size < gap < widest * size:
        return False
    if last.text.endswith("-") and last.ends:
        return False
    return any(abs(word.y - each.y) < 0.45 * max(each.style.size, word.style.size) for each in (line[0], last))


_SMALL = 0.85  # of the line's size, at most, has what is raised or lowered
_RAISED, _LOWERED = 0.15, -0.07  # of the line's size, that its baseline is higher
_NUMBERS = re.compile("[0-9+−–‐,.()*∗†‡§¶#-]+")
_ADDRESSES = re.compile("[a-j](,?[a-j])*,?[0-9*∗†‡§¶#,]*")
_SMALLER = re.compile("[0-9a-j+−–‐-]+")


def _scripted(words: Sequence[Word], size: float, y: float) -> Iterator[str]:
    """Yield the words; raised and lowered numbers in small forms, since their digits would say something else (10-7),
    and raised letters that name authors' addresses."""

    def higher(word: Word) -> int:
        by = (y - word.y) / size if word.style.size <= _SMALL * size else 0.0
        return 1 if by > _RAISED else -1 if by < _LOWERED else 0

    for place, run in groupby(words, higher):
        texts = [word.text for word in run]
        whole = "".join(texts) if place else ""
        if whole and (_NUMBERS.fullmatch(whole) or (place > 0 and _ADDRESSES.fullmatch(whole))):
            small = superscript if place > 0 else subscript
            texts = [_SMALLER.sub(lambda found: small(found[0]), each) for each in texts]  # noqa: B023  used at once
        yield from texts


def _line(words: list[Word]) -> PositionedLine:
    letters: Counter[Style] = Counter()
    for word in words:
        letters[word.style] += len(word.text)
    style = letters.most_common(1)[0][0]
    y = next(word.y for word in words if word.style == style)
    is_plain = all(each.size > _SMALL * style.size for each in letters)
    texts = [word.text for word in words] if is_plain else list(_scripted(words, style.size, y))
    parts = [texts[0]]
    for (before, word), text in zip(pairwise(words), texts[1:], strict=True):
        gap = (word.x0 - before.x1) / max(word.style.size, before.style.size)
        parts.append(" " + text if word.space is not None and gap > word.space else text)
    total = 0.9 * letters.total()
    of_font = sum(count for each, count in letters.items() if each.font == style.font)
    return PositionedLine(
        text=readable("".join(parts)).strip(),
        x0=min(word.x0 for word in words),
        x1=max(word.x1 for word in words),
        y=y,
        size=style.size,
        font=style.font,
        bold=sum(count for each, count in letters.items() if each.bold) >= total,
        italic=sum(count for each, count in letters.items() if each.italic) >= total,
        mixed=of_font < total,
        angle=style.angle,
        lead=len(readable("".join(parts[: _leading(words)])).strip()),
    )


def _leading(words: Sequence[Word]) -> int:
    """How many words a line begins with in bold or italic type, if others follow that are not."""
    face = words[0].style.bold, words[0].style.italic
    if not any(face):
        return 0
    count = sum(1 for _ in takewhile(lambda word: (word.style.bold, word.style.italic) == face, words))
    return count if count < len(words) else 0


_HEAD = 1024  # bytes among which PDF's mark stands
_TAIL = 2048
_BOOKMARKS = 5_000  # that are looked at
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
        pages = len(document)
        if not pages:
            raise UnreadableDocument(_DAMAGED)
        if pages > most_pages:
            raise UnreadableDocument(
                f"The PDF has {pages:,} pages, more than the {most_pages:,} that are read; split it into parts."
            )
        yield document
    finally:
        document.close()


def _reason(error: Any, content: bytes) -> str:
    from pypdfium2 import raw

    # PDFium tells the last error of all files, not of this one.
    if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY) and b"/Encrypt" in content:
        return _ENCRYPTED
    return _DAMAGED if b"%%EOF" in content[-_TAIL:] else _TRUNCATED


def stated_language(document: Any) -> str | None:
    """The ISO 639-1 code of the language that the file says it is in."""
    from pypdfium2 import raw

    stored = (ctypes.c_ushort * _LONGEST_TAG)()
    size = raw.FPDFCatalog_GetLanguage(document, stored, ctypes.sizeof(stored)) // ctypes.sizeof(ctypes.c_ushort)
    return two_letters("".join(map(chr, stored[: size - 1]))) if 1 < size <= _LONGEST_TAG else None


def outline_of(document: Any) -> list[tuple[int, str, int]]:
    """Page, title and level, from 1, of the file's bookmarks; those that name no page are left out."""
    found = []
    for bookmark in islice(document.get_toc(max_depth=6), _BOOKMARKS):
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        if page is not None and page >= 0:
            found.append((page + 1, bookmark.get_title(), bookmark.level + 1))
    return found


MOST_PAGES = 2_000
Recognise = Callable[[PageImage], RecognisedPage]
_FEW = 60  # letters, such as a stamp over a scan has
_IMAGE = 0.5  # of the page: a larger image is the page


def parse_pdf(content: bytes, recognise: Recognise | None = None, most_pages: int = MOST_PAGES) -> ParsedDocument:
    """Read a PDF. `recognise` is given the image of each page whose text is missing or garbled, in order.

    Without `recognise` such pages are left out; a warning names those that have no text in the end. Raises
    `UnreadableDocument` for what is not a PDF, encrypted, cut off or damaged, without pages or of more than
    `most_pages`, before any page is read.
    """
    with opened(content, most_pages) as document:
        read = [_read(document, number, recognise) for number in range(1, len(document) + 1)]
        pages = [page for page, _ in read]
        laid_out = lay_out(pages, outline_of(document), document.get_metadata_dict(skip_empty=True))
        language = language_of(laid_out.text) or stated_language(document)
    sure = [confidence for _, confidence in read if confidence]
    return replace(
        laid_out,
        pages=len(pages),
        language=language,
        ocr=bool(sure),
        confidence=mean(sure) if sure else None,
        warnings=_warnings([page.number for page, confidence in read if confidence == 0]),
    )


def _read(document: Any, number: int, recognise: Recognise | None) -> tuple[PageLines, float | None]:
    """The lines of a page, and how surely they were recognised: None for the file's own, 0 where none can be read."""
    import pypdfium2

    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return PageLines(number, 0, 0), 0.0
    try:
        own = page_lines(page, number)
        if _is_usable(own, page):
            return own, None
        found = recognise(image_of(page, number)) if recognise else None
        if not found or not found.lines:
            return replace(own, lines=()), 0.0
        width, height = page.get_size()
        return PageLines(number, width, height, found.lines), found.confidence
    finally:
        page.close()


def _is_usable(found: PageLines, page: Any) -> bool:
    """Whether the page's text is what there is to read: not garbled, and not a stamp on an image."""
    count = letters(found.lines)
    if count >= _FEW:
        return not is_garbled(found.lines)
    share = image_share(page)
    return share < _IMAGE if count else share == 0


def _warnings(unread: Sequence[int]) -> tuple[str, ...]:
    """A sentence on the pages without text, as ranges; none where there are none."""
    if not unread:
        return ()
    breaks = [0, *(at + 1 for at, (one, two) in enumerate(pairwise(unread)) if two > one + 1), len(unread)]
    ranges = [(unread[first], unread[last - 1]) for first, last in pairwise(breaks)]
    named = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    return (f"No text could be read on {'page' if len(unread) == 1 else 'pages'} {named}.",)
