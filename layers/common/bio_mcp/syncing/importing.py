"""Bringing records from files into the corpus, in batches that stay whatever happens next."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.records import Article, Deletion
from bio_mcp.ports import Backends
from bio_mcp.syncing.revisions import Change
from bio_mcp.syncing.settling import settle

BATCH = 200  # records compared with the corpus at once; bounds the memory of an import

Progress = Callable[[int], None]


@dataclass(slots=True)
class ImportReport:
    """What became of the records of one file.

    `read` counts records, deletions and superseded versions included; the others count articles, `deleted` those that
    had been there. `problem` says why the records ended too early, None when they did not: everything before that is
    in the corpus.
    """

    read: int = 0
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    deleted: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """`documents` are stored, `indexed` of them can be found, as `chunks` passages."""

    documents: int
    indexed: int
    chunks: int


def corpus_size(backends: Backends) -> CorpusSize:
    """How much is in the corpus."""
    return CorpusSize(backends.documents.count(), *backends.passages.count())


def import_records(
    records: Iterable[Article | Deletion],
    backends: Backends,
    progress: Progress = lambda _records: None,
    batch: int = BATCH,
) -> ImportReport:
    """Bring the corpus to the state that `records` describe, deletions included; doing it again changes nothing.

    `progress` is told how many records have been dealt with so far. A failure of `records` to be read ends them and
    is reported; a failure of a port is raised, and what was settled before it stays.
    """
    report = ImportReport()
    for part in _batches(records, batch, report):

        def tell(done: int, before: int = report.read) -> bool:
            progress(before + done)
            return True

        withdrawn = [record.pmid for record in part if isinstance(record, Deletion)]
        report.deleted += len(backends.documents.heads(withdrawn)) if withdrawn else 0
        settled = settle(part, backends, before_slice=tell)
        changes = list(settled.changes.values())
        report.read += len(part)
        report.inserted += changes.count(Change.INSERTED)
        report.updated += changes.count(Change.UPDATED)
        report.skipped += changes.count(Change.SKIPPED)
        progress(report.read)
    return report


def _batches(
    records: Iterable[Article | Deletion], size: int, report: ImportReport
) -> Iterator[list[Article | Deletion]]:
    part: list[Article | Deletion] = []
    try:
        for record in records:
            part.append(record)
            if len(part) == size:
                yield part
                part = []
    except (InvalidInput, NcbiUnreadable) as problem:
        report.problem = str(problem)
    if part:
        yield part
