"""Texts of a checked batch, without a tree unless they hold markup."""

import re
from typing import Any

from bio_mcp.literature.medline.markup import plain, tidy
from bio_mcp.literature.medline.regular.fragments import Irregular, fragment
from bio_mcp.literature.medline.scripts import subscript, superscript

_INNERMOST = re.compile(r"<(i|b|u|sup|sub)>([^<]*)</\1>")
_RARE = ("&", "\n", "\t", "  ")
_SCRIPTS = {"sup": superscript, "sub": subscript}


def leaf_text(inner: bytes) -> str | None:
    """The same as `markup.leaf`. Raises `Irregular` for an element with elements inside."""
    if inner.isalnum():
        return inner.decode()
    text = inner.decode()
    if "<" in text:
        raise Irregular
    return tidied(text) or None


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
    if "&" in text:
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
        text = text.replace("&amp;", "&")
    return tidy(text) if "  " in text or "\n" in text or "\t" in text else text.strip()


def tidied_all(texts: list[str]) -> list[str]:
    """`tidied` of each, looking for what is rare in all of them at once."""
    whole = "\0".join(texts)
    if any(mark in whole for mark in _RARE):
        return [tidied(text) for text in texts]
    return [text.strip() for text in texts]


def name_text(text: str) -> str | None:
    """A name: most are letters alone, and stay."""
    return text if text.isalnum() else tidied(text) or None


def every(element: re.Pattern[str], inner: bytes) -> list[Any]:
    """What `element` finds. Raises `Irregular` unless those are all elements that there are."""
    text = inner.decode()
    found = element.findall(text)
    if text.count("<") != 2 * len(found):
        raise Irregular
    return found
