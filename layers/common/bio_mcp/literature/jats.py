"""JATS XML, in which PubMed Central serves articles, to text by sections, with tables. The file is not trusted."""

import re
from typing import Any

from lxml import etree

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.documents import FullText, Licence, Table, TextSection
from bio_mcp.literature.medline.article import bare_doi, bare_pmcid
from bio_mcp.literature.medline.stream import PLAIN_DOCTYPE, sealed_builder
from bio_mcp.literature.medline.text import plain

_SKIPPED = frozenset(
    ("title", "label", "sec-meta", "object-id", "supplementary-material", "media", "ref-list", "fn-group", "graphic",
     "alternatives", "processing-meta", "caption", "attrib", "permissions", "table-wrap-foot")
)  # fmt: skip
_BLOCKS = ("table-wrap", "fig", "list", "supplementary-material")
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
            parts = [plain(part) for tag in ("label", "title") if (part := child.find(tag)) is not None]
            named = " ".join(filter(None, parts)) or (child.get("sec-type") or "").replace("-", " ").capitalize()
            inner += sections_of(child, named, level + (1 if title else 0))
        else:
            _read(child, lines, tables)
    text = "\n\n".join(lines)
    own = [TextSection(title, level, text, tuple(tables))] if text or tables or (title and inner) else []
    return own + inner


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
        for block in element.iter(*_BLOCKS)
        if next(each for each in block.iterancestors() if each is element or each.tag in _BLOCKS) is element
    ]
    for block in inside:
        _detach(block)
    if text := plain(element):
        lines.append(text)
    for block in inside:
        _read(block, lines, tables)


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

_WITHHELD = b"does not allow downloading of the full text"
_CREATIVE = re.compile(r"creativecommons\.org/(?:licenses/([a-z-]+)/(\d\.\d)|(publicdomain)/zero/(\d\.\d))")
_HREF = "{http://www.w3.org/1999/xlink}href"
_LICENCE_REF = "{http://www.niso.org/schemas/ali/1.0/}license_ref"
_DOCTYPE = re.compile(rb"<!DOCTYPE[^>]*(?:>|\[)")


def parse_full_text(content: bytes) -> FullText | None:
    """Parse the first article of the answer; None when it holds none.

    `withheld` is set when there is no body and PMC says that the publisher does not allow downloading. Raises
    `NcbiUnreadable` for broken XML, declarations inside the file and undefined entities.
    """
    root = _root(content)
    article = root if root.tag == "article" else root.find("article")
    if article is None:
        return None
    front, body, back = (article.find(tag) for tag in ("front", "body", "back"))
    meta = front.find("article-meta") if front is not None else None
    sections = [*_abstracts(meta), *(sections_of(body) if body is not None else ()), *_back(back)]
    ids: dict[str, str] = {}  # the first of a kind counts
    for child in meta.findall("article-id") if meta is not None else ():
        ids.setdefault(child.get("pub-id-type", ""), (child.text or "").strip())
    number = ids.get("pmc", "").removeprefix("PMC")  # older answers give the PMCID's number alone
    return FullText(
        pmcid=bare_pmcid(ids.get("pmcid", "")) or (f"PMC{number}" if number.isdigit() else None),
        pmid=ids.get("pmid"),
        doi=bare_doi(ids["doi"]) if "doi" in ids else None,
        title=_text(meta, "title-group/article-title"),
        journal=_text(front, "journal-meta//journal-title"),
        licence=_licence(meta),
        sections=tuple(sections),
        withheld=body is None and (_WITHHELD in content or not len(sections)),
        references=len(back.findall(".//ref")) if back is not None else 0,
    )


def _root(content: bytes) -> etree._Element:
    """Parse the XML. A file that declares entities or elements is refused, and none is expanded."""
    doctype = _DOCTYPE.search(content[: 1 << 16])
    if doctype and not PLAIN_DOCTYPE.fullmatch(doctype[0].decode("utf-8", "replace")):
        raise NcbiUnreadable("The XML declares entities or elements of its own, which PMC never does; refused.")
    try:
        root = etree.fromstring(content, sealed_builder())
    except etree.XMLSyntaxError as error:
        raise NcbiUnreadable(f"PMC's XML is broken or cut short (line {error.lineno}); fetch it again.") from None
    if any(True for _ in root.iter(etree.Entity)):
        raise NcbiUnreadable("The XML uses an entity that it does not define, so its text has holes; refused.")
    return root


def _text(element: etree._Element | None, path: str) -> str:
    part = element.find(path) if element is not None else None
    return plain(part) if part is not None else ""


def _abstracts(meta: etree._Element | None) -> list[TextSection]:
    """The abstract, and what stands beside it under its own title (a summary for lay readers, key points)."""
    sections: list[TextSection] = []
    for abstract in meta.findall("abstract") if meta is not None else ():
        kind = (abstract.get("abstract-type") or "").replace("-", " ")
        if kind not in ("graphical", "teaser"):
            sections += sections_of(abstract, title=_text(abstract, "title") or kind.capitalize() or "Abstract")
    return sections


_BEHIND = {"ack": "Acknowledgments", "notes": "Notes", "app-group": "Appendix", "sec": ""}


def _back(back: etree._Element | None) -> list[TextSection]:
    """Acknowledgments, notes, appendices and other sections behind the body; references are left out."""
    sections: list[TextSection] = []
    for part in back if back is not None else ():
        if (title := _BEHIND.get(str(part.tag))) is not None:
            sections += sections_of(part, title=_text(part, "title") or title)
    return sections


def _licence(meta: etree._Element | None) -> Licence:
    """Address and words of the licence; the copyright statement where there is no licence."""
    permissions: Any = meta.find("permissions") if meta is not None else None
    if permissions is None:
        return Licence()
    licence = permissions.find("license")
    statement = _text(permissions, "copyright-statement")
    if licence is None:
        return Licence(text=statement)
    url = licence.get(_HREF) or next((ref.text.strip() for ref in licence.iter(_LICENCE_REF) if ref.text), "")
    link = next((link.get(_HREF) for link in licence.iter("ext-link") if link.get(_HREF)), "")
    text = " ".join(plain(part) for part in licence.iter("license-p", "p"))
    address = url or link or ""
    creative = _CREATIVE.search(address or text)
    name = ""
    if creative:
        name = f"CC0 {creative[4]}" if creative[3] else f"CC {creative[1].upper()} {creative[2]}"
    return Licence(name, address, text or statement)
