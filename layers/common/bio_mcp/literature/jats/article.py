"""pmc-articleset -> FullText."""

import re
from typing import Any

from lxml import etree

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.jats.blocks import sections_of
from bio_mcp.literature.jats.texts import FullText, Licence, TextSection
from bio_mcp.literature.medline.linking import bare_doi, bare_pmcid
from bio_mcp.literature.medline.markup import plain
from bio_mcp.literature.medline.prolog import PLAIN_DOCTYPE, sealed_builder

_WITHHELD = b"does not allow downloading of the full text"
_CREATIVE = re.compile(r"creativecommons\.org/(?:licenses/([a-z-]+)/(\d\.\d)|(publicdomain)/zero/(\d\.\d))")
_HREF = "{http://www.w3.org/1999/xlink}href"
_LICENCE_REF = "{http://www.niso.org/schemas/ali/1.0/}license_ref"
_DOCTYPE = re.compile(rb"<!DOCTYPE[^>]*(?:>|\[)")


def parse(content: bytes) -> FullText | None:
    """The first article of the answer; None when it holds none. Raises `NcbiUnreadable`."""
    root = _root(content)
    article = root if root.tag == "article" else root.find("article")
    if article is None:
        return None
    front = article.find("front")
    meta = front.find("article-meta") if front is not None else None
    body, back = article.find("body"), article.find("back")
    sections = [*_abstracts(meta), *(sections_of(body) if body is not None else ()), *_back(back)]
    ids = _ids(meta)
    return FullText(
        pmcid=bare_pmcid(ids.get("pmcid", "")) or _numbered(ids),
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
    """The tree, of XML that declares nothing of its own and expands nothing."""
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


def _ids(meta: etree._Element | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for child in meta.findall("article-id") if meta is not None else ():
        kind, text = child.get("pub-id-type", ""), (child.text or "").strip()
        found.setdefault(kind, text)
    return found


def _numbered(ids: dict[str, str]) -> str | None:
    """Older answers give the PMCID as a number, under "pmc"."""
    number = ids.get("pmc", "").removeprefix("PMC")
    return f"PMC{number}" if number.isdigit() else None


def _text(element: etree._Element | None, path: str) -> str:
    found = element.find(path) if element is not None else None
    return plain(found) if found is not None else ""


def _abstracts(meta: etree._Element | None) -> list[TextSection]:
    """The abstract, and what stands beside it (a summary for lay readers, key points) under its own title."""
    found: list[TextSection] = []
    for abstract in meta.findall("abstract") if meta is not None else ():
        kind = (abstract.get("abstract-type") or "").replace("-", " ")
        if kind not in ("graphical", "teaser"):
            found += sections_of(abstract, title=_text(abstract, "title") or kind.capitalize() or "Abstract")
    return found


def _back(back: etree._Element | None) -> list[TextSection]:
    found: list[TextSection] = []
    for part in back if back is not None else ():
        if part.tag in ("ack", "notes", "app-group"):
            title = {"ack": "Acknowledgments", "notes": "Notes", "app-group": "Appendix"}[str(part.tag)]
            found += sections_of(part, title=_text(part, "title") or title)
        elif part.tag == "sec":
            found += sections_of(part, title=_text(part, "title"))
    return found


def _licence(meta: etree._Element | None) -> Licence:
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
    return Licence(_name(address or text), address, text or statement)


def _name(address: str) -> str:
    found = _CREATIVE.search(address)
    if not found:
        return ""
    return f"CC0 {found[4]}" if found[3] else f"CC {found[1].upper()} {found[2]}"
