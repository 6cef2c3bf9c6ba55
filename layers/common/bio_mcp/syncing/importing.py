"""Import records from files into the corpus, in batches that are durable whatever happens next."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from typing import Any

from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.medline import OddRecord, open_records
from bio_mcp.literature.records import Article, Deletion
from bio_mcp.one_index import one_index
from bio_mcp.ports import Backends
from bio_mcp.ports.workers import Workers
from bio_mcp.progress import Progress, silent
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.sentences import sentence_spans
from bio_mcp.syncing.ahead import Piece, pieces
from bio_mcp.syncing.finished_files import finished, mark_finished, unmark
from bio_mcp.syncing.garbage import rarely_collected
from bio_mcp.syncing.indexing import searched_index
from bio_mcp.syncing.listed_files import ListedFile
from bio_mcp.syncing.revisions import Change
from bio_mcp.syncing.settling import settle

BATCH = 800  # records compared with the corpus and stored at once, of some 40 KB each in memory

AHEAD = 2  # batches per worker that are embedded, or wait to be, behind those that are written
MOST_WAITING = 4  # times as many pieces wait at most, where few papers of each are embedded

MOST_SENTENCES = 1_000  # of one abstract; PubMed's longest have forty
LONG_TEXT = 10_000  # characters; sentences of shorter abstracts are not counted
MOST_NAMED = 5  # odd records that a report names


@dataclass(slots=True)
class ImportReport:
    """Result of the import of one file.

    `read` counts records, deletions and superseded versions included; the others count articles, `deleted` those that
    were in the corpus. `problem` says why reading ended early, None when it did not; everything before it is in the
    corpus. `odd` counts records that were left out, and `reasons` names the first of them. `finished_before`: an
    earlier import counted all that, and the file was not read again.
    """

    read: int = 0
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    deleted: int = 0
    odd: int = 0
    reasons: list[str] = field(default_factory=list)
    problem: str | None = None
    finished_before: bool = False

    def leave_out(self, odd: OddRecord, position: int | None = None) -> None:
        """Note an odd record, by its position in the file, counted from 1, where it has no PMID."""
        self.odd += 1
        if len(self.reasons) < MOST_NAMED:
            self.reasons.append(f"record {position}: {odd}" if position else str(odd))

    @property
    def counts(self) -> dict[str, Any]:
        """What is noted of a finished file."""
        counts = asdict(self)
        del counts["finished_before"]
        return counts


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """Size of the corpus: `documents` are stored, `indexed` of them can be found, as `chunks` passages."""

    documents: int
    indexed: int
    chunks: int


def corpus_size(backends: Backends) -> CorpusSize:
    """Count documents and passages."""
    with one_index():
        return CorpusSize(backends.documents.count(), *backends.passages.count())


@rarely_collected()
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

        def settled_to(done: int, before: int = report.read) -> None:
            progress(before + done, None, "")

        _settle(Piece(part), report, backends, settled_to)
    return report


@rarely_collected()
def import_files(
    files: Sequence[ListedFile], backends: Backends, progress: Progress = silent, workers: Workers | None = None
) -> list[ImportReport]:
    """Import the files one after the other, as `import_records` does, and return a report for each.

    After a broken file the next one follows. `workers` embed what comes next while this process writes, in the same
    order as without them. Files of folders that need not be read again are not. `progress` is called with the bytes
    settled, of all, and the number of records.
    """
    reports = [ImportReport(**counts, finished_before=True) for counts in finished(files, backends)]
    if workers:
        with searched_index(backends):  # it is there before the workers are asked for what it lacks
            pass
    rest = [(file, ImportReport()) for file in files[len(reports) :]]
    count = _Count(progress, sum(file.size for file, _ in rest))
    for step in _ahead(chain.from_iterable(_steps(*each, backends, workers) for each in rest), workers):
        _settle(step.piece, step.report, backends, count.along(step))
        if step.is_last and step.report.problem is None:
            mark_finished(step.file, step.report.counts, backends)
    return [*reports, *(report for _, report in rest)]


@dataclass(frozen=True, slots=True)
class _Step:
    """A piece of a file: `size` bytes of it, after which it may end."""

    file: ListedFile
    report: ImportReport
    piece: Piece
    size: float
    is_last: bool = False


def _steps(file: ListedFile, report: ImportReport, backends: Backends, workers: Workers | None) -> Iterator[_Step]:
    """Yield the pieces of the file, the last one empty. What keeps it from being read is noted in `report`."""
    unmark(file, backends)
    at = before = 0

    def read(position: int) -> None:
        nonlocal at
        at = position

    def records() -> Iterator[Article | Deletion | OddRecord]:
        file.check()
        yield from open_records(file.path, read)

    for part in _batches(records(), BATCH, report):
        for piece in pieces(part, backends, workers):
            yield _Step(file, report, piece, (at - before) * len(piece.records) / len(part))
        before = at
    yield _Step(file, report, Piece([]), file.size - before, is_last=True)


def _ahead(steps: Iterable[_Step], workers: Workers | None) -> Iterator[_Step]:
    """Yield the steps, in order, each when those behind it give the workers enough to do."""
    ahead = workers.count * AHEAD if workers else 0
    waiting: deque[_Step] = deque()
    for step in steps:
        waiting.append(step)
        while waiting and (len(waiting) > MOST_WAITING * ahead or _batches_behind(waiting) >= ahead):
            yield waiting.popleft()
    yield from waiting


def _batches_behind(waiting: Iterable[_Step]) -> int:
    return sum(len(step.piece.batches) for step in islice(waiting, 1, None))


class _Count:
    """Counts the bytes and records of all files that are settled."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total = progress, total
        self._bytes, self._records = 0.0, 0

    def along(self, step: _Step) -> Callable[[int], None]:
        """Count this step; what is returned reports it, given how many of its records are settled."""
        bytes_before, records_before, records = self._bytes, self._records, len(step.piece.records)
        self._bytes, self._records = bytes_before + step.size, records_before + records

        def report(done: int) -> None:
            at = bytes_before + step.size * done / max(records, 1)
            self._progress(round(at), self._total, str(records_before + done))

        return report


def _settle(piece: Piece, report: ImportReport, backends: Backends, settled_to: Callable[[int], None]) -> None:
    """Settle the records of a piece but those that cannot be embedded, and count them in `report`."""
    odd = piece.odd()
    for each in odd.values():
        report.leave_out(each)
    records = [record for record in piece.records if isinstance(record, Deletion) or record.pmid not in odd]

    def report_progress(done: Mapping[str, str]) -> bool:
        settled_to(len(done))
        return True

    withdrawn = [record.pmid for record in records if isinstance(record, Deletion)]
    report.deleted += len(backends.documents.heads(withdrawn)) if withdrawn else 0
    settled = settle(records, backends, before_slice=report_progress, embed=piece.embedded)
    changes = list(settled.changes.values())
    report.read += len(records)
    report.inserted += changes.count(Change.INSERTED)
    report.updated += changes.count(Change.UPDATED)
    report.skipped += changes.count(Change.SKIPPED)
    settled_to(len(piece.records))


def _batches(
    records: Iterable[Article | Deletion | OddRecord], size: int, report: ImportReport
) -> Iterator[list[Article | Deletion]]:
    """Yield records in batches. A failure to read ends them, after what came before, and is noted in `report`."""
    part: list[Article | Deletion] = []
    position = 0
    try:
        for position, record in enumerate(map(odd_if_endless, records), 1):
            if isinstance(record, OddRecord):
                report.leave_out(record, position)
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


def odd_if_endless(record: Article | Deletion | OddRecord) -> Article | Deletion | OddRecord:
    """Turn an article into an `OddRecord` if it has so many sentences that embedding it would block all others."""
    if isinstance(record, Article) and _is_long(record) and len(sentence_spans(abstract_text(record))) > MOST_SENTENCES:
        return OddRecord(f"The abstract of PMID {record.pmid} has more than {MOST_SENTENCES:,} sentences.")
    return record


def _is_long(article: Article) -> bool:
    return sum([len(each.text) + len(each.label or "") + 3 for each in article.abstract]) > LONG_TEXT
