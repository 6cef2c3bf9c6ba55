"""HTML, Markdown, JATS XML and plain text to sections, by their headings."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, cast

from lxml import etree

from bio_mcp.errors import NcbiUnreadable, UnreadableDocument
from bio_mcp.literature.documents import SEPARATOR, ParsedDocument, ParsedSection, SectionKind
from bio_mcp.literature.layout import headings
from bio_mcp.literature.medline.text import subscript, superscript


class Outline:
    """The sections of a document that is read from its beginning to its end."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._texts: list[str] = []
        self._sections: list[ParsedSection] = []
        self.levels: list[int] = []  # of its headings
        self._announced = False

    def heading(self, level: int, text: str) -> None:
        """Begin a section below the last heading of a smaller level."""
        if not (text := " ".join(text.split())):
            return
        self._end()
        self._path = [*(each for each in self._path if each[0] < level), (level, text)]
        self.levels.append(level)
        self._announced = True

    def paragraph(self, text: str) -> None:
        if text := text.strip():
            self._texts.append(text)

    def table(self, rows: Iterable[Sequence[str]], caption: str = "") -> None:
        """Add a table, as a section of its own under the same heading."""
        lines = ["\t".join(" ".join(cell.split()) for cell in row).rstrip() for row in rows]
        if text := "\n".join(filter(None, [caption, *lines])):
            self._end()
            self._add(text, SectionKind.TABLE)

    def sections(self) -> tuple[ParsedSection, ...]:
        """The sections so far; a heading with nothing before the next one has an empty text."""
        self._end()
        return tuple(self._sections)

    def _end(self) -> None:
        if self._texts or self._announced:
            self._add(SEPARATOR.join(self._texts), SectionKind.BODY)
        self._texts = []

    def _add(self, text: str, kind: SectionKind) -> None:
        path = tuple(heading for _, heading in self._path)
        if "references" in map(headings.named, path):
            kind = SectionKind.REFERENCES
        self._sections.append(ParsedSection(text, path[-1] if path else None, path, kind=kind))
        self._announced = False


def titled(outline: Outline, known: str | None = None) -> tuple[str | None, tuple[ParsedSection, ...]]:
    """The document's title and its sections.

    A heading above all others that is the title, or the only title there is, names no section: the paths begin below
    it, and the text under it stands under no heading.
    """
    sections = outline.sections()
    first = next((each.path[0] for each in sections if each.path), "")
    stands_above = outline.levels[:1] == [1] and 1 not in outline.levels[1:]
    if not stands_above or not first or not _words(known or first).startswith(_words(first)):
        return known, sections
    paths = [each.path[1:] if each.path[:1] == (first,) else each.path for each in sections]
    both = zip(sections, paths, strict=True)
    return known or first, tuple(replace(each, path=path, heading=path[-1] if path else None) for each, path in both)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


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
    named: dict[str, str] = {}
    for meta in root.iter("meta"):
        if content := (meta.get("content") or "").strip():
            named.setdefault((meta.get("name") or "").casefold(), content)
    stated = root.find("head/title")
    outline = _Page(_main(root))
    sections = outline.sections()
    if not any(each.text for each in sections):
        outline = _Page(root)
    shown = _all_text(stated) if stated is not None else ""
    title, sections = titled(outline, named.get("citation_title") or named.get("dc.title") or shown or None)
    doi = _DOI.fullmatch((named.get("citation_doi") or named.get("dc.identifier") or "").strip())
    return ParsedDocument(
        sections,
        title=title,
        doi=doi[1] if doi else None,
        pmid=named.get("citation_pmid"),
        language=root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang"),
    )


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


class _Page(Outline):
    """The outline of an element of HTML: inline text is joined into paragraphs."""

    def __init__(self, root: etree._Element) -> None:
        super().__init__()
        self._inline: list[str] = []
        self._lead = ""
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, each in walk:
            element = cast(etree._Element, each)
            if event == "end":
                if element.tag in _BLOCKS:
                    self._flush()
                if element is not root:
                    self._inline.append(element.tail or "")
            elif not self._start(element):
                walk.skip_subtree()
        self._flush()

    def _start(self, element: etree._Element) -> bool:
        """Read the beginning of an element; returns whether to read what is in it."""
        tag = str(element.tag)
        if _is_left_out(element):
            return False
        if tag in _HEADINGS:
            self._flush()
            self.heading(_HEADINGS[tag], _all_text(element))
        elif tag == "pre":
            self._flush()
            text: Any = etree.tostring(element, method="text", encoding="unicode", with_tail=False)
            self.paragraph("\n".join(line.rstrip() for line in text.strip("\n").splitlines()))
        elif tag in _SCRIPTS:
            self._inline.append(_SCRIPTS[tag](_all_text(element)))
        elif tag == "table" and not any(True for _ in element.iterdescendants("table", *_HEADINGS)):  # no mere layout
            self._flush()
            caption = element.find("caption")
            rows = [[_all_text(cell) for cell in row.iterchildren("th", "td")] for row in element.iter("tr")]
            self.table(rows, _all_text(caption) if caption is not None else "")
        else:
            if tag in _BLOCKS:
                self._flush()
            self._lead = "- " if tag == "li" else self._lead
            self._inline.append((" " if tag == "br" else "") + (element.text or ""))
            return True
        return False

    def _flush(self) -> None:
        if text := " ".join("".join(self._inline).split()):
            self.paragraph(self._lead + text)
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


_FRONT = re.compile(r"\s*---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)


def parse_markdown(text: str) -> ParsedDocument:
    from markdown_it import MarkdownIt

    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT.match(text)
    named = _named(front[1]) if front else None
    body = text[front.end() :] if front and named is not None else text
    stated = {key: value for key, value in (named or {}).items() if isinstance(value, str) and value}
    page = MarkdownIt("commonmark").enable("table").render(body)
    outline = _Page(_tree(page)) if page.strip() else Outline()
    title, sections = titled(outline, stated.get("title"))
    language = stated.get("lang") or stated.get("language")
    return ParsedDocument(sections, title=title, doi=stated.get("doi"), pmid=stated.get("pmid"), language=language)


def _named(front: str) -> dict[str, Any] | None:
    """What the front matter says; None if it is none, such as text between two rules."""
    import yaml

    try:
        named = yaml.load(front, Loader=yaml.BaseLoader)  # noqa: S506  it makes text, lists and mappings alone
    except yaml.YAMLError:
        return None
    return {str(key).casefold(): value for key, value in named.items()} if isinstance(named, dict) else None


WRAPPED = 120  # characters; where a line is longer, a line is a paragraph


def parse_plain_text(text: str) -> ParsedDocument:
    lines = [" ".join(line.split()) for line in re.split(r"\r\n|[\n\r\f\v\x85\u2028\u2029]", text)]
    if max(map(len, lines), default=0) <= WRAPPED:
        lines = [" ".join(block) for filled, block in groupby(lines, bool) if filled]
    outline = Outline()
    for paragraph in lines:
        outline.paragraph(paragraph)
    return ParsedDocument(outline.sections())


_LANGUAGE = re.compile(rb"""<article\b[^>]{0,2000}?\bxml:lang\s*=\s*["']([A-Za-z-]{2,12})["']""")


def parse_jats(content: bytes) -> ParsedDocument:
    """Read the first article of the file. The list of references is left out."""
    from bio_mcp.literature.jats import parse_full_text

    try:
        article = parse_full_text(content)
    except NcbiUnreadable as error:
        raise UnreadableDocument(f"The JATS XML cannot be read: {error}") from None
    if article is None:
        raise UnreadableDocument("The JATS XML holds no article; check the file.")
    outline = Outline()
    for section in article.sections:
        outline.heading(section.level, section.title)
        for paragraph in section.text.split("\n\n"):
            outline.paragraph(paragraph)
        for table in section.tables:
            rows = [*(row.split(" | ") for row in table.rows), *([[table.note]] if table.note else [])]
            outline.table(rows, f"{table.label} {table.caption}".strip())
    language = _LANGUAGE.search(content)
    return ParsedDocument(
        outline.sections(),
        title=article.title or None,
        doi=article.doi,
        pmid=article.pmid,
        language=language[1].decode() if language else None,
    )
