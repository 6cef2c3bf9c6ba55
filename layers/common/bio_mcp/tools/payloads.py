"""The payload of a chunk, in the shapes of both documents of the contract, to what is stored of it and back."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.documents import PageSpan
from bio_mcp.literature.identifiers import doi, normal, parse_pmid
from bio_mcp.ports.projects import Project
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.retrieval.project_chunks import SECTION_SEPARATOR, ProjectChunk, Work

Read = Callable[[Any], Any]

VERSION = "1"
MOST_CHARACTERS = 20_000  # of a chunk's metadata, as JSON
DEEPEST = 16  # levels of objects and lists
MOST_NAMES = 1_000  # authors or tags of a chunk
LONGEST_NAME = 500  # characters of a title's, an author's, a tag's or a heading's

KEYWORDS = ("doc_id", "citekey", "year", "authors", "tags", "section_path")
FULLTEXT = ("chunk_text", "title", "heading_chain")
PAYLOAD_KEYS = (
    *("project_id", "doc_id", "section_path", "page_start", "page_end", "citekey", "doi", "year", "authors", "title"),
    *("tags", "source_path", "chunk_text", "heading_chain", "embed_model", "version"),
)

OF_THE_INDEX = ("project", "project_id", "embed_model", "version", "fulltext", "chunk_text")


def checked_metadata(metadata: Mapping[str, Any], name: str) -> None:
    """Raise `InvalidInput` for metadata that no store takes: too long, too deep, or not valid JSON text."""
    try:
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError):
        raise InvalidInput(f"{name}: it is nested too deep, or has a number or text that JSON cannot hold") from None
    if _depth(metadata) > DEEPEST:
        raise InvalidInput(f"{name}: it is nested too deep; {DEEPEST} levels are the most")
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(f"{name}: {len(text)} characters of JSON; {MOST_CHARACTERS} are the most")


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def chunk_from(chunk_id: str, text: str, metadata: Mapping[str, Any]) -> ProjectChunk:
    """The chunk that a client sent. Fields of a wrong type count as absent, and stay in `metadata`."""
    fields = dict(_fields(metadata))
    path = tuple(fields.get("section_path", ()))
    return ProjectChunk(
        chunk_id=chunk_id,
        work=_work(chunk_id, fields),
        text=text,
        section=fields.get("section") or (path[-1] if path else None),
        section_path=path,
        page_span=fields.get("page_span") or _span([fields.get("page_start"), fields.get("page_end")]),
        metadata=dict(metadata),
    )


def _work(chunk_id: str, fields: Mapping[str, Any]) -> Work:
    named = [f"{name}:{fields[name]}" for name in ("pmid", "doi", "citekey", "source") if fields.get(name)]
    scalars = ("title", "citekey", "doi", "pmid", "url", "year", "language", "source")
    return Work(
        doc_id=fields.get("doc_id") or (named or [f"chunk:{chunk_id}"])[0],
        authors=tuple(fields.get("authors", ())),
        tags=tuple(fields.get("tags", ())),
        **{name: fields[name] for name in scalars if name in fields},
    )


def _fields(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each field that the metadata has, from the first of its places with a value that can be one."""
    for field, (read, places) in FIELDS.items():
        values = (read(_at(metadata, place)) for place in places)
        if value := next(filter(None, values), None):
            yield field, value


def _at(metadata: Mapping[str, Any], place: str) -> Any:
    """The value at a place as "zotero.tags"; None where there is none."""
    outer, _, inner = place.partition(".")
    value = metadata.get(outer)
    return (value.get(inner) if isinstance(value, Mapping) else None) if inner else value


def _text(value: Any) -> str | None:
    return value.strip()[:LONGEST_NAME] if isinstance(value, str) else None


def _file_name(value: Any) -> str | None:
    """The name alone of a path: where it was on somebody's machine is nobody's business."""
    text = _text(value)
    return PureWindowsPath(PurePosixPath(text).name).name if text and "://" not in text else text


def _names(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [text for each in listed[:MOST_NAMES] if (text := _text(each))]


def _headings(value: Any) -> list[str]:
    return _names(value.split(SECTION_SEPARATOR.strip()) if isinstance(value, str) else value)


def _number(value: Any) -> int | None:
    digits = value.strip() if isinstance(value, str) else value
    if isinstance(digits, str):
        digits = int(digits) if digits.isdecimal() and len(digits) < 10 else None
    return digits if type(digits) is int and 0 < digits < 10**9 else None


def _span(value: Any) -> PageSpan | None:
    """Two pages as a span; one alone is both, and none is None."""
    pages = [_number(each) for each in value] if isinstance(value, list) else []
    known = [each for each in pages if each]
    return (known[0], known[-1]) if known and len(pages) == 2 and known[0] <= known[-1] else None


# How each field is read, and where it may stand in what a client sends, in order: by the second document's name, then
# by the first's.
FIELDS: Mapping[str, tuple[Read, tuple[str, ...]]] = {
    "doc_id": (_text, ("doc_id", "doc.id")),
    "title": (_text, ("title", "source.title")),
    "citekey": (_text, ("citekey", "zotero.citekey")),
    "doi": (partial(normal, doi), ("doi", "zotero.doi", "doc.doi", "source.doi")),
    "pmid": (partial(normal, parse_pmid), ("pmid", "zotero.pmid", "doc.pmid", "source.pmid")),
    "url": (_text, ("url", "source.url")),
    "year": (_number, ("year", "zotero.year")),
    "authors": (_names, ("authors", "zotero.authors")),
    "tags": (_names, ("tags", "zotero.tags")),
    "language": (_text, ("language", "zotero.language")),
    "source": (_file_name, ("source_path", "source.path")),
    "section": (_text, ("section", "doc.section")),
    "section_path": (_headings, ("section_path", "doc.section_path", "heading_chain", "doc.heading_chain")),
    "page_span": (_span, ("page_span", "doc.page_span")),
    "page_start": (_number, ("page_start", "doc.page_start")),
    "page_end": (_number, ("page_end", "doc.page_end")),
}


def further(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What a client sent beside the fields that have a place of their own, as it was sent."""
    taken = {name for field in dict(_fields(metadata)) for name in FIELDS[field][1]}
    rest: dict[str, Any] = {}
    for name, value in metadata.items():
        if isinstance(value, Mapping):
            value = {inner: each for inner, each in value.items() if f"{name}.{inner}" not in taken}
        if name not in taken and name not in OF_THE_INDEX and value not in ({},):
            rest[name] = value
    return rest


def full_text(chunk: ProjectChunk) -> str:
    given = [chunk.metadata.get(name) for name in ("fulltext", "chunk_text")]
    return next((each for each in given if isinstance(each, str) and each.strip()), chunk.text)


def nested_payload(chunk: ProjectChunk, project: Project) -> dict[str, Any]:
    """A sample as the first document of the contract shows it: without text."""
    work = chunk.work
    return {
        "id": chunk.chunk_id,
        "project": project.project_id,
        "source": {"path": work.source, "title": work.title},
        "zotero": {"citekey": work.citekey, "tags": list(work.tags)},
        "doc": {
            "page_span": list(chunk.page_span) if chunk.page_span else None,
            "section": chunk.section,
            "section_path": list(chunk.section_path),
        },
        **further(chunk.metadata),
    }


def flat_payload(chunk: ProjectChunk, project: Project) -> dict[str, Any]:
    """A sample as the second document of the contract shows it, with the text that a search would show."""
    work, (first, last) = chunk.work, chunk.page_span or (None, None)
    return {
        "project_id": project.project_id,
        **{name: getattr(work, name) for name in ("doc_id", "citekey", "doi", "year", "title")},
        "section_path": list(chunk.section_path),
        "page_start": first,
        "page_end": last,
        "authors": list(work.authors),
        "tags": list(work.tags),
        "source_path": work.source,
        "chunk_text": cut(chunk.text, project.max_characters),
        "heading_chain": SECTION_SEPARATOR.join(chunk.section_path),
        "embed_model": project.embed_model,
        "version": VERSION,
    }
