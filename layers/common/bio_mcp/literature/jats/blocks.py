"""Sections, paragraphs, lists, tables and figures of an article's body."""

from lxml import etree

from bio_mcp.literature.jats.texts import Table, TextSection
from bio_mcp.literature.medline.markup import plain

_SKIPPED = frozenset(
    ("title", "label", "sec-meta", "object-id", "supplementary-material", "media", "ref-list", "fn-group", "graphic",
     "alternatives", "processing-meta", "caption", "attrib", "permissions", "table-wrap-foot")
)  # fmt: skip
_DEEPEST = 12  # levels of nesting that become sections of their own; what lies deeper joins its parent


def sections_of(element: etree._Element, title: str = "", level: int = 1) -> list[TextSection]:
    """The element's own text under `title`, then its subsections with a higher `level`.

    An element without text, table or subsection gives no section.
    """
    lines: list[str] = []
    tables: list[Table] = []
    inner: list[TextSection] = []
    for child in element:
        if child.tag == "sec" and level < _DEEPEST:
            inner += sections_of(child, _title(child), level + (1 if title else 0))
        else:
            _read(child, lines, tables)
    text = "\n\n".join(lines)
    own = [TextSection(title, level, text, tuple(tables))] if text or tables or (title and inner) else []
    return own + inner


def _title(section: etree._Element) -> str:
    parts = [plain(part) for tag in ("label", "title") if (part := section.find(tag)) is not None]
    return " ".join(filter(None, parts)) or (section.get("sec-type") or "").replace("-", " ").capitalize()


def _read(element: etree._Element, lines: list[str], tables: list[Table]) -> None:
    """Append an element's text and tables by the reader of its tag; containers without text of their own are opened."""
    reader = _READERS.get(str(element.tag))
    if reader is not None:
        reader(element, lines, tables)
    elif element.tag in _SKIPPED:
        return
    elif len(element) and not (element.text or "").strip():
        for child in element:  # boxed text, quotations, groups of figures or tables, definition lists, appendices
            _read(child, lines, tables)
    elif text := plain(element):
        lines.append(text)


def _paragraph(element: etree._Element, lines: list[str], tables: list[Table]) -> None:
    """Append the paragraph's words; tables, figures and lists inside it are read after it."""
    inside = [
        block
        for block in element.iter("table-wrap", "fig", "list", "supplementary-material")
        if _outermost(block, element)
    ]
    for block in inside:
        _detach(block)
    if text := plain(element):
        lines.append(text)
    for block in inside:
        _read(block, lines, tables)


def _outermost(block: etree._Element, within: etree._Element) -> bool:
    """Whether no other block stands between `block` and the paragraph."""
    parent = block.getparent()
    while parent is not None and parent is not within:
        if parent.tag in ("table-wrap", "fig", "list", "supplementary-material"):
            return False
        parent = parent.getparent()
    return True


def _detach(block: etree._Element) -> None:
    """Remove the block from the tree; the text behind it stays in place."""
    parent, before, tail = block.getparent(), block.getprevious(), block.tail or ""
    if parent is None:
        return
    if before is not None:
        before.tail = f"{before.tail or ''} {tail}"
    else:
        parent.text = f"{parent.text or ''} {tail}"
    block.tail = None
    parent.remove(block)


def _list(element: etree._Element, lines: list[str], tables: list[Table]) -> None:
    """One line per item, led by a hyphen; nested lists are flattened into their item."""
    for item in element.iterchildren("list-item"):
        within: list[str] = []
        for part in item:
            _read(part, within, tables)
        lines.append(f"- {' '.join(within)}")


def _figure(element: etree._Element, lines: list[str], _tables: list[Table]) -> None:
    parts = [_flat(part) for part in element.iterchildren("label", "caption")]
    lines.append(f"[{' '.join(filter(None, parts))}]")


def _table(element: etree._Element, _lines: list[str], tables: list[Table]) -> None:
    """One table; the cells of a row are joined by " | "."""
    label, caption = (_flat(part) if (part := element.find(tag)) is not None else "" for tag in ("label", "caption"))
    rows = [" | ".join(_flat(cell) for cell in row.iterchildren("th", "td")) for row in element.iter("tr")]
    note = " ".join(_flat(foot) for foot in element.iter("table-wrap-foot"))
    tables.append(Table(label, caption, tuple(rows), note))


def _flat(element: etree._Element) -> str:
    """Join what may be several blocks on one line: a title and a paragraph, the paragraphs of a cell."""
    blocks = [plain(part) for part in element if part.tag in ("title", "p", "fn", "attrib")]
    return " ".join(" ".join(filter(None, blocks)).split()) if blocks else plain(element)


_READERS = {"table-wrap": _table, "fig": _figure, "p": _paragraph, "list": _list}
