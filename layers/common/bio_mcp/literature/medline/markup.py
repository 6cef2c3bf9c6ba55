"""Mixed content to one line of plain text with the same meaning.

| markup | becomes |
|---|---|
| i, b, u and any other tag | its text |
| sup, sub, every character of which has a small form | that form: m², H₂O, Ca²⁺, ¹⁸F-FDG, Cₘₐₓ |
| the same with a point, comma or slash inside | that stays: PM₂.₅, refs ¹,², ADAM17⁻/⁻ |
| sup, sub otherwise | `^(...)` and `_(...)`: p53^(R175H), k_(cat) |
| MathML | linear form, see `mathml` |

A bare digit would change the meaning (m2, 10-3), and a compatibility fold (NFKC) turns the small forms back into
what people type (CO2, PM2.5), so a search for either finds the text. Runs of XML white space become one space;
typographic spaces (thin, no-break) stay, because a number and its unit are printed with them.
"""

import re
from functools import lru_cache
from typing import Protocol

from lxml import etree

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.medline import mathml
from bio_mcp.literature.medline.scripts import subscript, superscript


class Attributes(Protocol):
    """What is asked of an element's attributes."""

    def get(self, name: str, /) -> str | None:
        """The value of one; None where it is missing."""


_SPACE = re.compile(r"[ \t\r\n]+")


def plain(element: etree._Element) -> str:
    """The element's text as a reader would print it, `""` when it has none."""
    text = _inner(element) if len(element) else element.text
    if not text:
        return ""
    return tidy(text)


def leaf(element: etree._Element) -> str | None:
    """The text of an element that holds no markup; None when it is empty."""
    text = element.text
    if not text or text.isalnum():
        return text or None
    return tidy(text) or None


def tidy(text: str) -> str:
    """`text` with each run of XML white space as one space, none at the ends."""
    if "\n" in text or "  " in text or "\t" in text or "\r" in text:
        text = single_spaced(text)
    return text.strip()


def single_spaced(text: str) -> str:
    """`text` with each run of XML white space as one space."""
    return _SPACE.sub(" ", text)


def _inner(element: etree._Element) -> str:
    parts = [element.text or ""]
    for child in element:
        parts.append(_rendered(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _rendered(element: etree._Element) -> str:
    """The text of a child element, by the table above. Raises `NcbiUnreadable` for an undefined entity."""
    tag = element.tag
    if not isinstance(tag, str):
        raise NcbiUnreadable("The XML refers to an entity that it does not define; fetch the record again.")
    if tag == "sup":
        return superscript(_inner(element))
    if tag == "sub":
        return subscript(_inner(element))
    if local_name(tag) == "math":
        return mathml.linear(element)
    return _inner(element) if len(element) else element.text or ""


@lru_cache(maxsize=256)
def local_name(tag: str) -> str:
    """The tag without its namespace, bound or not."""
    return tag.rpartition("}")[2].rpartition(":")[2]
