"""Apply records to the corpus: store, index, announce and mark them, a slice at a time, so that a kill is healed.

The order decides what a crash can do. Each step is repeatable and precedes the mark that would skip it, so applying the
same record again completes what is missing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import TypeVar

from bio_mcp.errors import Conflict
from bio_mcp.literature.records import (
    Article,
    ChangeKind,
    CorpusChange,
    Deletion,
    Document,
    Head,
    RetractionStatus,
    Tombstone,
    compare_revisions,
)
from bio_mcp.literature.serial import content_hash
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Embeddings, Passages
from bio_mcp.retrieval.passages import Entry
from bio_mcp.scope import one_index
from bio_mcp.syncing.indexing import (
    Embed,
    delete_passages,
    embedded,
    model_of,
    refresh_all,
    searched_index,
    slices,
    unless_removed,
    write_passages,
)
from bio_mcp.tenants import of_all_tenants

T = TypeVar("T")


class Change(StrEnum):
    """Effect of a record on the corpus."""

    INSERTED = "inserted"
    UPDATED = "updated"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where records come from: NLM's file of this `place` (`pubmed_files.order_of`), or PubMed itself, which was asked
    when the newest deletion had the number `since`; neither is known of other files."""

    place: int = 0
    since: int | None = None

    def brings_back(self, article: Article, gone: Tombstone) -> bool:
        """Whether an article stands although its paper was deleted.

        A newer PubMed version does, and what PubMed gave after the deletion, or a later file of NLM's. Elsewhere a
        later revision does than the one that was deleted.
        """
        if article.pmid_version > gone.pmid_version or (self.since is not None and gone.number <= self.since):
            return True
        if self.place and gone.place and self.place != gone.place:
            return self.place > gone.place
        revised, before = article.date_revised, gone.date_revised
        dated = revised is not None and before is not None and revised > before
        return dated and article.pmid_version == gone.pmid_version

    def is_before(self, head: Head) -> bool:
        """Whether a later file of NLM's has what is stored."""
        return 0 < self.place < head.given


ANYWHERE = Origin()


def revise(
    article: Article, head: Head | None, gone: Tombstone | None = None, origin: Origin = ANYWHERE
) -> tuple[Change, Document | None]:
    """Compare a fetched article with the stored one, or with what is `gone` of it; returns what is to be stored and
    indexed, None for nothing.

    The version rises by one when the content differs or the record was revised since (LR). An older PubMed version, an
    older revision, or one of the same day from an earlier file of NLM's never replaces a newer one. A document whose
    passages did not become durable is indexed again at its version. The versions of a paper that comes back go on.
    """
    new_hash = content_hash(article)
    if head is None:
        if gone and not origin.brings_back(article, gone):
            return Change.SKIPPED, None
        before = (gone.version + 1, 0, gone.place) if gone else (1, 0, 0)
        return Change.INSERTED, Document(article, new_hash, *before, origin.place)
    compared, differs = compare_revisions(article, head), new_hash != head.content_hash
    is_new, is_older = compared > 0 or differs, compared < 0 or (not compared and differs and origin.is_before(head))
    if is_older or not (is_new or head.indexed_version < head.version):
        return Change.SKIPPED, None
    change = Change.UPDATED if head.indexed_version else Change.INSERTED
    given = max(head.given, origin.place)
    return change, Document(article, new_hash, head.version + is_new, head.indexed_version, head.place, given)


WRITE_AFTER = timedelta(seconds=0.5)  # papers wait for those after them no longer; embedding 32 takes that long


class IndexWrites:
    """Embeds papers a slice at a time, and writes those of several slices together where embedding is quick.

    A transaction of an index costs as much as twenty papers in it. Where a paper goes to more than one index each slice
    is written at once, since the other may have all of it to embed. Where every write costs the same, however few
    papers it has, they wait for more; but the first slice is written at once, so that who counts time knows what a
    write takes.
    """

    def __init__(self, backends: Backends, embed: Embed) -> None:
        self._backends, self._embed = backends, embed
        self._began = backends.now()
        self._documents: list[Document] = []
        self._entries: list[Entry] = []
        self._fingerprint = ""
        self._several = False
        self._at_once = 1

    def add(self, documents: Sequence[Document]) -> list[str]:
        """Embed the documents; returns the PMIDs of what was written, where it should be written now."""
        with searched_index(self._backends) as (embeddings, passages):
            entries = self._embed(documents, embeddings, passages)
        if not self._documents:
            self._several = len(self._backends.indexes.all()) > 1
        if embeddings.fingerprint != self._fingerprint:
            self._entries, self._fingerprint = [], embeddings.fingerprint
        self._documents += documents
        self._entries += entries
        late = abs(self._backends.now() - self._began) > WRITE_AFTER or self._several
        return self.write() if late and len(self._documents) >= self._at_once else []

    def write(self) -> list[str]:
        """Replace the passages of the documents that were added in every index; returns their PMIDs.

        Searches may miss them until `refresh_all`. The indexes are looked up again after each write: one that was begun
        meanwhile is written to as well, so that nothing is missing from it when it is switched to.
        """
        documents, self._documents = self._documents, []
        if documents:
            with searched_index(self._backends) as (embeddings, passages):
                self._write(documents, embeddings, passages)
                self._at_once = passages.write_at_once
                written = {passages.name()}
                while others := [each for each in self._backends.indexes.all() if each.name not in written]:
                    for each in others:
                        twin = passages if each.fingerprint == embeddings.fingerprint else None
                        with unless_removed(each, self._backends):
                            write_passages(documents, model_of(each, self._backends), each.passages, twin=twin)
                        written.add(each.name)
        self._entries, self._began = [], self._backends.now()
        return [document.article.pmid for document in documents]

    def _write(self, documents: Sequence[Document], embeddings: Embeddings, passages: Passages) -> None:
        if embeddings.fingerprint == self._fingerprint and len(self._entries) == len(documents):
            try:
                passages.upsert_chunks(self._entries, refresh=False)
                return
            except Conflict:  # a vector that was known is not stored any more
                pass
        write_passages(documents, embeddings, passages)


@dataclass(slots=True)
class Applied:
    """Result of a batch: PMID -> change, in the order in which it became durable; the PMIDs that are deleted, of which
    `removed` were stored; and those whose deletion is older than what is stored."""

    changes: dict[str, Change] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    removed: int = 0
    kept: list[str] = field(default_factory=list)

    @property
    def settled(self) -> set[str]:
        """The PMIDs of which nothing is left to be done."""
        return {*self.changes, *self.deleted, *self.kept}


def apply_records(
    records: Iterable[Article | Deletion],
    backends: Backends,
    *,
    before_slice: Callable[[Mapping[str, str]], bool] = lambda _changes: True,
    embed: Embed = embedded,
    load: bool = False,
    look: bool = False,
    origin: Origin = ANYWHERE,
) -> Applied:
    """Bring the corpus to the state that `records` describe; of several versions of a PMID the newest stands.

    `before_slice` is called before each slice of documents that must be embedded, with the changes so far. When it
    returns False, nothing more is done, and the corpus is consistent. What is stored but not indexed yet is healed when
    the record is applied again. Slices are announced and marked together where an index is slow to refresh; those that
    were written and not marked are written again, and not embedded again. `embed` may have embedded passages before.
    In a `load` nobody is told of new papers: nobody waits for forty million messages. With `look` papers that the
    index lacks are written to it, whatever is marked as indexed. Raises the failures of its ports, and `Conflict` where
    others keep writing the same papers.
    """
    articles, withdrawn = _latest_by_pmid(records)
    applied = Applied()
    _delete({pmid: each for pmid, each in withdrawn.items() if pmid in articles}, origin, backends, applied)
    pending = dict[str, list[CorpusChange]]()
    changed = dict[str, tuple[Change, Document]]()
    for left in _until_none(articles):
        heads, gone = backends.documents.standing(list(left))
        if look:
            heads = _looked_up(heads, backends)
        revisions = {pmid: revise(each, heads.get(pmid), gone.get(pmid), origin) for pmid, each in left.items()}
        applied.changes.update((pmid, change) for pmid, (change, document) in revisions.items() if document is None)
        _note_place(heads, applied.changes, ANYWHERE if load else origin, backends)  # a load has ordered all files
        wanted = {pmid: (change, document) for pmid, (change, document) in revisions.items() if document is not None}
        pending |= _pending_changes(wanted, backends)
        refused = set[str]()
        if wanted:
            with searched_index(backends):
                refused = backends.documents.put([document for _, document in wanted.values()])
        changed |= {pmid: each for pmid, each in wanted.items() if pmid not in refused}
        for pmid in left.keys() - refused:
            del left[pmid]
    for written in _written(changed, backends, lambda: before_slice(applied.changes), embed):
        documents = [changed[pmid][1] for pmid in written]
        _complete(documents, backends, [each for pmid in written for each in pending[pmid]], load)
        applied.changes.update((pmid, changed[pmid][0]) for pmid in written)
    _delete({pmid: each for pmid, each in withdrawn.items() if pmid not in articles}, origin, backends, applied)
    return applied


TRIES = 20  # of a write that another writer was faster with


def _until_none(items: Mapping[str, T]) -> Iterator[dict[str, T]]:
    """Yield a copy of the items until none is left in it. Raises `Conflict` when that takes too long."""
    left = dict(items)
    for _ in range(TRIES):
        if not left:
            return
        yield left
    if left:
        raise Conflict("Others are writing the same papers; try again.", retry_after_s=5)


def _note_place(heads: Mapping[str, Head], unchanged: Mapping[str, Change], origin: Origin, backends: Backends) -> None:
    """Note that the file has the papers that stay unchanged, so that an earlier one does not delete them."""
    if told := [pmid for pmid, head in heads.items() if pmid in unchanged and head.given < origin.place]:
        backends.documents.mark_given(told, origin.place)


def _looked_up(heads: Mapping[str, Head], backends: Backends) -> dict[str, Head]:
    """The heads, those of papers that the index lacks as if they had never been indexed."""
    with one_index():
        there = backends.passages.chunk_texts(list(heads))
    return {pmid: head if pmid in there else replace(head, indexed_version=0) for pmid, head in heads.items()}


def _delete(deletions: Mapping[str, "Withdrawn"], origin: Origin, backends: Backends, applied: Applied) -> None:
    """Announce, remove the passages, then leave tombstones in the place of the documents.

    The announcement comes first, so that a crash in between announces again: once the documents are gone, nothing tells
    that it is due. The documents go last, since a repetition deletes what is stored, and passages without a document
    would take places among the hits. Whoever is about to write what is deleted is refused, passages and documents.
    """
    for left in _until_none(deletions):
        heads, gone = backends.documents.standing(list(left))
        tombstones = {pmid: each.tombstone(heads.get(pmid), gone.get(pmid), origin) for pmid, each in left.items()}
        wanted = {pmid: each for pmid, each in tombstones.items() if each is not None}
        applied.kept += [pmid for pmid in left if pmid not in wanted]
        stored = [CorpusChange(ChangeKind.DELETED, pmid, heads[pmid].version) for pmid in wanted if pmid in heads]
        if stored:
            _tell(stored, backends)
        upto = {pmid: each.version for pmid, each in wanted.items()}
        with one_index():
            passages = backends.passages
            passages.delete(list(upto), upto)
        done = {passages.name()}
        delete_passages(upto, backends, done)
        refused = backends.documents.delete(wanted)
        delete_passages(upto, backends, done)  # in an index that was begun meanwhile
        if stored:
            backends.news.record(stored)  # for a query that found it meanwhile
        applied.deleted += [pmid for pmid in wanted if pmid not in refused]
        applied.removed += sum(each.pmid not in refused for each in stored)
        for pmid in left.keys() - refused:
            del left[pmid]


def _written(
    changed: Mapping[str, tuple[Change, Document]], backends: Backends, go_on: Callable[[], bool], embed: Embed
) -> Iterator[list[str]]:
    """Embed the documents, a slice at a time while `go_on`, and write them; yield their PMIDs whenever to refresh the
    index."""
    writes, written = IndexWrites(backends, embed), list[str]()
    for part in slices(changed):
        if not go_on():
            break
        written += writes.add([changed[pmid][1] for pmid in part])
        if written and len(written) >= backends.passages.refresh_after:
            yield written
            written = []
    if written := [*written, *writes.write()]:
        yield written


def _tell(changes: Sequence[CorpusChange], backends: Backends, load: bool = False) -> None:
    """Enter changes in the news of the queries that found their papers, and announce them."""
    backends.news.record(changes)
    if announced := [each for each in changes if not (load and each.kind is ChangeKind.NEW)]:
        backends.announcements.publish(announced)


def _pending_changes(
    changed: Mapping[str, tuple[Change, Document]], backends: Backends
) -> dict[str, list[CorpusChange]]:
    """The changes to announce for each document; to be asked before the documents are stored.

    A retraction is announced when the stored paper is not marked retracted, and again when the stored one was never
    marked as indexed: its run ended early, and nobody can tell whether the announcement went out.
    """
    is_now = RetractionStatus.RETRACTED
    retracted = [pmid for pmid, (_, document) in changed.items() if document.article.retraction is is_now]
    stored = backends.documents.get_many(retracted) if retracted else {}
    was = {pmid for pmid, document in stored.items() if document.article.retraction is is_now}
    announced = {pmid for pmid in was if stored[pmid].indexed_version == stored[pmid].version}
    pending: dict[str, list[CorpusChange]] = {}
    for pmid, (change, document) in changed.items():
        kind = ChangeKind.NEW if change is Change.INSERTED else ChangeKind.CHANGED
        kinds = [kind, ChangeKind.RETRACTED] if pmid in retracted and pmid not in announced else [kind]
        pending[pmid] = [CorpusChange(each, pmid, document.version) for each in kinds]
    return pending


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What NLM withdrew of a PMID, and the last revision of it that is known."""

    deletion: Deletion
    date_revised: date | None = None

    def tombstone(self, head: Head | None, gone: Tombstone | None, origin: Origin) -> Tombstone | None:
        """What is left when it is withdrawn; None where what is stored is newer, or came back after this deletion."""
        if head and (not self.deletion.covers(head.pmid_version) or origin.is_before(head)):
            return None
        if head and origin.place and head.place >= origin.place:
            return None
        known = Tombstone(head.version, head.pmid_version, head.date_revised) if head else gone or Tombstone()
        return replace(
            known,
            pmid_version=max(known.pmid_version, self.deletion.version or 0),
            date_revised=_later(known.date_revised, self.date_revised),
            place=max(known.place, origin.place),
        )


def _later(*days: date | None) -> date | None:
    return max(filter(None, days), default=None)


def _latest_by_pmid(records: Iterable[Article | Deletion]) -> tuple[dict[str, Article], dict[str, Withdrawn]]:
    """Reduce records to the newest version of each article, the later of two equal ones, and what is withdrawn.

    An article that comes after its deletion is in both: what is gone decides whether it comes back.
    """
    articles: dict[str, Article] = {}
    withdrawn: dict[str, Withdrawn] = {}
    for record in records:
        pmid, known = record.pmid, articles.get(record.pmid)
        if isinstance(record, Deletion):
            if known and not record.covers(known.pmid_version):
                continue
            before = withdrawn.get(pmid, Withdrawn(record))
            day = _later(before.date_revised, known.date_revised if known else None)
            withdrawn[pmid] = Withdrawn(record.joined(before.deletion), day)
            articles.pop(pmid, None)
        elif known is None or compare_revisions(record, known) >= 0:
            articles[pmid] = record
            if pmid in withdrawn and not withdrawn[pmid].deletion.covers(record.pmid_version):
                del withdrawn[pmid]
    return articles, withdrawn


def _complete(documents: Sequence[Document], backends: Backends, changes: Sequence[CorpusChange], load: bool) -> None:
    """Let searches see the passages of written documents, announce `changes`, flag the answers that cite a paper that
    they retract, and mark the documents as indexed."""
    refresh_all(backends)
    _tell(changes, backends, load)
    for each in changes:
        if each.kind is ChangeKind.RETRACTED:
            of_all_tenants(backends).answers.flag(each.pmid)
    backends.documents.mark_indexed({document.article.pmid: document.version for document in documents})
