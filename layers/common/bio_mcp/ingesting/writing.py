"""Bring one document into a project, in steps that may each be repeated: parse, embed what changed, index, record.

The record is written first as one of a document without chunks, which is one to be read, and again last: then it says
what was read, by which recipe, and which chunks are its own. A document is skipped only while that holds. So a run that
is killed anywhere is healed by the next, which finds the document however its file was edited, and writes over what
stands. All of that is one turn (`ingesting.turns`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Conflict, DeadlineExceeded, NotFound, UnreadableDocument, UpstreamFailed
from bio_mcp.ingesting.added import ABSTRACT
from bio_mcp.ingesting.documents import (
    CERTAIN,
    Authority,
    Described,
    Incoming,
    Lookup,
    describe,
    description_of,
    edited_of,
    hash_of,
    joined,
    keyed_work,
    kind_of,
    reword,
    same_work,
)
from bio_mcp.ingesting.files import FILES, STORED_PDF, folder_of, pdf_key, stored_pdf_key
from bio_mcp.ingesting.projects import delete_documents, lost_index, model_for
from bio_mcp.ingesting.turns import TurnLost, in_turns, turn
from bio_mcp.literature.descriptions import Description, References
from bio_mcp.literature.documents import ParsedDocument, SectionKind
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.retrieval.chunking import chunks_of_sections
from bio_mcp.retrieval.passages import chunk_uuid
from bio_mcp.retrieval.project_chunks import ProjectChunk
from bio_mcp.scope import bounded_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]

SLICE = 64  # texts that are embedded between two looks at the clock
RESERVE_S = 2.0  # for saving what is done when the time ends
LANGUAGES = ("en", "de")  # of scans, unless a library or the caller says otherwise


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """What became of a document: its chunks were `written`, or nothing had to be. `log` is the key of a blob."""

    doc_id: str
    written: bool = False
    chunks: int = 0
    pages: int = 0
    warnings: tuple[str, ...] = ()
    log: str | None = None


class DocumentWriter:
    """Brings documents into `project`. `again` names a run that reads each document once even if nothing changed.

    `lookup` is asked what a document is that neither the corpus nor `references` have.
    """

    def __init__(
        self,
        project: Project,
        backends: Backends,
        deadline: Deadline,
        *,
        references: References,
        languages: Sequence[str] = (),
        again: str | None = None,
        lookup: Lookup | None = None,
    ) -> None:
        self._lookup, self._unanswered = lookup, False
        self._project, self._backends, self._deadline = project, backends, deadline
        self._references, self._languages, self._again = references, tuple(languages), again
        # Documents that this writer recorded, and those whose chunks it wrote and perhaps could not record.
        self._recorded, self._begun = set[str](), set[str]()
        # All that the chunks of a file depend on, but for its work and its languages.
        self._recipe = f"{backends.parser.version} {project.embed_model}"

    def write_document(self, incoming: Incoming) -> WrittenDocument:
        """Bring the document in. Raises `UnreadableDocument`, `DeadlineExceeded` and the failures of the ports.

        What was embedded when the time ended is stored, so that the next try continues there.
        """
        parse = cache(lambda: self._parse(incoming))
        made: Vectors = {}
        self._begun.clear()

        def bring_in() -> WrittenDocument:
            try:
                return self._bring_in(incoming, parse, made)
            except (NotFound, TurnLost):
                self._delete_unused_pdf(incoming)
                raise

        return in_turns(bring_in, self._deadline)

    def _bring_in(self, incoming: Incoming, parse: Callable[[], ParsedDocument], made: "Vectors") -> WrittenDocument:
        """Make what is to be written, and write it. Raises `TurnLost` where another has written meanwhile.

        `made` are vectors by the hash of their text.
        """
        known = self._find(incoming.own_identifiers)
        if incoming.same_text and known:
            return self._describe_again(known, incoming)
        if current := self._current(known, incoming):
            if current.sha256 == incoming.sha256 and incoming.place_id not in current.identifiers:
                # Note where the file is now, that another file in its old place is not taken for it.
                identifiers = joined(incoming.own_identifiers, [current])
                origin = {**current.origin, STORED_PDF: self._pdf_key(incoming)}
                moved = replace(current, identifiers=identifiers, origin=origin)
                with self._turn(incoming.own_identifiers, known):
                    self._store_pdf(moved, incoming)
                    self._record(moved)
            return WrittenDocument(current.doc_id)
        parsed = parse()
        documents, edited = self._backends.documents, edited_of(known)
        described = describe(incoming, parsed, self._references, documents, edited, self._ask)
        own = incoming.own_identifiers | described.work.identifiers
        asked = own | {_id_of(incoming.sha256)}
        found = self._find(asked)
        same = same_work(found, own)
        if same and self._stays(same[0], incoming):
            with self._turn(asked, found):
                return self._join(found, same, incoming, described)
        record, chunks = self._record_of(found, same, incoming, parsed, described)
        is_whole = self._embed(record.doc_id, chunks, made)
        with self._turn(asked, found, record):
            self._begin(same[0] if same else replace(record, recipe=""), record)
            self._write(record.doc_id, chunks, made, is_whole=is_whole)
            self._store_pdf(record, incoming)
            self._drop(found, same, incoming, record)
            self._record(record)
        self._recorded.add(record.doc_id)
        warnings = _warnings(incoming, parsed, described)
        if self._unanswered:
            warnings = (UNANSWERED, *warnings)
        return WrittenDocument(record.doc_id, True, len(chunks), parsed.pages or 0, warnings)

    @contextmanager
    def _turn(
        self, identifiers: Set[str], found: Sequence[ProjectDocument], record: ProjectDocument | None = None
    ) -> Iterator[None]:
        """Write in this block, if `found` still are the documents of these identifiers, and no other has the citekey
        that was made for `record`.

        Raises `TurnLost` where that is not so, `NotFound` where the index is gone, and `Conflict` where it is of
        another model by now.
        """
        project, backends = self._project, self._backends
        with turn(project.project_id, backends):
            if (held := backends.collections.model(project.collection)) is None:
                raise lost_index(project)
            if held[0] != project.embed_model:
                raise Conflict(
                    f"the project {project.project_id!r} was rebuilt for another model meanwhile; ingest again"
                )
            made = {each for each in record.identifiers if kind_of(each) == "key"} if record else set[str]()
            taken = record and any(each.doc_id != record.doc_id for each in self._find(made))
            if taken or self._find(identifiers) != found:
                raise TurnLost
            yield

    def _ask(self, known: Description) -> tuple[str, Description] | None:
        """Look up a work, until a service does not answer: what follows is read without it."""
        if self._lookup is None or self._unanswered:
            return None
        try:
            return self._lookup(known)
        except UpstreamFailed:
            self._unanswered = True
            return None

    def _find(self, identifiers: Set[str]) -> list[ProjectDocument]:
        return self._backends.project_documents.find(self._project.project_id, sorted(identifiers))

    def _languages_of(self, incoming: Incoming) -> list[str]:
        first = [incoming.language] if incoming.language else []
        return list(dict.fromkeys([*first, *(self._languages or LANGUAGES)]))

    def _current(self, known: Sequence[ProjectDocument], incoming: Incoming) -> ProjectDocument | None:
        """The document that this file was read into already, if reading it again would change nothing."""
        [*same] = (each for each in known if f"sha256:{incoming.sha256}" in each.identifiers)
        if len(same) != 1 or not self._is_read(document := same[0]):
            return None
        origin = document.origin
        if self._again and origin.get("run") != self._again:
            return None
        if incoming.state != origin.get("state") and incoming.state is not None:
            return None
        if incoming.state is None and origin.get("state") is not None:
            return document  # the library's own copy, with its notes
        if self._lookup and not origin.get("looked_up") and origin.get("authority", 0) < Authority.CORPUS:
            return None
        languages = not document.ocr or origin.get("languages") == self._languages_of(incoming)
        reference = self._references.match(description_of(document), incoming.name)
        same_reference = reference is None or hash_of(reference) == origin.get("reference")
        return document if languages and same_reference else None

    def _is_read(self, document: ProjectDocument) -> bool:
        """Whether the document was read by this recipe, and has the chunks that its record names."""
        if not document.chunks or document.recipe != self._recipe:
            return False
        collection, collections = self._project.collection, self._backends.collections
        if document.doc_id in self._begun:  # while another recorded it
            works = {each.work for each in collections.document(collection, document.doc_id)}
            if works != {document.work}:
                return False
        elif document.doc_id in self._recorded:
            return True
        hashes = collections.hashes(collection, document.doc_id)
        return document.chunks_sha256 in ("", _sha256_of(document.doc_id, document.chunks, hashes))

    def _parse(self, incoming: Incoming) -> ParsedDocument:
        """The document with its reader's notes. Raises `UnreadableDocument` when there is no word in it."""
        parsed = ParsedDocument(())
        if incoming.content is not None:
            languages = self._languages_of(incoming)
            with bounded_by(self._deadline.share(max(self._deadline.remaining - RESERVE_S, 0.1))):
                parsed = self._backends.parser.parse(incoming.content, incoming.name, languages)
        parsed = replace(parsed, sections=(*parsed.sections, *incoming.notes))
        if not any(section.text.strip() for section in parsed.sections):
            raise UnreadableDocument("there is no text in it")
        return parsed

    def _stays(self, document: ProjectDocument, incoming: Incoming) -> bool:
        """Whether the document was read from another file of the same work, and that is as good as this one."""
        if incoming.state is not None or not self._is_read(document):
            return False
        if document.origin.get(ABSTRACT) and incoming.content is not None:
            return False  # the paper itself says more than its abstract
        other_file = incoming.place_id not in document.identifiers and document.sha256 != incoming.sha256
        return other_file and (not self._again or document.origin.get("run") == self._again)

    def _join(
        self,
        found: Sequence[ProjectDocument],
        same: Sequence[ProjectDocument],
        incoming: Incoming,
        described: Described,
    ) -> WrittenDocument:
        """Note that this file is one more of a work that is there; what it tells of the work is taken over."""
        document = same[0]
        described = replace(described, edited=edited_of([document])).with_older(document)
        work, key = keyed_work(document.doc_id, described.work, document.work.source, self._find)
        identifiers = document.identifiers | described.work.identifiers | key | {f"sha256:{incoming.sha256}"}
        if work != document.work:
            reword(self._project.collection, work, self._backends.collections)
        self._drop(found, same, incoming, document)
        origin = {**document.origin, "from": described.stated_by}
        self._record(replace(document, work=work, identifiers=joined(identifiers, same), origin=origin))
        self._delete_unused_pdf(incoming)
        sentence = (
            f"{incoming.name!r}: this paper is in the project already; the text of the file that was read first stays"
        )
        return WrittenDocument(document.doc_id, warnings=(sentence,))

    def _describe_again(self, known: Sequence[ProjectDocument], incoming: Incoming) -> WrittenDocument:
        """Give a document whose text has not changed what its library knows of the work now. Nothing is embedded."""
        document = known[0]
        if {**document.origin, **incoming.origin, "state": incoming.state} == document.origin:
            return WrittenDocument(document.doc_id)
        described = describe(
            incoming, ParsedDocument(()), self._references, self._backends.documents, edited_of([document])
        )
        described = _known(incoming, described, [document])
        work, key = keyed_work(document.doc_id, described.work, document.work.source, self._find)
        identifiers = joined(incoming.own_identifiers | described.work.identifiers | key, [document])
        origin = {**document.origin, **self._origin(incoming, described, [document])}
        again = replace(document, work=work, identifiers=identifiers, origin=origin)
        with self._turn(incoming.own_identifiers, known, again):
            if work != document.work:
                reword(self._project.collection, work, self._backends.collections)
            self._record(again)
        return WrittenDocument(document.doc_id, written=True)

    def _record_of(
        self,
        found: Sequence[ProjectDocument],
        same: Sequence[ProjectDocument],
        incoming: Incoming,
        parsed: ParsedDocument,
        described: Described,
    ) -> tuple[ProjectDocument, Sequence[ProjectChunk]]:
        """The record of a document that is new or has changed, and its chunks. `found` has all of its identifiers."""
        own = incoming.own_identifiers | described.work.identifiers
        older = [
            each for each in same if any(kind_of(name) in CERTAIN for name in each.identifiers & own)
        ]  # or its place has another text now, and no more is known
        doc_id = same[0].doc_id if same else _id_of(incoming.sha256)
        if not same and any(each.doc_id == doc_id for each in found):
            doc_id = _id_of(f"{incoming.sha256} {incoming.place_id}")  # that file is an edited one now
        described = _known(incoming, described, older)
        model = model_for(self._project, self._backends)
        work, key = keyed_work(doc_id, described.work, incoming.name, self._find)
        chunks = chunks_of_sections(parsed, work, model.count_tokens, model.max_tokens)
        if all(each.kind is SectionKind.REFERENCES for each in chunks):
            raise UnreadableDocument("there is no text in it but a list of references")
        record = ProjectDocument(
            work=work,
            identifiers=(
                joined(own | key, older)
                - {f"sha256:{each.sha256}" for each in same[:1] if incoming.place_id in each.identifiers}
            )
            | {doc_id, f"sha256:{incoming.sha256}"},
            sha256=incoming.sha256,
            recipe=self._recipe,
            chunks=len(chunks),
            chunks_sha256=_sha256_of(doc_id, len(chunks), {each.chunk_id: each.embedded_sha256 for each in chunks}),
            pages=parsed.pages,
            ocr=parsed.ocr,
            origin=self._origin(incoming, described, older),
            notices=next((each.notices for each in older if each.work.doi == work.doi), ()),
        )
        return record, chunks

    def _begin(self, document: ProjectDocument, record: ProjectDocument) -> None:
        """Record of the document that it is to be read, and which chunks and file it is about to have by `record`."""
        origin = {**document.origin, STORED_PDF: stored_pdf_key(record)}
        begun = replace(document, chunks=0, chunks_sha256=record.chunks_sha256, origin=origin)
        if begun != document:
            self._record(begun)
        self._begun.add(document.doc_id)

    def _write(self, doc_id: str, chunks: Sequence[ProjectChunk], made: "Vectors", *, is_whole: bool) -> None:
        """Write the chunks, or those that there was time for. Raises `DeadlineExceeded` for these."""
        collection, model = self._project.collection, model_for(self._project, self._backends).fingerprint
        vectors = {each.chunk_id: made[each.embedded_sha256] for each in chunks if each.embedded_sha256 in made}
        if is_whole:
            self._backends.collections.replace(collection, doc_id, chunks, vectors, model)
            return
        done = [each for each in chunks if each.chunk_id in vectors]
        self._backends.collections.upsert(collection, done, vectors, model)
        raise DeadlineExceeded("out of time while a document was embedded; what is done is stored")

    def _origin(self, incoming: Incoming, described: Described, older: Sequence[ProjectDocument]) -> dict[str, Any]:
        """What decides whether the file is read again."""
        authority = max([int(described.authority), *(each.origin.get("authority", 0) for each in older)])
        run = {"run": self._again, "state": incoming.state, "languages": self._languages_of(incoming)}
        reference = hash_of(described.reference) if described.reference else None
        edited = {name: getattr(described.edited, name) for name in described.edited.stated}
        found = {
            "from": described.stated_by,
            "edited": edited,
            "looked_up": self._lookup is not None and not self._unanswered,
        }
        pdf = {STORED_PDF: self._pdf_key(incoming)}
        return {**incoming.origin, **run, **pdf, "authority": authority, "reference": reference, **found}

    def _pdf_key(self, incoming: Incoming) -> str | None:
        """The key that a PDF is kept by; None for another file."""
        is_pdf = incoming.content is not None and b"%PDF-" in incoming.content[:1_024]
        return pdf_key(self._project.project_id, incoming.sha256) if is_pdf else None

    def _store_pdf(self, document: ProjectDocument, incoming: Incoming) -> None:
        """Store the PDF, so that its pages can be shown: within the turn, in which no deletion passes it."""
        if stored_pdf_key(document) and incoming.content is not None:
            self._backends.blobs.put(folder_of(self._project.project_id, FILES), incoming.content, ".pdf")

    def _delete_unused_pdf(self, incoming: Incoming) -> None:
        """Delete the PDF if no document has it: whoever lost a turn may have stored it afterwards.

        No turn guards files, so look again at what was done: another may have come to have it, or not to.
        """
        key = self._pdf_key(incoming)

        def having() -> ProjectDocument | None:
            return next((each for each in self._find(incoming.own_identifiers) if stored_pdf_key(each) == key), None)

        while key:
            if document := having():
                self._store_pdf(document, incoming)
            else:
                self._backends.blobs.delete(key)
            if bool(document) == bool(having()):
                return

    def _drop(
        self,
        found: Sequence[ProjectDocument],
        same: Sequence[ProjectDocument],
        incoming: Incoming,
        kept: ProjectDocument,
    ) -> None:
        """Delete all that is the same work but `kept`, and the file that this was read from before.

        And what a killed run had begun to read where another work is now, and chunks that this run had written of a
        document that another one dropped.
        """
        begun = [
            each for each in found if each not in same and not each.chunks and _places(each) == {incoming.place_id}
        ]
        for doc_id in self._begun - {kept.doc_id}:
            if not self._find({doc_id}):
                self._backends.collections.replace(self._project.collection, doc_id, [], {})
        delete_documents(self._project, (*same, *begun), self._backends, kept)

    def _record(self, document: ProjectDocument) -> None:
        self._backends.project_documents.put(self._project.project_id, document)

    def _embed(self, doc_id: str, chunks: Sequence[ProjectChunk], made: "Vectors") -> bool:
        """Add to `made` the vectors of texts that have none in the index yet; returns whether the time was enough.

        Raises `DeadlineExceeded` where there was none at all.
        """
        model = model_for(self._project, self._backends)
        stored = self._backends.collections.hashes(self._project.collection, doc_id).values()
        waiting = {each.embedded_sha256: each.embedded_text for each in chunks}
        there = {*stored, *made}
        names = [each for each in waiting if each not in there]
        for start in range(0, len(names), SLICE):
            if self._deadline.remaining < RESERVE_S:
                if not made:
                    raise DeadlineExceeded("out of time before a document was embedded; nothing of it was stored")
                return False
            some = names[start : start + SLICE]
            made.update(zip(some, model.embed([waiting[each] for each in some]), strict=True))
        return True


def _places(document: ProjectDocument) -> set[str]:
    return {each for each in document.identifiers if kind_of(each) == "place"}


def _sha256_of(doc_id: str, count: int, hashes: Mapping[str, str]) -> str:
    """Equal for equal texts of the first `count` chunks of a document, and none behind them."""
    names = (hashes.get(chunk_uuid(doc_id, f"c{at}"), "") for at in range(count + 1))
    return sha256(" ".join(names).encode()).hexdigest()


def _id_of(names: str) -> str:
    """The id of a document that is new to a project."""
    return f"doc:{sha256(names.encode()).hexdigest()[:20]}"


def _known(incoming: Incoming, described: Described, older: Sequence[ProjectDocument]) -> Described:
    """What is known of a work, with what its older document says. Tags and citekey that a library took away are
    gone."""
    known, now = described.with_older(older[0]) if older else described, described.work
    if incoming.state is None or not older:
        return known
    return replace(known, work=replace(known.work, tags=now.tags, citekey=now.citekey))


UNANSWERED = "PubMed or Crossref did not answer: ingest again to look up what is missing."
REMEDY = (
    "What is missing comes from references in CSL-JSON, from `bio-mcp ingest --lookup`, or by `bio-mcp projects edit`."
)


def _warnings(incoming: Incoming, parsed: ParsedDocument, described: Described) -> tuple[str, ...]:
    nothing = described.authority is Authority.NAME and not (described.work.authors and described.work.year)
    unknown = [f"Metadata not found for document {incoming.name!r}", REMEDY] if nothing else []
    return (*unknown, *(f"{incoming.name!r}: {each}" for each in parsed.warnings))
