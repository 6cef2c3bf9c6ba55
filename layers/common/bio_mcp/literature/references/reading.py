"""A file or a text of references, of whatever format."""

import re
from collections.abc import Callable
from typing import Literal

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.references.bibtex import read_bibtex
from bio_mcp.literature.references.csl import read_csl
from bio_mcp.literature.references.plain import read_plain
from bio_mcp.literature.references.tagged import read_nbib, read_ris
from bio_mcp.literature.references.works import CitedWork

Format = Literal["bibtex", "ris", "nbib", "csl-json", "text"]
LARGEST = 4_000_000  # characters
_READERS: dict[Format, Callable[[str], list[CitedWork]]] = {
    "bibtex": read_bibtex,
    "ris": read_ris,
    "nbib": read_nbib,
    "csl-json": read_csl,
    "text": read_plain,
}
FORMATS: tuple[Format, ...] = tuple(_READERS)
_SIGNS: tuple[tuple[Format, re.Pattern[str]], ...] = (
    ("csl-json", re.compile(r"\s*[\[{]\s*[\[{\"]")),
    ("ris", re.compile(r"(?:^|\n)\s*TY  ?- ?[A-Z]{3,}")),
    ("nbib", re.compile(r"(?:^|\n)PMID- *\d+|(?:^|\n)TI  - .*(?:\n.*){0,400}\n(?:AU|FAU|TA|JT) *- ")),
    ("bibtex", re.compile(r"(?:^|\n)\s*@\s*[A-Za-z]+\s*[{(]\s*[^\s,{}]*\s*,")),
)


def format_of(text: str) -> Format:
    """The format that the text shows; plain text for anything that shows none."""
    head = text[:200_000]
    return next(
        (name for name, sign in _SIGNS if (sign.match(head) if name == "csl-json" else sign.search(head))), "text"
    )


def read_references(text: str, form: Format | None = None) -> list[CitedWork]:
    """The references of a text, without what states nothing. Raises `InvalidInput` for one that is too large, that has
    none, or that is not of the `form` that is named."""
    if len(text) > LARGEST:
        raise InvalidInput(f"more than {LARGEST:,} characters; split the file")
    works = [each for each in _READERS[form or format_of(text)](text.lstrip("\ufeff")) if not each.is_empty]
    if not works:
        raise InvalidInput(
            f"no references found; give {', '.join(FORMATS[:-1])}, or plain text with one reference a line"
        )
    return works
