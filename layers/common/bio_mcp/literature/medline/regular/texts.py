"""Texts of a checked batch, without a tree unless they hold markup."""

import re
from typing import Any

from bio_mcp.literature.medline.markup import plain, single_spaced, tidy
from bio_mcp.literature.medline.regular.fragments import Irregular, fragment
from bio_mcp.literature.medline.scripts import subscript, superscript

_INNERMOST = re.compile(r"<(i|b|u|sup|sub)>([^<]*)</\1>")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_SCRIPTS = {"sup": superscript, "sub": subscript}


def leaf_text(inner: str) -> str | None:
    """The same as `markup.leaf`. Raises `Irregular` for an element with elements inside."""
    if inner.isalnum():
        return inner
    if "<" in inner:
        raise Irregular
    return tidied(inner) or None


def plain_text(inner: str) -> str:
    """The same as `markup.plain`."""
    if "<" not in inner:
        return tidied(inner)
    flat = inner if "&" in inner else _INNERMOST.sub(_rendered, inner)
    return plain(fragment(f"<x>{inner}</x>".encode())) if "<" in flat else tidy(flat)


def _rendered(element: re.Match[str]) -> str:
    render = _SCRIPTS.get(element[1])
    return render(element[2]) if render else element[2]


def tidied(text: str) -> str:
    """Text without markup, with its entities replaced."""
    return _tidy_inside(text).strip()


def tidied_all(texts: list[str]) -> list[str]:
    """`tidied` of each, all at once."""
    return list(map(str.strip, _tidy_inside("\0".join(texts)).split("\0"))) if texts else []


def _tidy_inside(text: str) -> str:
    """`text` with its entities replaced, and runs of white space: in a checked batch they have a break or a tab."""
    if "&" in text:
        before, *pieces = text.split("&")
        parts = [piece.partition(";") for piece in pieces]
        text = before + "".join([_ENTITIES[name] + after for name, _, after in parts])
    return single_spaced(text) if "\n" in text or "\t" in text else text


def every(element: re.Pattern[str], inner: str) -> list[Any]:
    """What `element` finds. Raises `Irregular` unless those are all elements that there are."""
    found = element.findall(inner)
    if inner.count("<") != 2 * len(found):
        raise Irregular
    return found
