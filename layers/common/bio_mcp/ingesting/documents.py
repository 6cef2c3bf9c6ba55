"""Documents on their way into a project: where they come from, which of them are one work, and what is known of it.

PMID, PMCID, DOI, the key in a library and the hash of the file each name a work for certain. A citekey and the place of
a file do as well, unless the two have different PMIDs or DOIs: people use a citekey twice, and replace files."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import partial, reduce
from hashlib import sha256
from pathlib import PurePosixPath
from string import ascii_lowercase
from typing import Any, Protocol

from bio_mcp.errors import NotFound
from bio_mcp.literature import identifiers
from bio_mcp.literature.descriptions import Description, References, citekey_of, of_article
from bio_mcp.literature.documents import ParsedDocument, ParsedSection
from bio_mcp.literature.identifiers import normal
from bio_mcp.ports.projects import Collections, ProjectDocument, ProjectDocuments
from bio_mcp.ports.sources import SourceFile, Sources
from bio_mcp.ports.stores import Documents
from bio_mcp.retrieval.project_chunks import Work

NOTHING = Description()


@dataclass(frozen=True, slots=True)
class Incoming:
    """A document that comes in. `name` is what messages call it; `content` its file, None where it has none.

    `place` names where it comes from, the same each time, and is never shown. `description` is what a library knows of
    the work, `notes` what its reader wrote, `language` the one that the library gives. A library that brings those
    gives a `state` too, which changes whenever any of them does; it is stored as part of `origin`. With `same_text`
    only the description may have changed since the document was last read, and there is no content.
    """

    name: str
    content: bytes | None
    place: str
    description: Description = NOTHING
    notes: tuple[ParsedSection, ...] = ()
    language: str | None = None
    state: str | None = None
    same_text: bool = False
    identifiers: frozenset[str] = frozenset()
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the file; of where it comes from where there is none."""
        return sha256(self.place.encode(errors="surrogateescape") if self.content is None else self.content).hexdigest()

    @property
    def place_id(self) -> str:
        """An identifier of where it comes from, which does not show that."""
        return f"place:{sha256(self.place.encode(errors='surrogateescape')).hexdigest()[:32]}"

    @property
    def own_identifiers(self) -> frozenset[str]:
        """What names the document before anybody has looked into it."""
        file = set() if self.same_text else {f"sha256:{self.sha256}"}
        return frozenset({*file, self.place_id, *self.identifiers})


@dataclass(frozen=True, slots=True)
class Entry:
    """A document that may be loaded. `key` orders those of a source and names it there; `name` is for people."""

    key: str
    name: str
    load: Callable[[], Incoming]


class Feed(Protocol):
    """The documents of a source, as far as they may have changed."""

    def entries(self) -> Sequence[Entry]:
        """Return them by key."""

    def finish(self) -> Sequence[str]:
        """Record that every entry has been worked through, and return warnings. It may be called again."""
        return ()


@dataclass(frozen=True, slots=True)
class FileFeed(Feed):
    """The files at a location, or in one language."""

    sources: Sources
    location: str
    local: bool
    language: str | None = None

    def entries(self) -> list[Entry]:
        """One entry a file, by address."""
        files = sorted(self.sources.files(self.location, local=self.local), key=lambda each: each.address)
        return [Entry(each.address, each.name, partial(self._load, each)) for each in files]

    def _load(self, file: SourceFile) -> Incoming:
        content = self.sources.read(file.address, local=self.local)
        url = file.address if file.address.startswith("https://") else None
        return Incoming(file.name, content, file.address, Description(url=url), language=self.language)


CERTAIN = ("pmid", "pmcid", "doi", "zotero", "sha256")
PROBABLE = ("citekey", "place")
_ONE_OF_A_KIND = {
    "pmid",
    "pmcid",
    "doi",
    "citekey",
    "place",
    "key",
}  # a work may have several files, and items of a library
_RANK = {kind: rank for rank, kind in enumerate((*CERTAIN, *PROBABLE))}


def kind_of(identifier: str) -> str:
    return identifier.partition(":")[0]


def same_work(found: Iterable[ProjectDocument], identifiers: Set[str]) -> list[ProjectDocument]:
    """Those of `found` that are the work with these identifiers; the first stays, the others become one with it."""
    shared = {each.doc_id: {kind_of(name) for name in each.identifiers & identifiers} for each in found}
    same = [
        each
        for each in found
        if (kinds := shared[each.doc_id]) & set(CERTAIN) or (kinds & set(PROBABLE) and not _differ(each, identifiers))
    ]
    return sorted(same, key=lambda each: (min(_RANK.get(kind, 99) for kind in shared[each.doc_id]), each.doc_id))


def _differ(document: ProjectDocument, identifiers: Set[str]) -> bool:
    """Whether both have a PMID, or both a DOI, and not the same."""
    for kind in ("pmid", "doi"):
        mine, theirs = ({each for each in of if kind_of(each) == kind} for of in (document.identifiers, identifiers))
        if mine and theirs and not mine & theirs:
            return True
    return False


def joined(identifiers: Set[str], documents: Sequence[ProjectDocument]) -> frozenset[str]:
    """The identifiers of a work that `documents` are of too: of the kinds that a work has one of, the newer hold.

    Of a document that was never read its file is left out.
    """
    kinds = {kind_of(each) for each in identifiers} & _ONE_OF_A_KIND
    older = {
        name
        for each in documents
        for name in each.identifiers
        if kind_of(name) not in (kinds if each.chunks or each.recipe else {*kinds, "sha256", "place"})
    }
    return frozenset(identifiers | older)


class Authority(IntEnum):
    """Who describes a work, the most trusted last."""

    NAME = 0  # the file's name, or the title that stands in it
    IDENTIFIED = 1  # a DOI or PMID that stands in the document
    CORPUS = 2
    LIBRARY = 3
    REFERENCES = 4


YOU, DOCUMENT, NAME, MADE = "you", "document", "file name", "made"
"""Who says a field: the user, the document, its file's name; MADE is a citekey of `citekey_of`."""


@dataclass(frozen=True, slots=True)
class Described:
    """A work with everything that is known of it, and the best of those who know it. `reference` is its entry there.

    `sources` says who knows each field. `edited` is what the user corrected, which always holds.
    """

    work: Description
    authority: Authority
    reference: Description | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    edited: Description = NOTHING

    @property
    def stated_by(self) -> dict[str, str]:
        """Who says each field of the work; of a citekey that it lacks, that it is made."""
        sources = {name: source for name, source in self.sources.items() if getattr(self.work, name)}
        return sources if self.work.citekey or not citekey_of(self.work) else {**sources, "citekey": MADE}

    def with_older(self, document: ProjectDocument) -> "Described":
        """What is known of the work now, and what was known before: the one with more authority holds."""
        older = description_of(document)
        before = {name: source for name, source in document.origin.get("from", {}).items() if getattr(older, name)}
        if self.authority >= document.origin.get("authority", Authority.NAME):
            work, sources = self.work.over(older), {**before, **self.sources}
        else:
            work, sources = self.edited.over(older.over(self.work)), {**self.sources, **before}
        return replace(self, work=work, sources=sources | dict.fromkeys(self.edited.stated, YOU))


Lookup = Callable[[Description], tuple[str, Description] | None]
"""Asks others than this installation what a work is, and says whom; None where they do not know it."""


def describe(
    incoming: Incoming,
    parsed: ParsedDocument,
    references: References,
    documents: Documents,
    edited: Description = NOTHING,
    lookup: Lookup | None = None,
) -> Described:
    """Describe the work of a document: each field by the most trusted that has it.

    `edited` is what the user corrected. `lookup` is asked about what neither the corpus nor the references have.
    """
    own = Description(
        title=(parsed.title or "").strip() or None,
        doi=normal(identifiers.doi, parsed.doi),
        pmid=normal(identifiers.parse_pmid, parsed.pmid),
        language=parsed.language or incoming.language,
        year=parsed.year,
        authors=parsed.authors,
        journal=parsed.journal,
    )
    known = edited.over(incoming.description.over(own))
    reference = references.match(known, incoming.name)
    known = reference.over(known) if reference else known
    record = record_of(known, documents)
    found = lookup(known) if lookup and not reference and not record else None
    named = Description(title=PurePosixPath(incoming.name).stem)
    given = {
        YOU: edited,
        "references": reference,
        "library": incoming.description,
        "corpus": record,
        **({found[0]: found[1]} if found else {}),
        DOCUMENT: own,
        NAME: named,
    }
    sources: dict[str, str] = {}
    for source, says in given.items():
        for name in says.stated if says else ():
            sources.setdefault(name, source)
    by = {
        Authority.REFERENCES: reference,
        Authority.LIBRARY: incoming.description.title or incoming.description.identifiers,
        Authority.CORPUS: record or found,
        Authority.IDENTIFIED: own.identifiers,
    }
    authority = next((authority for authority, knows in by.items() if knows), Authority.NAME)
    work = reduce(Description.over, filter(None, given.values()))
    return Described(work, authority, reference, sources, edited)


def edited_of(documents: Iterable[ProjectDocument]) -> Description:
    """What the user corrected in the first of the documents in which there is something."""
    stored: Mapping[str, Any] = next((edits for each in documents if (edits := each.origin.get("edited"))), {})
    return correction(stored)


def correction(said: Mapping[str, Any]) -> Description:
    """What a user says of a work, by field; one that is said to be empty stays so."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in said.items() if value
    }
    return Description(**values, emptied=frozenset(said.keys() - values))


def record_of(known: Description, documents: Documents) -> Description | None:
    """What the corpus knows of the paper with this PMID, PMCID or DOI; None if it has none."""
    others = sorted(each for each in known.identifiers if each.startswith(("pmcid:", "doi:")))
    pmid = known.pmid or (next(iter(documents.resolve(others).values()), None) if others else None)
    found = documents.get_many([pmid]).get(pmid) if pmid else None
    return of_article(found.article) if found else None


_OF_A_WORK = ("title", "citekey", "doi", "pmid", "url", "year", "authors", "tags", "language", "journal")


def description_of(document: ProjectDocument) -> Description:
    """What a document's record says of its work."""
    named = {kind: value for kind, _, value in (each.partition(":") for each in document.identifiers)}
    known: dict[str, Any] = {each: getattr(document.work, each) for each in _OF_A_WORK}
    if document.origin.get("from", {}).get("citekey") == MADE:
        known["citekey"] = None
    return Description(**known, pmcid=named.get("pmcid"))


def document_of(project_id: str, doc_id: str, documents: ProjectDocuments) -> ProjectDocument | None:
    """The document of this id; an id may be the identifier of another one."""
    return next((each for each in documents.find(project_id, [doc_id]) if each.doc_id == doc_id), None)


def document_named(project_id: str, named: str, documents: ProjectDocuments) -> ProjectDocument:
    """The document of this citekey, DOI, PMID or id. Raises `NotFound` where there is none, or more than one."""
    ids = {"doi": normal(identifiers.doi, named), "pmid": normal(identifiers.parse_pmid, named)}
    names = [named, f"citekey:{named}", f"key:{named}", *(f"{kind}:{value}" for kind, value in ids.items() if value)]
    found = documents.find(project_id, names)
    if len(found) == 1:
        return found[0]
    many = "several documents" if found else "no document"
    raise NotFound(
        f"Project {project_id!r} has {many} of the name {named!r}; `bio-mcp projects documents {project_id} --json` "
        "lists their ids."
    )


def reword(collection: str, work: Work, collections: Collections) -> None:
    """Give the chunks of a document what is known of its work now; their text and vectors stay."""
    chunks = collections.document(collection, work.doc_id)
    collections.replace(collection, work.doc_id, [replace(each, work=work) for each in chunks], {})


def work_of(doc_id: str, known: Description, source: str | None) -> Work:
    return Work(doc_id, source=source, **{each: getattr(known, each) for each in _OF_A_WORK})


def keyed_work(
    doc_id: str, known: Description, source: str | None, find: Callable[[Set[str]], Sequence[ProjectDocument]]
) -> tuple[Work, frozenset[str]]:
    """The work of a document, with a citekey that no other has where nobody gives one, and the identifiers that such a
    citekey is known by. `find` returns the documents of the project that have any of these identifiers."""
    if known.citekey or not (made := citekey_of(known)):
        return work_of(doc_id, known, source), frozenset()
    for ending in ("", *ascii_lowercase, doc_id[-6:]):
        name = f"key:{made}{ending}"
        if all(each.doc_id == doc_id for each in find({name, f"citekey:{made}{ending}"})):
            break
    return work_of(doc_id, replace(known, citekey=name.removeprefix("key:")), source), frozenset({name})


def hash_of(description: Description) -> str:
    return sha256(repr(description).encode(errors="surrogatepass")).hexdigest()[:32]
