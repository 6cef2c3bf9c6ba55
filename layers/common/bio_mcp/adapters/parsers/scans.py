"""Pages as images: recognised by the program tesseract, whose words (hOCR) become placed lines."""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import mean, median
from typing import NamedTuple

from lxml import etree

from bio_mcp.adapters.parsers.frames import Options
from bio_mcp.adapters.parsers.pdf import POINTS_PER_INCH, PageImage, RecognisedPage, image_of, opened, parse_pdf
from bio_mcp.errors import UnreadableDocument
from bio_mcp.health import OK, Finding
from bio_mcp.literature.documents import PageWord, ParsedDocument
from bio_mcp.literature.languages import three_letters
from bio_mcp.literature.layout.document import lay_out
from bio_mcp.literature.layout.lines import PageLines, PositionedLine, readable
from bio_mcp.literature.medline.stream import sealed_builder

_SPAN = "{http://www.w3.org/1999/xhtml}span"
_DIV = "{http://www.w3.org/1999/xhtml}div"
_LINES = frozenset(("ocr_line", "ocr_header"))
_FLOATS = frozenset(("ocr_caption", "ocr_textfloat"))
_STATED = re.compile(r"(bbox|baseline|x_size|x_wconf|scan_res)((?: -?[\d.]+)+)")
_THAI_LETTER = re.compile("[\u0e00-\u0e7f]")
_WIDE = 1.2  # letter heights: a gap as between columns, or between a picture and the text
_SPACE = 0.3  # letter heights: the least gap between two Thai words; within one, tesseract parts the letters
_TALL = 1.5  # times its width: a line of several letters that is so high is turned
_SURE = 0.6  # of text; strokes of drawings have less
_SAME = (0.6, 1.35)  # times the page's median: heights that are one font's; those of Thai vary with its marks
_COLUMN = 3  # lines of text that begin at one edge are a column
_COARSE = 2  # sizes are told apart by half points


class _Word(NamedTuple):
    text: str
    left: int
    right: int
    sure: float
    top: int
    bottom: int


class _Line(NamedTuple):
    words: tuple[_Word, ...]
    baseline: float
    height: float


@dataclass(frozen=True, slots=True)
class HocrPage:
    """A recognised page in pixels. `dpi` is what tesseract took its resolution for."""

    width: int
    height: int
    dpi: float
    lines: tuple[_Line, ...]

    def in_points(self, dpi: float) -> RecognisedPage:
        """The page's lines in points at this resolution, and the mean confidence of their words."""
        usual = median(line.height for line in self.lines) if self.lines else 1.0
        parts = [(line, words) for line in self.lines if (words := _without_strokes(line.words, usual))]
        placed = tuple(_placed(line, words, usual, POINTS_PER_INCH / dpi) for line, words in parts)
        sure = [word.sure for _, words in parts for word in words]
        return RecognisedPage(placed, sum(sure) / len(sure) if sure else 0.0)


def pages_of(hocr: bytes) -> list[HocrPage]:
    """Read tesseract's answer; no pages where it is cut off."""
    try:
        root = etree.fromstring(hocr, sealed_builder())
    except etree.XMLSyntaxError:
        return []
    return [_page(each) for each in root.iter(_DIV) if each.get("class") == "ocr_page"]


def _stated(element: etree._Element) -> dict[str, list[float]]:
    """The numbers that an element's title gives, by name."""
    found = [("bbox", "0 0 0 0"), *_STATED.findall(element.get("title") or "")]
    return {name: list(map(float, values.split())) for name, values in found}


def _page(page: etree._Element) -> HocrPage:
    stated = _stated(page)
    _, _, width, height = map(int, stated["bbox"])
    lines, floats = (
        [line for each in page.iter(_SPAN) if each.get("class") in kind and (line := _line(each)).words]
        for kind in (_LINES, _FLOATS)
    )
    dpi = stated.get("scan_res", [0.0])[0] or 300.0
    beside = [each for each in floats if not _in_column(each, lines)]
    text = [*lines, *(each for each in floats if each not in beside)]
    return HocrPage(width, height, dpi, (*text, *_below(beside, text)))


def _in_column(line: _Line, lines: Sequence[_Line]) -> bool:
    """Whether a line begins where a column of text does: tesseract takes paragraphs for captions as well."""
    begun = sum(abs(each.words[0].left - line.words[0].left) < line.height for each in lines)
    return begun >= _COLUMN


def _below(floats: Sequence[_Line], lines: Sequence[_Line]) -> Iterator[_Line]:
    """What stands beside the text, such as a picture's caption, put below it so that it interrupts no sentence."""
    lowest = max((line.baseline for line in lines), default=0.0)
    highest = min((line.baseline for line in floats), default=0.0)
    for line in floats:
        yield line._replace(baseline=lowest + 2 * line.height + line.baseline - highest)


def _line(line: etree._Element) -> _Line:
    """The line; one that is turned, such as the name of a diagram's axis, has no words."""
    stated = _stated(line)
    words: list[_Word] = []
    for each in line.iter(_SPAN):
        text = "".join(map(str, each.itertext())).strip()
        of_word = _stated(each)
        if each.get("class") == "ocrx_word" and text and "x_wconf" in of_word:
            start, top, end, bottom = map(int, of_word["bbox"])
            words.append(_Word(text, start, end, of_word["x_wconf"][0] / 100, top, bottom))
    left, upper, right, lower = stated["bbox"]
    is_tall = lower - upper > _TALL * (right - left) and sum(len(word.text) for word in words) > 1
    baseline = stated.get("baseline")
    return _Line(
        () if is_tall or baseline is None else tuple(words),
        lower + (baseline[1] if baseline else 0.0),
        stated.get("x_size", [1.0])[0],
    )


def _without_strokes(words: Sequence[_Word], height: float) -> list[_Word]:
    """The words of a line without parts, set apart by wide gaps, that are strokes of a drawing and not text."""
    parts: list[list[_Word]] = []
    for word in words:
        if parts and word.left - parts[-1][-1].right < _WIDE * height:
            parts[-1].append(word)
        else:
            parts.append([word])
    return [word for part in parts if _is_text(part) for word in part]


def _is_text(words: Sequence[_Word]) -> bool:
    letters = sum(len(word.text) for word in words)
    sure = sum(word.sure * len(word.text) for word in words) / letters
    return sure >= _SURE and any(character.isalnum() for word in words for character in word.text)


def _placed(line: _Line, words: Sequence[_Word], usual: float, scale: float) -> PositionedLine:
    height = usual if _SAME[0] < line.height / usual < _SAME[1] else line.height
    text = words[0].text
    for before, word in pairwise(words):
        close = (
            _THAI_LETTER.match(before.text[-1])
            and _THAI_LETTER.match(word.text)
            and word.left - before.right < _SPACE * usual
        )
        text += word.text if close else f" {word.text}"
    return PositionedLine(
        text=readable(text),
        x0=words[0].left * scale,
        x1=words[-1].right * scale,
        y=line.baseline * scale,
        size=max(1.0, round(height * scale * _COARSE) / _COARSE),
    )


DEFAULT = ("eng", "deu")
PAGE_S = 120
_PACKS: Mapping[str, str] = {"zho": "chi_sim"}  # where tesseract's name is not the code of ISO 639-3
# Of scripts in which English names and numbers stand, that their own packs do not know.
_OTHER_SCRIPTS = frozenset("ara chi_sim ell fas heb hin jpn kor tha".split())
# Marks above Thai letters are taken for lines of their own unless lines are at least so many letters high.
_THAI = ("-c", "textord_min_linesize=2.5")
_PROBLEM = "in an image is not recognised, since"


class Tesseract:
    """Recognises text in these languages, the likeliest first, by the program `tesseract` is or is found as.

    `problem` says why nothing can be recognised, and what to install; None if it can. `warnings` name languages whose
    packs are missing while others are there.
    """

    def __init__(self, program: str, languages: Sequence[str]) -> None:
        self._program = program
        codes = [code for each in languages if (code := three_letters(each))] or list(DEFAULT)
        packs = [_PACKS.get(code, code) for code in codes]
        english = ["eng"] if _OTHER_SCRIPTS.intersection(packs) else []
        self._wanted = tuple(dict.fromkeys([*packs, *english]))

    def recognise(self, image: PageImage) -> RecognisedPage:
        """Recognise a page, turned if it lies on its side or its head; it has no lines where that fails."""
        if self.problem:
            return RecognisedPage((), 0.0)
        return self.page_in(image)[0].in_points(image.dpi)

    def page_in(self, image: PageImage) -> tuple[HocrPage, int]:
        """The page in the image, and by how many degrees it was `turned` for that."""
        found = self._upright(image), 0
        if found[0].in_points(image.dpi).confidence >= _SURE:
            return found
        answer = self._run(image.pgm, ("--dpi", str(round(image.dpi)), "--psm", "0"))
        stated = re.search(rb"^Rotate: (90|180|270)$", answer or b"", re.MULTILINE)
        if stated is None:  # tesseract cannot tell
            return found
        angle = int(stated[1])
        other = self._upright(turned(image, angle)), angle
        return max(found, other, key=lambda each: each[0].in_points(image.dpi).confidence)

    def _upright(self, image: PageImage) -> HocrPage:
        pages = self.pages_in(image.pgm, "--dpi", str(round(image.dpi)))
        return pages[0] if pages else HocrPage(image.width, image.height, image.dpi, ())

    @cached_property
    def problem(self) -> str | None:
        if not self.installed:
            return f"Text {_PROBLEM} tesseract is not installed: {_advice(self._wanted)}."
        if not self._used:
            return f"Text {_PROBLEM} tesseract lacks {', '.join(self._wanted)}: {_advice(self._wanted)}."
        return None

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """A sentence if packs are missing."""
        missing = [each for each in self._wanted if each not in self._used]
        if self.problem or not missing:
            return ()
        return (f"Text is recognised without {', '.join(missing)}: {_advice(missing)}.",)

    @cached_property
    def installed(self) -> frozenset[str]:
        """The packs that tesseract has; none if there is no tesseract."""
        try:
            listed = subprocess.run([self._program, "--list-langs"], capture_output=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            return frozenset()
        return frozenset(listed.stdout.decode("utf-8", "replace").split("\n")[1:]) - {""}

    @cached_property
    def _used(self) -> tuple[str, ...]:
        return tuple(each for each in self._wanted if each in self.installed)

    def pages_in(self, image: bytes, *options: str) -> list[HocrPage]:
        """The pages that tesseract finds in an image; none if it fails or takes too long."""
        more = _THAI if "tha" in self._used else ()
        answer = self._run(image, (*options, "-l", "+".join(self._used), *more, "hocr"))
        return pages_of(answer) if answer else []

    def _run(self, image: bytes, options: Sequence[str]) -> bytes | None:
        called = [self._program, "stdin", "stdout", *options]
        try:
            ran = subprocess.run(called, input=image, capture_output=True, timeout=PAGE_S)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return ran.stdout if ran.returncode == 0 else None


def turned(image: PageImage, angle: int) -> PageImage:
    """The image turned clockwise by 90, 180 or 270 degrees."""
    pixels, width = image.pixels, image.width
    if angle == 180:
        return replace(image, pixels=pixels[::-1])
    columns = [pixels[at::width] for at in range(width)]
    rows = [each[::-1] for each in columns] if angle == 90 else columns[::-1]
    return replace(image, width=image.height, height=width, pixels=b"".join(rows))


def turned_back(box: tuple[float, float, float, float], angle: int) -> tuple[float, float, float, float]:
    """A box on an image that was `turned`, on the image as it was; edges are shares of width and height."""
    for _ in range(angle // 90):
        left, top, right, bottom = box
        box = top, 1 - right, bottom, 1 - left
    return box


def _advice(packs: Sequence[str]) -> str:
    names = " ".join(f"tesseract-ocr-{each.replace('_', '-')}" for each in packs)
    return f"on Debian and Ubuntu `apt-get install tesseract-ocr {names}`, on macOS `brew install tesseract-lang`"


DOUBTFUL = 0.7  # mean confidence below which the languages are likely to be wrong


def parse_pdf_with_scans(content: bytes, options: Options) -> ParsedDocument:
    """Read a PDF; pages without text of their own are recognised.

    Raises `UnreadableDocument` with what to install when no page has text and none can be recognised.
    """
    tesseract = Tesseract(options.tesseract, options.languages)
    asked = False

    def recognise(image: PageImage) -> RecognisedPage:
        nonlocal asked
        asked = True
        found = tesseract.recognise(image)
        options.advance()
        return found

    document = parse_pdf(content, recognise, options.most_pages)
    problem = tesseract.problem if asked else None
    if problem and not any(each.text for each in document.sections):
        raise UnreadableDocument(f"The PDF holds images of pages. {problem}")
    lacking = (problem,) if problem else tesseract.warnings if asked else ()
    return replace(document, warnings=(*document.warnings, *lacking, *_doubts(document.confidence)))


def words_on_page(content: bytes, page: int, options: Options) -> list[PageWord]:
    """Recognise the words on a page of a PDF, with boxes on the page as it lies. Raises `UnreadableDocument`."""
    tesseract = Tesseract(options.tesseract, options.languages)
    if tesseract.problem:
        raise UnreadableDocument(tesseract.problem)
    with opened(content, options.most_pages) as document:
        if page > len(document):
            return []
        drawn = document[page - 1]
        try:
            image = image_of(drawn, page)
        finally:
            drawn.close()
    options.advance()
    found, angle = tesseract.page_in(image)
    across, down = found.width, found.height
    words = [each for line in found.lines for each in line.words]
    boxes = ((each.left / across, each.top / down, each.right / across, each.bottom / down) for each in words)
    return [PageWord(each.text, turned_back(box, angle)) for each, box in zip(words, boxes, strict=True)]


def parse_image(content: bytes, options: Options) -> ParsedDocument:
    tesseract = Tesseract(options.tesseract, options.languages)
    if tesseract.problem:
        raise UnreadableDocument(tesseract.problem)
    recognised = [(page, page.in_points(page.dpi)) for page in tesseract.pages_in(content)]
    if not recognised:
        raise UnreadableDocument("The image cannot be read: it is damaged, too large, or takes too long.")
    if not any(each.lines for _, each in recognised):
        raise UnreadableDocument("No text is recognised in the image; check that it shows a page, and its languages.")
    pages = [
        PageLines(number, page.width * POINTS_PER_INCH / page.dpi, page.height * POINTS_PER_INCH / page.dpi, each.lines)
        for number, (page, each) in enumerate(recognised, 1)
    ]
    confidence = mean(each.confidence for _, each in recognised if each.lines)
    return replace(
        lay_out(pages),
        pages=len(pages),
        ocr=True,
        confidence=confidence,
        warnings=(*tesseract.warnings, *_doubts(confidence)),
    )


def _doubts(confidence: float | None) -> tuple[str, ...]:
    if confidence is None or confidence >= DOUBTFUL:
        return ()
    return (f"The text was recognised with a confidence of {confidence:.2f}; name its languages if they are others.",)


def text_recognition(program: str) -> Finding:
    """Name the languages whose scans are read. No check fails for want of them: few need it."""
    tesseract = Tesseract(program, DEFAULT)
    if tesseract.problem:
        return Finding(OK, "scanned pages are refused, all else is read", tesseract.problem)
    packs = sorted(tesseract.installed - {"osd"})
    return Finding(OK, f"scanned pages are read: {', '.join(packs)}", " ".join(tesseract.warnings))
