"""A Zotero library as a source: its name, its items, what of them is wanted, and what changed since the last run."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Conflict, InvalidInput, NotFound
from bio_mcp.ingesting.documents import Entry, Incoming, document_of
from bio_mcp.ingesting.projects import delete_documents
from bio_mcp.ingesting.turns import in_turns, turn
from bio_mcp.literature.descriptions import Description
from bio_mcp.literature.documents import ParsedSection, SectionKind
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.sources import SUFFIXES
from bio_mcp.ports.zotero import ZoteroAttachment, ZoteroChanges, ZoteroCollection, ZoteroItem
from bio_mcp.syncing.cursor import first_few

ZOTERO = "zotero"
CONFIRM = "confirm_deletions"
FORM = f"zotero, zotero?collection=NAME&tag=NAME, both as often as needed, and {CONFIRM}=yes"
LISTED = 20  # choices at most


@dataclass(frozen=True, slots=True)
class ZoteroSource:
    """What is followed: items in any of the collections or what stands in them (of the whole library without one),
    that have all of the tags. `confirmed`: documents may be dropped however many they are."""

    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    confirmed: bool = False

    @property
    def names(self) -> list[str]:
        """What is followed as one types it, the same for the same."""
        named = [*(("collection", each) for each in sorted(self.collections)), *(("tag", each) for each in self.tags)]
        return [f"{name}={value.replace('%', '%25').replace('&', '%26')}" for name, value in named]


def parsed(source: str) -> ZoteroSource:
    """Read a source. A name may be percent-encoded, as it must where it has `&` or `%`. Raises `InvalidInput`."""
    found: dict[str, list[str]] = {"collection": [], "tag": [], CONFIRM: []}
    for part in filter(None, source.strip().partition("?")[2].split("&")):
        name, _, value = part.partition("=")
        if name not in found or not value.strip():
            raise InvalidInput(f"{part[:100]!r} is not understood; it is {FORM}", field="source")
        found[name].append(unquote(value).strip())
    if any(each != "yes" for each in found[CONFIRM]):
        raise InvalidInput(f"{CONFIRM} is yes or is left out", field="source")
    collections, tags = tuple(dict.fromkeys(found["collection"])), tuple(sorted(set(found["tag"])))
    return ZoteroSource(collections, tags, bool(found[CONFIRM]))


def collection_named(name: str, collections: Sequence[ZoteroCollection]) -> ZoteroCollection | None:
    """The collection of that key, path (`Heart failure/Trials`) or name, whatever its case; None if there is none.

    Raises `InvalidInput`, which lists them, when there are several.
    """
    sought = name.casefold()
    for matches in (
        [each for each in collections if each.key == name],
        [each for each in collections if path_of(each) == name],
        [each for each in collections if path_of(each).casefold() == sought],
        [each for each in collections if each.path[-1].casefold() == sought],
    ):
        if len(matches) > 1:
            choices = ", ".join(f"{path_of(each)} ({each.key})" for each in matches[:LISTED])
            raise InvalidInput(
                f"several collections are called {name!r}; name one by path or key: {choices}", field="source"
            )
        if matches:
            return matches[0]
    return None


def path_of(collection: ZoteroCollection) -> str:
    return "/".join(collection.path)


PDF = "application/pdf"


def main_file(item: ZoteroItem) -> ZoteroAttachment | None:
    """The file that is the item's text: its first PDF, or else its first file of another kind that can be read."""
    files = [each for each in item.attachments if each.link_mode in ("imported_file", "imported_url", "linked_file")]
    readable = [
        each for each in files if each.content_type == PDF or PurePosixPath(each.name).suffix.lower() in SUFFIXES
    ]
    return min(readable, key=lambda each: each.content_type != PDF, default=None)


def sections(item: ZoteroItem, *, abstract: bool) -> tuple[ParsedSection, ...]:
    """What its reader wrote: notes, and annotations with their pages; before them the abstract where it is wanted."""
    found = [ParsedSection(item.abstract, "Abstract", ("Abstract",))] if abstract and item.abstract else []
    found += [ParsedSection(each.text, "Note", ("Note",), kind=SectionKind.NOTE) for each in item.notes if each.text]
    for mark in (each for file in item.attachments for each in file.annotations):
        if text := "\n\n".join(filter(None, (mark.text, mark.comment))):
            heading = f"Annotation, page {mark.page_label}" if mark.page_label else "Annotation"
            pages = ((0, mark.page),) if mark.page else ()
            found.append(ParsedSection(text, heading, (heading,), pages, SectionKind.NOTE))
    return tuple(found)


def text_state(item: ZoteroItem) -> str:
    """Changes whenever the text of its document does, and not when only its metadata do."""
    file = main_file(item)
    named = (file.key, file.name, file.md5) if file else None
    return sha256(repr((named, sections(item, abstract=True), item.language)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a source follows now. `named` are the keys of the collections that it names.

    `within` are these and all that stand in them, and those that are missing without a trace; None: the whole library.
    `gone` are collections that the library has shown to be so, ever.
    """

    source: ZoteroSource
    named: Mapping[str, str]
    within: frozenset[str] | None
    gone: frozenset[str]
    warnings: tuple[str, ...] = ()

    def has(self, item: ZoteroItem) -> bool:
        """Whether the item is followed: it is in reach, has all of the tags, whatever their case, and anything to be
        read: a file, an abstract, a note or an annotation."""
        if main_file(item) is None and not any(each.text.strip() for each in sections(item, abstract=True)):
            return False
        has_tags = {each.casefold() for each in self.source.tags} <= {each.casefold() for each in item.tags}
        return has_tags and not item.trashed and self.reaches(item.collections)

    def reaches(self, collections: frozenset[str]) -> bool:
        """Whether something that stands in these collections is followed, as far as they say."""
        return self.within is None or bool(self.within & collections)


def scope_of(
    source: ZoteroSource, live: Sequence[ZoteroCollection], gone: frozenset[str], before: Mapping[str, Any]
) -> Scope:
    """The scope now. `before` is what was stored of it, and `gone` what has been shown to be gone since.

    Raises `InvalidInput` for a name that never was, and `Conflict` for a collection that is missing without a trace.
    """
    paths = {each.key: path_of(each) for each in live}
    gone = (gone | frozenset(before.get("gone", ()))) - frozenset(paths)
    if not source.collections:
        return Scope(source, {}, None, gone)
    known: Mapping[str, str] = before.get("named", {})
    named, warnings = {}, []
    for name in source.collections:
        if found := collection_named(name, live):
            named[name] = found.key
            continue
        if name not in known:
            raise InvalidInput(
                f"there is no collection {name!r}; there are: {first_few(map(path_of, live), LISTED) or 'none'}",
                field="source",
            )
        named[name] = key = known[name]
        warnings.append(_changed(name, paths.get(key), key in gone))
    missing = frozenset(before.get("within", ())) - frozenset(paths) - gone
    # The collections of those keys, and all that stand in them.
    parents: Mapping[str, str | None] = {each.key: each.parent for each in live}
    within = set(named.values()) & set(parents)
    while more := {key for key, parent in parents.items() if parent in within} - within:
        within |= more
    return Scope(source, named, frozenset(within) | missing, gone, tuple(warnings))


def _changed(name: str, path: str | None, gone: bool) -> str:
    if path:
        return f"the collection {name!r} is called {path!r} in Zotero now, and is still followed"
    if gone:
        return f"the collection {name!r} was deleted in Zotero"
    raise Conflict(
        f"Zotero does not list the collection {name!r} any more, and does not say either that it was deleted; nothing "
        "was changed. Try again, or name another collection"
    )


MOST_DROPPED = 1 / 4  # of the documents that a source has brought in, unless the client confirms more

DROPPED = (
    "{} document was dropped, as it left this part of Zotero",
    "{:,} documents were dropped, as they left this part of Zotero",
)


class ZoteroFeed:
    """The items that a source names, as far as they changed since it was last read into the project.

    `again`: all of them, changed or not.
    """

    def __init__(
        self, source: ZoteroSource, project: Project, backends: Backends, deadline: Deadline, *, again: bool = False
    ) -> None:
        self._source, self._project, self._deadline, self._again = source, project, deadline, again
        self._backends, self._library = backends, backends.zotero
        self.location = f"{ZOTERO}:{self._library.library_id}?{'&'.join(source.names)}"
        self._prefix = f"zotero:{self._library.library_id}/"  # of the names of items among documents' identifiers
        self._next: dict[str, Any] | None = None
        self._lost: frozenset[str] = frozenset()
        self._warnings: list[str] = []

    def entries(self) -> list[Entry]:
        """One entry an item that has to be looked at. Raises `InvalidInput` when too much would be dropped."""
        before = self._backends.project_documents.cursor(self._project.project_id, self.location)
        changes = self._library.changes(before.get("library", {}))
        if before and not self._again and not before["pending"] and changes == ZoteroChanges(before["library"]):
            return []
        scope = scope_of(self._source, self._library.collections(), changes.deleted_collections, before)
        documents = self._documents()
        mine = [each for each in documents if self.location in each.origin.get("sources", ())]
        items = self._read(self._wanted(before, changes, scope, mine))
        self._check_tags(before, items.values())
        # The keys of the items that are shown not to be followed any more.
        outside = {key for key, each in items.items() if not scope.has(each)}
        moved = {
            str(each.origin["item"])
            for each in mine
            if not scope.reaches(frozenset(each.origin.get("collections", ())))
        }
        self._lost = frozenset(outside | ((changes.deleted | moved) - set(items)))
        self._check_dropped(mine)
        items |= self._read(
            {key for each in mine if each.origin["item"] in self._lost for key in self._keys(each) - self._lost}
            - set(items)
        )
        inside = [each for each in items.values() if scope.has(each)]
        self._warnings = [*scope.warnings]
        stored = {"named": dict(scope.named), "within": sorted(scope.within or ()), "gone": sorted(scope.gone)}
        self._next = {"library": dict(changes.cursor), **stored, "pending": [each.key for each in inside]}
        known = {key: each for each in documents for key in self._keys(each)}
        entries = []
        for each in sorted(inside, key=lambda each: each.key):
            file = main_file(each)
            name = (file.name if file else each.title) or each.key
            entries.append(Entry(each.key, name, partial(self._load, each, name, known.get(each.key))))
        return entries

    def finish(self) -> list[str]:
        """Drop what has left, and store how far the library was read."""
        if self._next is None:
            return []
        documents = self._documents()
        mine = [each for each in documents if self.location in each.origin.get("sources", ())]
        dropped = 0
        for each in mine:
            if self._lost & self._keys(each):
                self._deadline.check("everything that left Zotero was dropped")
                dropped += in_turns(partial(self._leave, each.doc_id), self._deadline)
        present = frozenset(key for each in documents for key in self._keys(each) if each.chunks)
        self._next["pending"] = sorted(set(self._next["pending"]) - present)
        self._backends.project_documents.put_cursor(self._project.project_id, self.location, self._next)
        gone = [DROPPED[dropped > 1].format(dropped)] if dropped else []
        missing = (each.origin.get("missing") for each in mine)
        return [*self._warnings, *gone, *filter(None, missing)]

    # What is read

    def _wanted(
        self, before: Mapping[str, Any], changes: ZoteroChanges, scope: Scope, mine: Iterable[ProjectDocument]
    ) -> frozenset[str]:
        """The keys of the items to be read: new, changed, newly followed, without their file, or left from before."""
        touched = {
            key
            for each in mine
            for key in self._keys(each)
            if self._again
            or not each.chunks
            or each.origin.get("missing")
            or changes.deleted & set(each.origin.get("objects", ()))
        }
        if self._again or not before:
            every = self._library.changes({}).changed if scope.within is None else self._library.members(scope.within)
            return every | touched
        fresh = (scope.within or frozenset()) - frozenset(before["within"])
        return changes.changed | touched | frozenset(before["pending"]) | self._library.members(fresh)

    def _read(self, keys: Collection[str]) -> dict[str, ZoteroItem]:
        return {each.key: each for each in self._library.items(sorted(keys))} if keys else {}

    def _check_tags(self, before: Mapping[str, Any], items: Collection[ZoteroItem]) -> None:
        """Raise `InvalidInput` for a tag that nothing had when the source was first read."""
        for tag in () if before else self._source.tags:
            if not any(tag.casefold() in map(str.casefold, each.tags) for each in items):
                tags = first_few(sorted({tag for each in items for tag in each.tags}), LISTED) or "none"
                raise InvalidInput(f"no item here has the tag {tag!r}; there are: {tags}", field="source")

    def _load(self, item: ZoteroItem, name: str, known: ProjectDocument | None) -> Incoming:
        origin, text = known.origin if known else {}, text_state(item)
        is_read = known is not None and bool(known.chunks) and not origin.get("missing")
        same_text = is_read and not self._again and (origin.get("item"), origin.get("text")) == (item.key, text)
        content, missing = (None, None) if same_text else self._content(item, name)
        sources = {self.location, *origin.get("sources", ())}
        place = f"{self._prefix}{item.key}"
        named = ("title", "citekey", "doi", "pmid", "pmcid", "url", "year", "tags", "language", "journal")
        return Incoming(
            name,
            content,
            place,
            Description(authors=item.creators, **{each: getattr(item, each) for each in named}),
            notes=sections(item, abstract=content is None),
            language=item.language,
            state=item.state,
            same_text=same_text,
            identifiers=frozenset({place}),
            origin={
                "sources": sorted(sources),
                "item": item.key,
                "collections": sorted(item.collections),
                "objects": sorted(item.objects),
                "text": text,
                "missing": missing,
            },
        )

    def _content(self, item: ZoteroItem, name: str) -> tuple[bytes | None, str | None]:
        """The item's file, or why there is none to be read."""
        file = main_file(item)
        if file is None:
            return None, None
        try:
            return self._library.content(file), None
        except NotFound as problem:
            return None, f"{name}: {problem}; its abstract and notes are in the project"

    # What is dropped

    def _check_dropped(self, mine: Collection[ProjectDocument]) -> None:
        dropped = sum(self._keys(each) <= self._lost for each in mine)
        if self._source.confirmed or dropped <= MOST_DROPPED * len(mine):
            return
        confirmed = f"{ZOTERO}?{'&'.join([*self._source.names, f'{CONFIRM}=yes'])}"
        raise InvalidInput(
            f"{dropped:,} of the {len(mine):,} documents that this source brought into the project have left it: in "
            "Zotero they were deleted or trashed, or lost the collection or tag. Nothing was changed. If that is "
            f"right, ingest {confirmed!r}",
            dropped=dropped,
            documents=len(mine),
        )

    def _leave(self, doc_id: str) -> bool:
        """Take the lost items from a document; drop it if it has no others, and no other source has brought it in.

        Returns whether it was dropped.
        """
        project, stored = self._project, self._backends.project_documents
        with turn(project.project_id, self._backends):
            document = document_of(project.project_id, doc_id, stored)
            if document is None or not self._lost & self._keys(document):
                return False
            has_others = not self._keys(document) <= self._lost
            sources = [each for each in document.origin["sources"] if each != self.location]
            if not (has_others or sources):
                delete_documents(project, [document], self._backends)
                return True
            if has_others:
                lost = {f"{self._prefix}{key}" for key in self._lost}
                remaining = replace(document, identifiers=document.identifiers - lost)
            else:
                remaining = replace(document, origin={**document.origin, "sources": sources})
            stored.put(project.project_id, remaining)
            return False

    def _documents(self) -> list[ProjectDocument]:
        return [each for each in self._backends.project_documents.all(self._project.project_id) if self._keys(each)]

    def _keys(self, document: ProjectDocument) -> frozenset[str]:
        named = (each for each in document.identifiers if each.startswith(self._prefix))
        return frozenset(each.removeprefix(self._prefix) for each in named)
