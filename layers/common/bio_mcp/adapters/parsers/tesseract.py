"""Text in images of pages, recognised by the program tesseract.

The program is given the image on its standard input and answers on its standard output, so that no file is written.
"""

import subprocess
from collections.abc import Mapping, Sequence
from functools import cached_property

from bio_mcp.adapters.parsers.hocr import HocrPage, pages_of
from bio_mcp.adapters.parsers.pdf import PageImage, RecognisedPage
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.languages import three_letters

DEFAULT = ("eng", "deu")
PAGE_S = 120
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
        """Recognise a page; it has no lines where that fails."""
        header = b"P5 %d %d 255\n" % (image.width, image.height)
        pages = [] if self.problem else self._run(header + image.pixels, ("--dpi", str(round(image.dpi))))
        return pages[0].in_points(image.dpi) if pages else RecognisedPage((), 0.0)

    def pages_in(self, content: bytes) -> list[HocrPage]:
        """Recognise the pages of an image file. Raises `UnreadableDocument` for one that is none."""
        if self.problem:
            raise UnreadableDocument(self.problem)
        pages = self._run(content, ())
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

    def _run(self, image: bytes, options: Sequence[str]) -> list[HocrPage]:
        """The pages that tesseract finds in an image; none if it fails or takes too long."""
        more = _THAI if "tha" in self._used else ()
        called = [self._program, "stdin", "stdout", *options, "-l", "+".join(self._used), *more]
        try:
            ran = subprocess.run([*called, "hocr"], input=image, capture_output=True, timeout=PAGE_S)
        except (OSError, subprocess.TimeoutExpired):
            return []
        return pages_of(ran.stdout) if ran.returncode == 0 else []


def _packs(languages: Sequence[str]) -> tuple[str, ...]:
    """The packs for languages, the likeliest first, with English behind scripts that are not Latin."""
    codes = [code for each in languages if (code := three_letters(each))] or list(DEFAULT)
    packs = [_PACKS.get(code, code) for code in codes]
    return tuple(dict.fromkeys([*packs, *(["eng"] if _OTHER_SCRIPTS.intersection(packs) else [])]))


def _advice(packs: Sequence[str]) -> str:
    names = " ".join(f"tesseract-ocr-{each.replace('_', '-')}" for each in packs)
    return f"on Debian and Ubuntu `apt-get install tesseract-ocr {names}`, on macOS `brew install tesseract-lang`"
