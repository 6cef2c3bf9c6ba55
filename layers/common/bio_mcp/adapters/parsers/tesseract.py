"""Text in images of pages, recognised by the program tesseract.

The program is given the image on its standard input and answers on its standard output, so that no file is written.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from bio_mcp.adapters.parsers.hocr import HocrPage, pages_of
from bio_mcp.adapters.parsers.pdf import PageImage, RecognisedPage
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.languages import three_letters

DEFAULT = ("eng", "deu")
PAGE_S = 120
_SURE = 0.6  # mean confidence; less may be of a page that lies on its side
_PACKS: Mapping[str, str] = {"zho": "chi_sim"}  # where tesseract's name is not the code of ISO 639-3
# Of scripts in which English names and numbers stand, that their own packs do not know.
_OTHER_SCRIPTS = frozenset("ara chi_sim ell fas heb hin jpn kor tha".split())
# Marks above Thai letters are taken for lines of their own unless lines are at least so many letters high.
_THAI = ("-c", "textord_min_linesize=2.5")
_PROBLEM = "in an image is not recognised, since"


class Tesseract:
    """Recognises text in these languages, by the program `tesseract` is or is found as.

    `problem` says why nothing can be recognised, and what to install; None if it can. `warnings` name languages whose
    packs are missing while others are there.
    """

    def __init__(self, program: str, languages: Sequence[str]) -> None:
        self._program = program
        self._wanted = _packs(languages)

    def recognise(self, image: PageImage) -> RecognisedPage:
        """Recognise a page, turned if it lies on its side or its head; it has no lines where that fails."""
        if self.problem:
            return RecognisedPage((), 0.0)
        found = self._upright(image)
        if found.confidence >= _SURE or not (angle := self._angle(image)):
            return found
        return max(found, self._upright(turned(image, angle)), key=lambda each: each.confidence)

    def _upright(self, image: PageImage) -> RecognisedPage:
        pages = self._pages(_file(image), ("--dpi", str(round(image.dpi))))
        return pages[0].in_points(image.dpi) if pages else RecognisedPage((), 0.0)

    def _angle(self, image: PageImage) -> int:
        """By how many degrees, clockwise, the page must be turned; 0 where tesseract cannot tell."""
        answer = self._run(_file(image), ("--dpi", str(round(image.dpi)), "--psm", "0"))
        found = re.search(rb"^Rotate: (90|180|270)$", answer or b"", re.MULTILINE)
        return int(found[1]) if found else 0

    def pages_in(self, content: bytes) -> list[HocrPage]:
        """Recognise the pages of an image file. Raises `UnreadableDocument` for one that is none."""
        if self.problem:
            raise UnreadableDocument(self.problem)
        pages = self._pages(content, ())
        if not pages:
            raise UnreadableDocument("The image cannot be read: it is damaged, too large, or takes too long.")
        return pages

    @cached_property
    def problem(self) -> str | None:
        """Why nothing can be recognised."""
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

    def _pages(self, image: bytes, options: Sequence[str]) -> list[HocrPage]:
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


def _file(image: PageImage) -> bytes:
    """The image as a PGM file."""
    return b"P5 %d %d 255\n" % (image.width, image.height) + image.pixels


def _packs(languages: Sequence[str]) -> tuple[str, ...]:
    """The packs for languages, the likeliest first, with English behind scripts that are not Latin."""
    codes = [code for each in languages if (code := three_letters(each))] or list(DEFAULT)
    packs = [_PACKS.get(code, code) for code in codes]
    return tuple(dict.fromkeys([*packs, *(["eng"] if _OTHER_SCRIPTS.intersection(packs) else [])]))


def _advice(packs: Sequence[str]) -> str:
    names = " ".join(f"tesseract-ocr-{each.replace('_', '-')}" for each in packs)
    return f"on Debian and Ubuntu `apt-get install tesseract-ocr {names}`, on macOS `brew install tesseract-lang`"
