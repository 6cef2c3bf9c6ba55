"""Settle records: store, index, announce and mark them as done, a slice at a time, so that a kill is healed.

The order decides what a crash can do. Each step is repeatable and precedes the mark that would skip it, so the next
`settle` of the same record completes what is missing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bio_mcp.literature.changes import ChangeKind, CorpusChange
from bio_mcp.literature.records import Article, Deletion, Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.syncing.index_writes import IndexWrites
from bio_mcp.syncing.indexing import (
    Embed,
    delete_beside,
    delete_from_all,
    embedded,
    refresh_all,
    searched_index,
    slices,
)
from bio_mcp.syncing.revisions import Change, revise
from bio_mcp.tenants import of_all_tenants


@dataclass(slots=True)
class Settled:
    """Result of a batch: PMID -> change, in the order in which it became durable; and the PMIDs deleted."""

    changes: dict[str, Change] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)


def settle(
    records: Iterable[Article | Deletion],
    backends: Backends,
    *,
    before_slice: Callable[[Mapping[str, str]], bool] = lambda _changes: True,
    embed: Embed = embedded,
) -> Settled:
    """Bring the corpus to the state that `records` describe; of several versions of a PMID the last one wins.

    `before_slice` is called before each slice of documents that must be embedded, with the changes so far. When it
    returns False, `settle` stops early and leaves a consistent corpus. What is stored but not indexed yet is healed by
    the next `settle` of the record. Slices are announced and marked together where an index is slow to refresh; those
    that were written and not marked are written again, and not embedded again. `embed` may
    have embedded passages before. Raises the failures of its ports.
    """
    articles, deletions = _latest_by_pmid(records)
    settled = Settled()
    revisions = _revise(articles, backends)
    settled.changes.update((pmid, Change.SKIPPED) for pmid, (_, document) in revisions.items() if document is None)
    changed = {pmid: (change, document) for pmid, (change, document) in revisions.items() if document is not None}
    pending = _pending_changes(changed, backends)
    if changed:
        with searched_index(backends):
            backends.documents.put([document for _, document in changed.values()])
    for written in _written(changed, backends, lambda: before_slice(settled.changes), embed):
        documents = [changed[pmid][1] for pmid in written]
        complete(documents, backends, [each for pmid in written for each in pending[pmid]])
        settled.changes.update((pmid, changed[pmid][0]) for pmid in written)
    if deletions:
        _delete(deletions, backends)
        settled.deleted = deletions
    return settled


def _written(
    changed: Mapping[str, tuple[Change, Document]], backends: Backends, go_on: Callable[[], bool], embed: Embed
) -> Iterator[list[str]]:
    """Embed the documents, a slice at a time while `go_on`, and write them; yield their PMIDs whenever to refresh the
    index."""
    writes, written = IndexWrites(backends, embed), list[str]()
    for part in slices(changed):
        if not go_on():
            break
        writes.add([changed[pmid][1] for pmid in part])
        if writes.is_due():
            written += writes.write()
        if written and len(written) >= backends.passages.refresh_after():
            yield written
            written = []
    if written := [*written, *writes.write()]:
        yield written


def _delete(pmids: Sequence[str], backends: Backends) -> None:
    """Announce, remove the passages, then delete the documents.

    The announcement comes first, so that a crash in between announces again: once the documents are gone, nothing tells
    that it is due. The documents go last, since a repetition deletes what is stored, and passages without a document
    would take places among the hits.
    """
    stored = backends.documents.heads(pmids)
    if stored:
        _tell([CorpusChange(ChangeKind.DELETED, pmid, head.version) for pmid, head in stored.items()], backends)
    delete_from_all(pmids, backends)
    if second := backends.multilingual:
        second.delete(pmids)
    backends.documents.delete(pmids)
    delete_beside(pmids, backends)  # what a rebuild that read the documents before has just written


def _tell(changes: Sequence[CorpusChange], backends: Backends) -> None:
    """Enter changes in the news of the queries that found their papers, and announce them."""
    backends.news.record(changes)
    backends.announcements.publish(changes)


def _pending_changes(
    changed: Mapping[str, tuple[Change, Document]], backends: Backends
) -> dict[str, list[CorpusChange]]:
    """The changes to announce for each document; to be asked before the documents are stored.

    A retraction is announced when the stored paper is not marked retracted, and again when the stored one was never
    marked as indexed: its run ended early, and nobody can tell whether the announcement went out.
    """
    retracted = [pmid for pmid, (_, document) in changed.items() if _is_retracted(document)]
    stored = backends.documents.get_many(retracted) if retracted else {}
    announced = {pmid for pmid, was in stored.items() if _is_retracted(was) and was.indexed_version == was.version}
    pending: dict[str, list[CorpusChange]] = {}
    for pmid, (change, document) in changed.items():
        kind = ChangeKind.NEW if change is Change.INSERTED else ChangeKind.CHANGED
        kinds = [kind, ChangeKind.RETRACTED] if pmid in retracted and pmid not in announced else [kind]
        pending[pmid] = [CorpusChange(each, pmid, document.version) for each in kinds]
    return pending


def _is_retracted(document: Document) -> bool:
    return document.article.retraction is RetractionStatus.RETRACTED


def _latest_by_pmid(records: Iterable[Article | Deletion]) -> tuple[dict[str, Article], list[str]]:
    """Reduce records to the newest version of each article, and the PMIDs whose last record is a deletion."""
    articles: dict[str, Article] = {}
    deleted: dict[str, None] = {}
    for record in records:
        if isinstance(record, Deletion):
            articles.pop(record.pmid, None)
            deleted[record.pmid] = None
        elif record.pmid not in articles or articles[record.pmid].pmid_version <= record.pmid_version:
            articles[record.pmid] = record
            deleted.pop(record.pmid, None)
    return articles, list(deleted)


def _revise(articles: dict[str, Article], backends: Backends) -> dict[str, tuple[Change, Document | None]]:
    heads = backends.documents.heads(list(articles))
    revisions = {pmid: revise(article, heads.get(pmid)) for pmid, article in articles.items()}
    return {pmid: (revision.change, revision.document) for pmid, revision in revisions.items()}


def complete(documents: Sequence[Document], backends: Backends, changes: Sequence[CorpusChange]) -> None:
    """Let searches see the passages of written documents, announce `changes`, flag the answers that cite a paper that
    they retract, and mark the documents as indexed."""
    refresh_all(backends)
    if second := backends.multilingual:
        second.refresh()
    _tell(changes, backends)
    for each in changes:
        if each.kind is ChangeKind.RETRACTED:
            answers = of_all_tenants(backends).answers
            answers.flag([found.answer_id for found in answers.citing(each.pmid)], each.pmid)
    backends.documents.mark_indexed({document.article.pmid: document.version for document in documents})
