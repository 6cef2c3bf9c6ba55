"""HTML to sections: by its headings, without navigation, scripts and what is hidden."""

import re
from collections.abc import Iterator
from typing import Any, cast

from lxml import etree

from bio_mcp.adapters.parsers.outline import Outline, titled
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.medline.scripts import subscript, superscript
from bio_mcp.literature.parsed import ParsedDocument

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LEFT_OUT = frozenset(
    "annotation aside button dialog footer form head header iframe nav noscript object script select style svg "
    "template".split()
)
_LEFT_OUT_ROLES = frozenset("navigation banner contentinfo search complementary dialog alert".split())
_BLOCKS = frozenset(
    "address article blockquote body caption center dd details div dl dt fieldset figcaption figure hr li main ol p "
    "section summary table tbody td tfoot th thead tr ul".split()
)
_SCRIPTS = {"sup": superscript, "sub": subscript}
_DECLARES = re.compile(r"<!DOCTYPE[^>]*\[|<!ENTITY", re.IGNORECASE)
_HEAD = 1 << 16
_DOI = re.compile(r"(?:doi:\s*|https?://(?:dx\.)?doi\.org/)?(10\.\d{3,9}/\S+)", re.IGNORECASE)


def parse_html(text: str) -> ParsedDocument:
    """Read a page. Title, DOI and PMID are those of its `citation_*` and Dublin Core tags, else its `title`."""
    root = _tree(text)
    named = dict(_metadata(root))
    outline = _outline(_main(root))
    sections = outline.sections()
    if not any(each.text for each in sections):
        outline = _outline(root)
    title, sections = titled(outline, named.get("citation_title") or named.get("dc.title") or _title(root))
    doi = _DOI.fullmatch((named.get("citation_doi") or named.get("dc.identifier") or "").strip())
    return ParsedDocument(
        sections,
        title=title,
        doi=doi[1] if doi else None,
        pmid=named.get("citation_pmid"),
        language=root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang"),
    )


def sections_of_html(text: str) -> Outline:
    """The headings, paragraphs and tables of a piece of HTML."""
    return _outline(_tree(text)) if text.strip() else Outline()


def _tree(text: str) -> etree._Element:
    """Parse the page. One that declares entities is refused, and none is expanded."""
    if _DECLARES.search(text[:_HEAD]):
        raise UnreadableDocument("The HTML declares entities of its own, which no page needs; refused.")
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableDocument(f"The HTML cannot be read (line {error.lineno}); save the page again.") from None
    if root is None:
        raise UnreadableDocument("The HTML holds no text; save the page again.")
    if any("DEPTH" in each.type_name or "depth" in each.message for each in parser.error_log):
        raise UnreadableDocument("The HTML is nested too deeply to be read whole; save the page as PDF.")
    return root


def _main(root: etree._Element) -> etree._Element:
    """What the page marks as its content; the whole page if it marks nothing, or several things."""
    for path in ("//main", "//*[@role='main']", "//article"):
        found = cast(list[etree._Element], root.xpath(path))
        if len(found) == 1:
            return found[0]
    return root


def _outline(root: etree._Element) -> Outline:
    reader = _Reader()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if not reader.start(cast(etree._Element, element)):
                walk.skip_subtree()
        else:
            reader.end(cast(etree._Element, element), root)
    reader.flush()
    return reader.outline


class _Reader:
    """Joins inline text into paragraphs, and hands headings and tables on."""

    def __init__(self) -> None:
        self.outline = Outline()
        self._inline: list[str] = []
        self._lead = ""

    def start(self, element: etree._Element) -> bool:
        """Read the beginning of an element; returns whether to read what is in it."""
        tag = str(element.tag)
        if _is_left_out(element):
            return False
        if tag in _HEADINGS:
            self.flush()
            self.outline.heading(_HEADINGS[tag], _all_text(element))
        elif tag == "pre":
            self.flush()
            self.outline.paragraph(_lines(element))
        elif tag in _SCRIPTS:
            self._inline.append(_SCRIPTS[tag](_all_text(element)))
        elif tag == "table" and _is_of_cells(element):
            self.flush()
            self.outline.table(_rows(element), _caption(element))
        else:
            self._open(tag, element)
            return True
        return False

    def _open(self, tag: str, element: etree._Element) -> None:
        if tag in _BLOCKS:
            self.flush()
        elif tag == "br":
            self._inline.append(" ")
        if tag == "li":
            self._lead = "- "
        self._inline.append(element.text or "")

    def end(self, element: etree._Element, root: etree._Element) -> None:
        """Read the end of an element and the text after it."""
        if element.tag in _BLOCKS:
            self.flush()
        if element is not root:
            self._inline.append(element.tail or "")

    def flush(self) -> None:
        """End the paragraph."""
        if text := " ".join("".join(self._inline).split()):
            self.outline.paragraph(self._lead + text)
            self._lead = ""
        self._inline = []


def _is_left_out(element: etree._Element) -> bool:
    style = (element.get("style") or "").replace(" ", "").casefold()
    return (
        element.tag in _LEFT_OUT
        or (element.get("role") or "").casefold() in _LEFT_OUT_ROLES
        or element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or "display:none" in style
        or "visibility:hidden" in style
    )


def _is_of_cells(table: etree._Element) -> bool:
    """Whether the table holds values, and does not lay out the page."""
    return not any(True for _ in table.iterdescendants("table", *_HEADINGS))


def _rows(table: etree._Element) -> list[list[str]]:
    return [[_all_text(cell) for cell in row.iterchildren("th", "td")] for row in table.iter("tr")]


def _caption(table: etree._Element) -> str:
    caption = table.find("caption")
    return _all_text(caption) if caption is not None else ""


def _all_text(element: etree._Element) -> str:
    """The text in an element on one line, without what is left out."""
    inside: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, each in walk:
        node = cast(etree._Element, each)
        if event == "end":
            inside.append((node.tail or "") if node is not element else "")
        elif node is not element and (_is_left_out(node) or node.tag in _SCRIPTS):
            inside.append(_SCRIPTS[str(node.tag)](_all_text(node)) if node.tag in _SCRIPTS else "")
            walk.skip_subtree()
        else:
            inside.append((" " if node.tag in _BLOCKS or node.tag == "br" else "") + (node.text or ""))
    return " ".join("".join(inside).split())


def _lines(element: etree._Element) -> str:
    text: Any = etree.tostring(element, method="text", encoding="unicode", with_tail=False)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def _metadata(root: etree._Element) -> Iterator[tuple[str, str]]:
    """What the page's `meta` tags say; the first of a name counts."""
    seen: set[str] = set()
    for meta in root.iter("meta"):
        name, content = (meta.get("name") or "").casefold(), (meta.get("content") or "").strip()
        if content and name not in seen:
            seen.add(name)
            yield name, content


def _title(root: etree._Element) -> str | None:
    title = root.find("head/title")
    return _all_text(title) or None if title is not None else None
