"""Bring one document into a project, in steps that may each be repeated: parse, embed what changed, index, record.

The record is written last, and says what was read and by which recipe; a document is skipped only while that holds. So
a run that is killed anywhere is healed by the next: it writes the same chunks over what stands."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, UnreadableDocument, UpstreamFailed
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
    same_work,
)
from bio_mcp.ingesting.projects import model_for
from bio_mcp.literature.descriptions import Description, References
from bio_mcp.literature.documents import ParsedDocument, SectionKind
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.stores import Embeddings
from bio_mcp.retrieval.chunking import chunks_of_sections
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.scope import bounded_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
        # All that the chunks of a file depend on, but for its work and its languages.
        self._recipe = f"{backends.parser.version} {project.embed_model}"

    def write_document(self, incoming: Incoming) -> WrittenDocument:
        """Bring the document in. Raises `UnreadableDocument`, `DeadlineExceeded` and the failures of the ports.

        What was embedded when the time ended is stored, so that the next try continues there.
        """
        known = self._find(incoming.own_identifiers)
        if incoming.same_text and known:
            return self._describe_again(known[0], incoming)
        if current := self._current(known, incoming):
            if current.sha256 == incoming.sha256 and incoming.place_id not in current.identifiers:
                # Note where the file is now, that another file in its old place is not taken for it.
                self._record(replace(current, identifiers=joined(incoming.own_identifiers, [current])))
            return WrittenDocument(current.doc_id)
        parsed = self._parse(incoming)
        described = describe(incoming, parsed, self._references, self._backends.documents, edited_of(known), self._ask)
        identifiers = incoming.own_identifiers | described.work.identifiers
        same = same_work(self._find(identifiers), identifiers)
        if same and self._stays(same[0], incoming):
            return self._join(same, incoming, described)
        return self._write(same, incoming, parsed, described)

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
        if len(same) != 1 or not (document := same[0]).chunks or document.recipe != self._recipe:
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
        if incoming.state is not None or not document.chunks or document.recipe != self._recipe:
            return False
        other_file = incoming.place_id not in document.identifiers and document.sha256 != incoming.sha256
        return other_file and (not self._again or document.origin.get("run") == self._again)

    def _join(self, same: Sequence[ProjectDocument], incoming: Incoming, described: Described) -> WrittenDocument:
        """Note that this file is one more of a work that is there; what it tells of the work is taken over."""
        document = same[0]
        described = replace(described, edited=edited_of([document])).with_older(document)
        work, key = keyed_work(document.doc_id, described.work, document.work.source, self._find)
        identifiers = document.identifiers | described.work.identifiers | key | {f"sha256:{incoming.sha256}"}
        if work != document.work:
            self._reword(work)
        self._drop(same, incoming)
        origin = {**document.origin, "from": described.stated_by}
        self._record(replace(document, work=work, identifiers=joined(identifiers, same), origin=origin))
        sentence = (
            f"{incoming.name!r}: this paper is in the project already; the text of the file that was read first stays"
        )
        return WrittenDocument(document.doc_id, warnings=(sentence,))

    def _reword(self, work: Work) -> None:
        """Give the chunks of a document what is known of its work now; their text and vectors stay."""
        collection, collections = self._project.collection, self._backends.collections
        chunks = collections.document(collection, work.doc_id)
        collections.replace(collection, work.doc_id, [replace(each, work=work) for each in chunks], {})

    def _describe_again(self, document: ProjectDocument, incoming: Incoming) -> WrittenDocument:
        """Give a document whose text has not changed what its library knows of the work now. Nothing is embedded."""
        if {**document.origin, **incoming.origin, "state": incoming.state} == document.origin:
            return WrittenDocument(document.doc_id)
        described = describe(
            incoming, ParsedDocument(()), self._references, self._backends.documents, edited_of([document])
        )
        described = _known(incoming, described, [document])
        work, key = keyed_work(document.doc_id, described.work, document.work.source, self._find)
        if work != document.work:
            self._reword(work)
        identifiers = joined(incoming.own_identifiers | described.work.identifiers | key, [document])
        origin = {**document.origin, **self._origin(incoming, described, [document])}
        self._record(replace(document, work=work, identifiers=identifiers, origin=origin))
        return WrittenDocument(document.doc_id, written=True)

    def _write(
        self, same: Sequence[ProjectDocument], incoming: Incoming, parsed: ParsedDocument, described: Described
    ) -> WrittenDocument:
        """Write the chunks of a document that is new or has changed, then its record."""
        own = incoming.own_identifiers | described.work.identifiers
        older = [
            each for each in same if any(kind_of(name) in CERTAIN for name in each.identifiers & own)
        ]  # or its place has another text now, and no more is known
        doc_id = same[0].doc_id if same else _id_of(incoming.sha256)
        if not same and (there := self._find({doc_id})):
            if there[0].sha256 == incoming.sha256:  # another run has brought it in meanwhile
                return self.write_document(incoming)
            doc_id = _id_of(f"{incoming.sha256} {incoming.place_id}")  # that file is an edited one now
        described = _known(incoming, described, older)
        model = model_for(self._project, self._backends)
        work, key = keyed_work(doc_id, described.work, incoming.name, self._find)
        chunks = chunks_of_sections(parsed, work, model.count_tokens, model.max_tokens)
        if all(each.kind is SectionKind.REFERENCES for each in chunks):
            raise UnreadableDocument("there is no text in it but a list of references")
        vectors = self._embed(doc_id, chunks, model)
        self._backends.collections.replace(self._project.collection, doc_id, chunks, vectors, model.fingerprint)
        self._drop(same, incoming)
        # Whether another run has brought in the same work meanwhile.
        now = same_work(self._find(own), own)
        if not {each.doc_id for each in now} <= {each.doc_id for each in same}:
            for each in now:
                if each.doc_id == doc_id:  # by the same id, with what it knows of the work
                    self._reword(each.work)
            return self.write_document(incoming)
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
            pages=parsed.pages,
            ocr=parsed.ocr,
            origin=self._origin(incoming, described, older),
            notices=next((each.notices for each in older if each.work.doi == work.doi), ()),
        )
        self._record(record)
        warnings = _warnings(incoming, parsed, described)
        if self._unanswered:
            warnings = (UNANSWERED, *warnings)
        return WrittenDocument(doc_id, True, len(chunks), parsed.pages or 0, warnings)

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
        return {**incoming.origin, **run, "authority": authority, "reference": reference, **found}

    def _drop(self, same: Sequence[ProjectDocument], incoming: Incoming) -> None:
        """Delete all but the first document, and the chunks that a killed run left of a file without a record."""
        collection, collections = self._project.collection, self._backends.collections
        for each in same[1:]:
            collections.replace(collection, each.doc_id, [], {})
        if same[1:]:
            self._backends.project_documents.delete(self._project.project_id, [each.doc_id for each in same[1:]])
        left = _id_of(incoming.sha256)
        if same and collections.hashes(collection, left) and not self._find({left}):
            collections.replace(collection, left, [], {})

    def _record(self, document: ProjectDocument) -> None:
        self._backends.project_documents.put(self._project.project_id, document)

    def _embed(
        self, doc_id: str, chunks: Sequence[ProjectChunk], model: Embeddings
    ) -> "dict[str, NDArray[np.float32]]":
        """Vectors, by chunk id, of the chunks whose text has none in the index yet."""
        collection, collections = self._project.collection, self._backends.collections
        stored = set(collections.hashes(collection, doc_id).values())
        waiting = [each for each in chunks if each.embedded_sha256 not in stored]
        vectors: dict[str, NDArray[np.float32]] = {}
        for start in range(0, len(waiting), SLICE):
            if self._deadline.remaining < RESERVE_S:
                done = [each for each in waiting if each.chunk_id in vectors]
                collections.upsert(collection, done, vectors, model.fingerprint)
                raise DeadlineExceeded("out of time while a document was embedded; what is done is stored")
            some = waiting[start : start + SLICE]
            made = model.embed([each.embedded_text for each in some])
            vectors |= {each.chunk_id: vector for each, vector in zip(some, made, strict=True)}
        return vectors


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
