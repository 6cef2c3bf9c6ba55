"""Items of Zotero as documents of a project."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePosixPath

from bio_mcp.literature.descriptions import Description
from bio_mcp.literature.parsed import ParsedSection, SectionKind
from bio_mcp.ports.sources import SUFFIXES
from bio_mcp.ports.zotero import ZoteroAnnotation, ZoteroAttachment, ZoteroItem

PDF = "application/pdf"


def identifier(library: str, key: str) -> str:
    """The name of an item among the identifiers of a document."""
    return f"zotero:{library}/{key}"


def description(item: ZoteroItem) -> Description:
    """What the library knows of the work."""
    return Description(
        title=item.title,
        citekey=item.citekey,
        doi=item.doi,
        pmid=item.pmid,
        pmcid=item.pmcid,
        url=item.url,
        year=item.year,
        authors=item.creators,
        tags=item.tags,
        language=item.language,
    )


def main_file(item: ZoteroItem) -> ZoteroAttachment | None:
    """The file that is the item's text: its first PDF, or else its first file of another kind that can be read."""
    files = [each for each in item.attachments if each.link_mode in ("imported_file", "imported_url", "linked_file")]
    readable = [each for each in files if each.content_type == PDF or _suffix(each) in SUFFIXES]
    return min(readable, key=lambda each: each.content_type != PDF, default=None)


def sections(item: ZoteroItem, *, abstract: bool) -> tuple[ParsedSection, ...]:
    """What its reader wrote: notes, and annotations with their pages; before them the abstract where it is wanted."""
    return tuple(_sections(item, abstract=abstract))


def has_text(item: ZoteroItem) -> bool:
    """Whether there is anything to be read: a file, an abstract, a note or an annotation."""
    return main_file(item) is not None or any(each.text.strip() for each in sections(item, abstract=True))


def text_state(item: ZoteroItem) -> str:
    """Changes whenever the text of its document does, and not when only its metadata do."""
    file = main_file(item)
    named = (file.key, file.name, file.md5) if file else None
    return sha256(repr((named, sections(item, abstract=True), item.language)).encode()).hexdigest()[:16]


def _sections(item: ZoteroItem, *, abstract: bool) -> Iterator[ParsedSection]:
    if abstract and item.abstract:
        yield ParsedSection(item.abstract, "Abstract", ("Abstract",))
    for note in item.notes:
        if note.text:
            yield ParsedSection(note.text, "Note", ("Note",), kind=SectionKind.NOTE)
    for file in item.attachments:
        for mark in file.annotations:
            if text := "\n\n".join(filter(None, (mark.text, mark.comment))):
                heading = f"Annotation, page {mark.page_label}" if mark.page_label else "Annotation"
                yield ParsedSection(text, heading, (heading,), _page(mark), SectionKind.NOTE)


def _page(mark: ZoteroAnnotation) -> tuple[tuple[int, int], ...]:
    return ((0, mark.page),) if mark.page else ()


def _suffix(file: ZoteroAttachment) -> str:
    return PurePosixPath(file.name).suffix.lower()
