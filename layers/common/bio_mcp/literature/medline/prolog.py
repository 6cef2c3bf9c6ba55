"""The head of a PubMed file, checked before anything in it is used.

All real PubMed XML names an external DTD; it is accepted and never loaded. None has an internal subset, where
entities are declared: a file with one is refused, since it can make a parser read files or fill memory.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal, cast

from lxml import etree

from bio_mcp.errors import NcbiUnreadable

ROOTS = frozenset({"PubmedArticleSet", "PubmedBookArticleSet", "BookDocumentSet", "DeleteCitation", "DeleteDocument"})
_RECORDS = frozenset({"PubmedArticle", "PubmedBookArticle"})
HEAD = 1 << 16
_BEFORE_DOCTYPE = re.compile(r"(?:\s|<!--.*?-->|<\?.*?\?>)*", re.DOTALL)
PLAIN_DOCTYPE = re.compile(r"""<!DOCTYPE\s+[^\s\[>"']+(?:\s+(?:SYSTEM|PUBLIC)(?:\s+(?:"[^"]*"|'[^']*'))+)?\s*>""")
_STEP = 512
# Any: lxml's stubs type each option for itself. `collect_ids` stays at its default: lxml 6.1 turns False into a flag
# that makes libxml2 load the DTD.
_SEALED: dict[str, Any] = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}


def sealed_parser(*tags: str, event: Literal["start", "end"] = "end") -> etree.XMLPullParser:
    """Make a pull parser that loads no DTD, opens no connection, expands no entity and has libxml2's size limits."""
    return etree.XMLPullParser(events=(event,), tag=tags or None, **_SEALED)


def sealed_builder() -> etree.XMLParser:
    """Make a parser of whole blocks, with the limits of `sealed_parser`."""
    return etree.XMLParser(**_SEALED)


def check_head(head: bytes) -> None:
    """Raise `NcbiUnreadable` unless `head` opens PubMed XML without declarations of its own."""
    if not head.strip():
        raise NcbiUnreadable("The PubMed XML is empty; fetch it again.")
    root = _root(head)
    if root is None:
        raise NcbiUnreadable("This is not PubMed XML: no root element in its first bytes; fetch it again.")
    if _has_internal_subset(root.getroottree()):
        raise NcbiUnreadable("The XML declares entities or elements of its own, which PubMed never does; refused.")
    if root.tag not in ROOTS and root.tag not in _RECORDS:
        raise NcbiUnreadable("This is not PubMed XML: its root element is not PubmedArticleSet; check the source.")


def _has_internal_subset(tree: etree._ElementTree) -> bool:
    """Whether the DOCTYPE declares more than its name and ids; lxml lists entities and elements, but no attributes."""
    prolog = etree.tostring(tree, encoding="unicode")
    start = _BEFORE_DOCTYPE.match(prolog)
    doctype = prolog[start.end() :] if start else prolog
    return doctype.startswith("<!DOCTYPE") and not PLAIN_DOCTYPE.match(doctype)


def _root(head: bytes) -> etree._Element | None:
    """The root element, as soon as a chunk of `head` contains it; None when all of `head` has none."""
    parser = sealed_parser(event="start")
    for start in range(0, len(head), _STEP):
        try:
            parser.feed(head[start : start + _STEP])
        except etree.XMLSyntaxError as error:
            raise unreadable(error) from error
        for event in finished_elements(parser):
            return event
    if len(head) < HEAD:
        close(parser)
    return None


def close(parser: etree.XMLPullParser) -> None:
    """End the parse. Raises `NcbiUnreadable` if the file ended too early."""
    try:
        parser.close()
    except etree.XMLSyntaxError as error:
        raise unreadable(error) from error


def finished_elements(parser: etree.XMLPullParser) -> Iterator[etree._Element]:
    """The elements that the parser has finished since the last call."""
    for _, element in parser.read_events():
        yield cast(etree._Element, element)


def unreadable(error: etree.XMLSyntaxError) -> NcbiUnreadable:
    """Describe what the parser rejected, with the line and without the file's name."""
    reason = (error.msg or "it ends too early").partition("(<string>")[0].rstrip(" ,.")
    where = f" at line {error.lineno}" if error.lineno else ""
    return NcbiUnreadable(f"The PubMed XML is broken or cut short{where}: {reason}. Fetch it again.")
