"""Import records from files into the corpus, in batches that are durable whatever happens next."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.medline import OddRecord
from bio_mcp.literature.records import Article, Deletion
from bio_mcp.ports import Backends
from bio_mcp.progress import Progress, silent
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.sentences import sentence_spans
from bio_mcp.syncing.revisions import Change
from bio_mcp.syncing.settling import settle

BATCH = 200  # records compared with the corpus at once; bounds the memory of an import

MOST_SENTENCES = 1_000  # of one abstract; PubMed's longest have forty
LONG_TEXT = 10_000  # characters; sentences of shorter abstracts are not counted
MOST_NAMED = 5  # odd records that a report names


@dataclass(slots=True)
class ImportReport:
    """Result of the import of one file.

    `read` counts records, deletions and superseded versions included; the others count articles, `deleted` those that
    were in the corpus. `problem` says why reading ended early, None when it did not; everything before it is in the
    corpus. `odd` counts records that were left out, and `reasons` names the first of them.
    """

    read: int = 0
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    deleted: int = 0
    odd: int = 0
    reasons: list[str] = field(default_factory=list)
    problem: str | None = None

    def leave_out(self, position: int, odd: OddRecord) -> None:
        """Note an odd record at this position of the file, counted from 1."""
        self.odd += 1
        if len(self.reasons) < MOST_NAMED:
            self.reasons.append(f"record {position}: {odd}")


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """Size of the corpus: `documents` are stored, `indexed` of them can be found, as `chunks` passages."""

    documents: int
    indexed: int
    chunks: int


def corpus_size(backends: Backends) -> CorpusSize:
    """Count documents and passages."""
    return CorpusSize(backends.documents.count(), *backends.passages.count())


def import_records(
    records: Iterable[Article | Deletion | OddRecord],
    backends: Backends,
    progress: Progress = silent,
    batch: int = BATCH,
) -> ImportReport:
    """Bring the corpus to the state that `records` describe, deletions included. Importing twice changes nothing.

    `progress` is called with the number of records settled so far. A failure to read `records` ends the import and is
    reported; an odd record is left out and reported; a failure of a port is raised, and what was settled before it
    stays.
    """
    report = ImportReport()
    for part in _batches(records, batch, report):

        def report_progress(done: Mapping[str, str], before: int = report.read) -> bool:
            progress(before + len(done), None, "")
            return True

        withdrawn = [record.pmid for record in part if isinstance(record, Deletion)]
        report.deleted += len(backends.documents.heads(withdrawn)) if withdrawn else 0
        settled = settle(part, backends, before_slice=report_progress)
        changes = list(settled.changes.values())
        report.read += len(part)
        report.inserted += changes.count(Change.INSERTED)
        report.updated += changes.count(Change.UPDATED)
        report.skipped += changes.count(Change.SKIPPED)
        progress(report.read, None, "")
    return report


def _batches(
    records: Iterable[Article | Deletion | OddRecord], size: int, report: ImportReport
) -> Iterator[list[Article | Deletion]]:
    """Yield records in batches. A failure to read ends them, after what came before, and is noted in `report`."""
    part: list[Article | Deletion] = []
    position = 0
    try:
        for position, record in enumerate(map(_odd_if_endless, records), 1):
            if isinstance(record, OddRecord):
                report.leave_out(position, record)
                continue
            part.append(record)
            if len(part) == size:
                yield part
                part = []
    except OddRecord as too_large:
        report.problem = f"record {position + 1}: {too_large}"
    except (InvalidInput, NcbiUnreadable) as problem:
        report.problem = str(problem)
    if part:
        yield part


def _odd_if_endless(record: Article | Deletion | OddRecord) -> Article | Deletion | OddRecord:
    """Turn an article into an `OddRecord` if it has so many sentences that embedding it would block all others."""
    if isinstance(record, Article):
        text = abstract_text(record)
        if len(text) > LONG_TEXT and len(sentence_spans(text)) > MOST_SENTENCES:
            return OddRecord(f"The abstract of PMID {record.pmid} has more than {MOST_SENTENCES:,} sentences.")
    return record
