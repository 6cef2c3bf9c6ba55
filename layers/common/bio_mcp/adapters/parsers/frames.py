"""What goes between the parser and its child process: lines of JSON, never code."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from bio_mcp.literature.documents import PageWord, ParsedDocument

LONGEST_LINE = 160 << 20  # bytes of one answer
PROGRESS = b"{}\n"
OUT_OF_MEMORY = 77  # the exit code of a child that took more memory than it may


class Broken(Exception):
    """What came is no frame."""


def line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def read_line(stream: IO[bytes]) -> dict[str, Any] | None:
    """Read one line; None at the end of the stream. Raises `Broken` for anything that is no JSON object."""
    got = stream.readline(LONGEST_LINE + 1)
    if not got.endswith(b"\n"):
        if len(got) > LONGEST_LINE:
            raise Broken
        return None
    try:
        value = json.loads(got)
    except (ValueError, RecursionError):
        raise Broken from None
    if not isinstance(value, dict):
        raise Broken
    return value


def document_from_json(value: Mapping[str, Any]) -> ParsedDocument:
    """The document again, of its `dataclasses.asdict`. Raises `Broken` for values that are none."""
    from pydantic import TypeAdapter, ValidationError  # for the parent alone: a child is smaller without

    try:
        return TypeAdapter(ParsedDocument).validate_python(value)
    except ValidationError:
        raise Broken from None


def words_from_json(value: Any) -> list[PageWord]:
    """The words again, of their `dataclasses.asdict`. Raises `Broken` for values that are none."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(list[PageWord]).validate_python(value)
    except ValidationError:
        raise Broken from None


@dataclass(frozen=True, slots=True)
class Options:
    """`languages` are those of scanned pages, the likeliest first; `tesseract` is the program that recognises them.

    `advance` is called at each sign of progress, such as a page that was recognised.
    """

    languages: Sequence[str]
    most_pages: int
    tesseract: str
    advance: Callable[[], None]
