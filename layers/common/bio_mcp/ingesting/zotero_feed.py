"""Follow a library of Zotero: what is new or changed in it comes in, and what left it is dropped.

A document is dropped only on evidence: its item was read and is in the trash or outside of what is followed, or the
library shows that it, or the collections that it stood in, are gone. What is merely absent stays. If more than a
quarter of the documents would be dropped, none is and nothing else changes either, until the client confirms it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.ingesting.feeds import Entry
from bio_mcp.ingesting.incoming import Incoming
from bio_mcp.ingesting.zotero_items import description, has_text, identifier, main_file, sections, text_state
from bio_mcp.ingesting.zotero_scope import Scope, scope_of
from bio_mcp.ingesting.zotero_source import ZoteroSource, unknown_tag
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.zotero import ZoteroChanges, ZoteroItem

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
        self.location = source.location(self._library.library_id)
        self._prefix = identifier(self._library.library_id, "")
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
        self._lost = self._losing(mine, items, changes, scope)
        self._check_dropped(mine)
        items |= self._read(self._remaining(mine) - set(items))
        inside = [each for each in items.values() if scope.has(each) and has_text(each)]
        self._warnings = [*scope.warnings]
        self._next = {"library": dict(changes.cursor), **scope.to_json(), "pending": [each.key for each in inside]}
        known = {key: each for each in documents for key in self._keys(each)}
        return [self._entry(each, known.get(each.key)) for each in sorted(inside, key=lambda each: each.key)]

    def finish(self) -> list[str]:
        """Drop what has left, and store how far the library was read."""
        if self._next is None:
            return []
        documents = self._documents()
        dropped = 0
        for each in documents:
            if self._lost & self._keys(each) and self.location in each.origin.get("sources", ()):
                self._deadline.check("everything that left Zotero was dropped")
                dropped += self._leave(each)
        present = frozenset(key for each in documents for key in self._keys(each))
        self._next["pending"] = sorted(set(self._next["pending"]) - present)
        self._backends.project_documents.put_cursor(self._project.project_id, self.location, self._next)
        gone = [DROPPED[dropped > 1].format(dropped)] if dropped else []
        return [*self._warnings, *gone, *(each.origin["missing"] for each in documents if self._lacks_its_file(each))]

    # What is read

    def _wanted(
        self, before: Mapping[str, Any], changes: ZoteroChanges, scope: Scope, mine: Iterable[ProjectDocument]
    ) -> frozenset[str]:
        """The keys of the items to be read: new, changed, newly followed, without their file, or left from before."""
        touched = {
            key
            for each in mine
            for key in self._keys(each)
            if self._again or each.origin.get("missing") or changes.deleted & set(each.origin.get("objects", ()))
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
                raise unknown_tag(tag, items)

    def _entry(self, item: ZoteroItem, known: ProjectDocument | None) -> Entry:
        name = (file.name if (file := main_file(item)) else item.title) or item.key
        return Entry(item.key, name, self._loader(item, name, known))

    def _loader(self, item: ZoteroItem, name: str, known: ProjectDocument | None) -> Callable[[], Incoming]:
        def load() -> Incoming:
            same_text = not self._again and known is not None and self._has_text_of(known, item)
            content, missing = (None, known.origin["missing"]) if same_text and known else self._content(item, name)
            return Incoming(
                name=name,
                content=content,
                place=f"{self._prefix}{item.key}",
                description=description(item),
                notes=sections(item, abstract=content is None),
                language=item.language,
                state=item.state,
                same_text=same_text,
                identifiers=frozenset({f"{self._prefix}{item.key}"}),
                origin=self._origin(item, known, missing),
            )

        return load

    def _content(self, item: ZoteroItem, name: str) -> tuple[bytes | None, str | None]:
        """The item's file, or why there is none to be read."""
        file = main_file(item)
        if file is None:
            return None, None
        try:
            return self._library.content(file), None
        except NotFound as problem:
            return None, f"{name}: {problem}; its abstract and notes are in the project"

    def _origin(self, item: ZoteroItem, known: ProjectDocument | None, missing: str | None) -> dict[str, Any]:
        sources = {self.location, *(known.origin.get("sources", ()) if known else ())}
        return {
            "sources": sorted(sources),
            "item": item.key,
            "collections": sorted(item.collections),
            "objects": sorted(item.objects),
            "text": text_state(item),
            "missing": missing,
        }

    @staticmethod
    def _has_text_of(document: ProjectDocument, item: ZoteroItem) -> bool:
        origin = document.origin
        same = origin.get("item") == item.key and origin.get("text") == text_state(item)
        return same and bool(document.chunks) and not origin.get("missing")

    # What is dropped

    def _losing(
        self, mine: Iterable[ProjectDocument], items: Mapping[str, ZoteroItem], changes: ZoteroChanges, scope: Scope
    ) -> frozenset[str]:
        """The keys of the items that are shown not to be followed any more."""
        outside = {key for key, each in items.items() if not (scope.has(each) and has_text(each))}
        moved = {
            str(each.origin["item"])
            for each in mine
            if not scope.reaches(frozenset(each.origin.get("collections", ())))
        }
        return frozenset(outside | ((changes.deleted | moved) - set(items)))

    def _check_dropped(self, mine: Collection[ProjectDocument]) -> None:
        dropped = sum(map(self._leaves, mine))
        if self._source.confirmed or dropped <= MOST_DROPPED * len(mine):
            return
        raise InvalidInput(
            f"{dropped:,} of the {len(mine):,} documents that this source brought into the project have left it: in "
            "Zotero they were deleted or trashed, or lost the collection or tag. Nothing was changed. If that is "
            f"right, ingest {self._source.confirming!r}",
            dropped=dropped,
            documents=len(mine),
        )

    def _leaves(self, document: ProjectDocument) -> bool:
        """Whether none of the document's items is followed any more."""
        return self.location in document.origin.get("sources", ()) and self._keys(document) <= self._lost

    def _remaining(self, mine: Iterable[ProjectDocument]) -> set[str]:
        """Items whose twin, of which their document has its text, has left: they are read in its place."""
        return {key for each in mine if each.origin["item"] in self._lost for key in self._keys(each) - self._lost}

    def _leave(self, document: ProjectDocument) -> bool:
        """Take the lost items from a document; drop it if it has no others, and no other source has brought it in.

        Returns whether it was dropped.
        """
        project = self._project
        sources = [each for each in document.origin["sources"] if each != self.location]
        if self._leaves(document) and not sources:
            self._backends.collections.replace(project.collection, document.doc_id, [], {})
            self._backends.project_documents.delete(project.project_id, [document.doc_id])
            return True
        if self._leaves(document):
            remaining = replace(document, origin={**document.origin, "sources": sources})
        else:
            lost = {f"{self._prefix}{key}" for key in self._lost}
            remaining = replace(document, identifiers=document.identifiers - lost)
        self._backends.project_documents.put(project.project_id, remaining)
        return False

    def _documents(self) -> list[ProjectDocument]:
        """The documents of the project that come from this library."""
        return [each for each in self._backends.project_documents.all(self._project.project_id) if self._keys(each)]

    def _keys(self, document: ProjectDocument) -> frozenset[str]:
        """The keys of the items that a document is of."""
        named = (each for each in document.identifiers if each.startswith(self._prefix))
        return frozenset(each.removeprefix(self._prefix) for each in named)

    def _lacks_its_file(self, document: ProjectDocument) -> bool:
        return bool(document.origin.get("missing")) and self.location in document.origin.get("sources", ())
