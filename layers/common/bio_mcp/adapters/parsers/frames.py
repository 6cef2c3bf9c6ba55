"""How a file goes to the child process, and how what was read comes back: lines of JSON, never code.

The child parses files that nobody trusts, so that what it writes is not trusted either: it is bounded and checked.
"""

import json
from collections.abc import Mapping, Sequence
from typing import IO, Any

from bio_mcp.literature.parsed import ParsedDocument, ParsedSection, SectionKind

LONGEST_LINE = 160 << 20  # bytes of one answer
PROGRESS = b"{}\n"


class Broken(Exception):
    """What came is no frame."""


def request(content: bytes, name: str, languages: Sequence[str]) -> bytes:
    """The head of a request; `content` follows it."""
    return line({"size": len(content), "name": name, "languages": list(languages)})


def line(value: Mapping[str, Any]) -> bytes:
    """One line of JSON."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def read_line(stream: IO[bytes], longest: int = LONGEST_LINE) -> dict[str, Any] | None:
    """Read one line; None at the end of the stream. Raises `Broken` for anything that is no JSON object."""
    got = stream.readline(longest + 1)
    if not got.endswith(b"\n"):
        return None if not got or len(got) <= longest else _broken()
    try:
        value = json.loads(got)
    except (ValueError, RecursionError):
        _broken()
    return value if isinstance(value, dict) else _broken()


def _broken() -> Any:
    raise Broken


def document_to_json(document: ParsedDocument) -> dict[str, Any]:
    """The document as JSON values."""
    return {
        "sections": [
            [each.text, each.heading, each.path, each.page_starts, each.kind.value] for each in document.sections
        ],
        **{name: getattr(document, name) for name in _PLAIN},
        "warnings": list(document.warnings),
    }


def document_from_json(value: Mapping[str, Any]) -> ParsedDocument:
    """The document again. Raises `Broken` for values that are none."""
    try:
        return ParsedDocument(
            sections=tuple(_section(*each) for each in value["sections"]),
            warnings=tuple(_text(each) for each in value["warnings"]),
            **{name: _typed(value[name], *kinds) for name, kinds in _PLAIN.items()},
        )
    except (KeyError, TypeError, ValueError):
        raise Broken from None


_PLAIN: dict[str, tuple[type, ...]] = {
    "pages": (int, type(None)),
    "ocr": (bool,),
    "confidence": (int, float, type(None)),
    "language": (str, type(None)),
    "title": (str, type(None)),
    "doi": (str, type(None)),
    "pmid": (str, type(None)),
}


def _section(text: Any, heading: Any, path: Any, starts: Any, kind: Any) -> ParsedSection:
    return ParsedSection(
        _text(text),
        _typed(heading, str, type(None)),
        tuple(map(_text, path)),
        tuple((_typed(at, int), _typed(page, int)) for at, page in starts),
        SectionKind(kind),
    )


def _text(value: Any) -> str:
    text: str = _typed(value, str)
    return text


def _typed(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds):
        raise TypeError
    return value
