"""A library of Zotero: items with their files, notes and annotations, and what changed in it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ZoteroCollection:
    """A collection. `path` is its name after those that it stands in, from the top."""

    key: str
    path: tuple[str, ...]
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class ZoteroAnnotation:
    """A mark in a file. `text` is what is marked, "" for an area or a drawing; `comment` what its reader wrote.

    `page_label` is as printed, `page` counted from 1; None where unknown, as in a web page. `position` is Zotero's own.
    """

    key: str
    text: str = ""
    comment: str = ""
    page_label: str | None = None
    page: int | None = None
    color: str | None = None
    position: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ZoteroNote:
    """A note of an item, as plain text: paragraphs parted by an empty line."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class ZoteroAttachment:
    """A file of an item. `link_mode` is imported_file, imported_url, linked_file, linked_url or embedded_image.

    `md5` (hex) is of the file, None where Zotero has not noted it. `path` is of a linked file, as Zotero stores it.
    """

    key: str
    name: str
    content_type: str = ""
    link_mode: str = "imported_file"
    md5: str | None = None
    path: str | None = None
    annotations: tuple[ZoteroAnnotation, ...] = ()


@dataclass(frozen=True, slots=True)
class ZoteroItem:
    """A top-level item with all that hangs on it; the trashed among these are left out.

    `creators` are family names first ("Doe J"),
    authors, or else editors. `pmid`, `pmcid` and `citekey` come from fields of those names or from lines of `extra`.
    `collections` are the keys of those that it stands in itself. `objects` are the keys of it and of those.
    A file, note or annotation that stands alone is an item as well, of its own type.
    """

    key: str
    item_type: str
    title: str | None = None
    creators: tuple[str, ...] = ()
    date: str | None = None
    year: int | None = None
    journal: str | None = None
    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    url: str | None = None
    citekey: str | None = None
    abstract: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()
    collections: frozenset[str] = frozenset()
    trashed: bool = False
    attachments: tuple[ZoteroAttachment, ...] = ()
    notes: tuple[ZoteroNote, ...] = ()
    objects: frozenset[str] = frozenset()

    @property
    def state(self) -> str:
        """Changes whenever anything of the item does, a note or annotation too."""
        plain = replace(self, collections=frozenset(), objects=frozenset())
        return sha256(repr((plain, sorted(self.collections), sorted(self.objects))).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ZoteroChanges:
    """What changed in a library since a cursor.

    `changed` are top-level items that are new, edited, moved, trashed or restored, or of which a child is. `deleted`
    are keys of items and children that the library itself shows to be gone, `deleted_collections` of collections.
    What is merely absent from an answer is in none of them. `cursor` is what to ask with the next time.
    """

    cursor: Mapping[str, Any]
    changed: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    deleted_collections: frozenset[str] = frozenset()


class ZoteroLibrary(Protocol):
    """One library of Zotero, a user's or a group's. Nothing is ever written to it.

    Every method may raise `UpstreamFailed`, when Zotero is out of reach, too busy, or answers incompletely, and
    `Misconfigured`, when it rejects the key or is not where the settings say. Neither is ever an empty answer. One that
    is read while it changes is read again until one version holds; else `Conflict` is raised.
    """

    library_id: str
    """`users/475425` or `groups/2`: the same for one library by every way to it. `users/0` where unknown."""

    def collections(self) -> list[ZoteroCollection]:
        """Return every collection that is not in the trash, by path."""

    def changes(self, cursor: Mapping[str, Any]) -> ZoteroChanges:
        """Return what changed since the cursor; since ever for an empty one, and then nothing is deleted.

        A cursor that is not of this library as it is read now counts as empty. An unchanged library costs one request.
        """

    def members(self, collections: Collection[str]) -> frozenset[str]:
        """Return the keys of the top-level items that stand in any of the collections itself, without the trashed."""

    def items(self, keys: Sequence[str]) -> list[ZoteroItem]:
        """Return the top-level items of those keys, trashed ones as well, by key; the unknown are left out."""

    def content(self, attachment: ZoteroAttachment) -> bytes:
        """Return the attachment's file. Raises `NotFound` when there is none to be read, with the reason.

        It is so for a file that was never stored with the library, a link to a web page, and a linked file outside the
        folder that may be read.
        """
