"""How a file is to be read, as a child process is told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`languages` are those of scanned pages, the likeliest first; `tesseract` is the program that recognises them.

    `advance` is called at each sign of progress, such as a page that was recognised.
    """

    languages: Sequence[str]
    most_pages: int
    tesseract: str
    advance: Callable[[], None]
