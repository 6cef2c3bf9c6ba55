"""Import records from files into the corpus, in batches that are durable whatever happens next."""

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING

from bio_mcp.deadline import Progress, silent
from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.medline import OddRecord, open_records
from bio_mcp.literature.pubmed_files import order_of
from bio_mcp.literature.records import Article, Deletion, Document
from bio_mcp.ports import Backends
from bio_mcp.ports.messages import Workers
from bio_mcp.ports.stores import Embeddings, Passages
from bio_mcp.retrieval.chunking import abstract_text, sentence_spans
from bio_mcp.retrieval.passages import Entry
from bio_mcp.scope import one_index
from bio_mcp.syncing.applying import ANYWHERE, Change, Origin, apply_records, revise
from bio_mcp.syncing.indexing import SLICE, embedded, searched_index, slices
from bio_mcp.syncing.pubmed_files import ListedFile, finished, mark_finished, unmark

if TYPE_CHECKING:
    from concurrent.futures import Future

BATCH = 800  # records compared with the corpus and stored at once, of some 40 KB each in memory

AHEAD = 2  # batches per worker that are embedded, or wait to be, behind those that are written
MOST_WAITING = 4  # times as many pieces wait at most, where few papers of each are embedded

MOST_SENTENCES = 1_000  # of one abstract; PubMed's longest have forty
LONG_TEXT = 10_000  # characters; sentences of shorter abstracts are not counted
MOST_NAMED = 5  # odd records that a report names
ALLOCATIONS = 50_000  # of containers between two looks, in place of 700: those of some 300 records

Record = Article | Deletion


@contextmanager
def gc_paused() -> Iterator[None]:
    """Look for reference cycles rarely in this block, and never among what was there before: records have none.

    It is a setting of the process: a block in another thread meanwhile changes nothing, and ends with the first one.
    """
    usual = gc.get_threshold()
    if usual[0] >= ALLOCATIONS:
        yield
        return
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


@dataclass(slots=True)
class Piece:
    """Consecutive records that are settled together, and what the workers make of those that must be embedded.

    Which ones is a guess from what is stored while others are still being written: what turns out to be missing is
    embedded by the process that writes.
    """

    records: Sequence[Record]
    articles: Sequence[Article] = ()
    batches: "Sequence[Future[list[Entry | OddRecord]]]" = ()
    fingerprint: str = ""  # of the workers' model

    def embedded(self, documents: Sequence[Document], embeddings: Embeddings, passages: Passages) -> list[Entry]:
        """Do what `indexing.embedded` does, with the workers' entries where there are some of this model."""
        ours = self.made() if embeddings.fingerprint == self.fingerprint else ()
        made = {id(article): each for article, each in ours if isinstance(each, Entry)}
        rest = [document for document in documents if id(document.article) not in made]
        found = iter(embedded(rest, embeddings, passages) if rest else ())
        entries = [made.get(id(document.article)) or next(found) for document in documents]
        for document, entry in zip(documents, entries, strict=True):
            entry.version = document.version
        return entries

    def made(self) -> Iterator[tuple[Article, Entry | OddRecord]]:
        """Yield what the workers made of each article, or why it cannot be embedded. Raises what they fail with."""
        return zip(self.articles, chain.from_iterable(batch.result() for batch in self.batches), strict=True)


def pieces(
    records: Sequence[Record], backends: Backends, workers: Workers | None, origin: Origin = ANYWHERE
) -> Iterator[Piece]:
    """Cut records into pieces, in order, and have the workers begin with each; without workers, into one of all.

    A piece has as many papers to embed as the index is refreshed after, at least `SLICE`.
    """
    if workers is None:
        yield Piece(records)
        return
    articles = [record for record in records if isinstance(record, Article)]
    heads, gone = backends.documents.standing([article.pmid for article in articles])
    revisions = {id(each): revise(each, heads.get(each.pmid), gone.get(each.pmid), origin) for each in articles}
    changed = {known for known, (_, document) in revisions.items() if document}
    most = max(SLICE, backends.passages.refresh_after)
    start, part = 0, list[Article]()
    for end, record in enumerate(records, 1):
        if isinstance(record, Article) and id(record) in changed:
            part.append(record)
        if len(part) == most or end == len(records):
            with one_index():
                known = backends.passages.chunk_texts([each.pmid for each in part if each.pmid in heads])
            batches = [workers.prepare(batch, known) for batch in slices(part)]
            yield Piece(records[start:end], part, batches, workers.fingerprint)
            start, part = end, []


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


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """Size of the corpus: `documents` are stored, `indexed` of them can be found, as `chunks` passages."""

    documents: int
    indexed: int
    chunks: int


def corpus_size(backends: Backends) -> CorpusSize:
    with one_index():
        return CorpusSize(backends.documents.count(), *backends.passages.count())


@gc_paused()
def import_files(
    files: Sequence[ListedFile], backends: Backends, progress: Progress = silent, workers: Workers | None = None
) -> list[ImportReport]:
    """Bring the corpus to the state that the files describe, one after the other, deletions included, and return a
    report for each. Importing twice changes nothing.

    A failure to read a file ends it and is reported, and the next one follows; an odd record is left out and reported;
    a failure of a port is raised, and what was settled before it stays. Files of folders that need not be read again
    are not. `workers` embed what comes next while this process writes, in the same order as without them. `progress`
    is called with the bytes settled, of all, and the number of records.
    """
    reports = [ImportReport(**{**counts, "finished_before": True}) for counts in finished(files, backends)]
    if workers:
        with searched_index(backends):  # it is there before the workers are asked for what it lacks
            pass
    rest = [(file, ImportReport()) for file in files[len(reports) :]]
    total, settled, records = sum(file.size for file, _ in rest), 0.0, 0
    for step in _ahead(chain.from_iterable(_steps(*each, backends, workers) for each in rest), workers):

        def applied_to(done: Sized, step: _Step = step, before: tuple[float, int] = (settled, records)) -> bool:
            share = len(done) / max(len(step.piece.records), 1)
            progress(round(before[0] + step.size * share), total, str(before[1] + len(done)))
            return True

        _apply(step, backends, applied_to)
        settled, records = settled + step.size, records + len(step.piece.records)
        if step.is_last and step.report.problem is None:
            mark_finished(step.file, asdict(step.report), backends)
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
    left = float(file.size)
    for part, size in _batches(file, report):
        for piece in pieces(part, backends, workers, _origin_of(file)):
            yield _Step(file, report, piece, size * len(piece.records) / len(part))
        left -= size
    yield _Step(file, report, Piece([]), left, is_last=True)


def _ahead(steps: Iterable[_Step], workers: Workers | None) -> Iterator[_Step]:
    """Yield the steps, in order, each when those behind it give the workers enough to do."""
    ahead = workers.count * AHEAD if workers else 0
    waiting: deque[_Step] = deque()
    for step in steps:
        waiting.append(step)
        while waiting and (
            len(waiting) > MOST_WAITING * ahead
            or sum(len(step.piece.batches) for step in islice(waiting, 1, None)) >= ahead
        ):
            yield waiting.popleft()
    yield from waiting


def _origin_of(file: ListedFile) -> Origin:
    return Origin(order_of(file.path.name))


def _apply(step: _Step, backends: Backends, applied_to: Callable[[Sized], bool]) -> None:
    """Apply the records of a piece but those that cannot be embedded, and count them in its report."""
    piece, report, origin = step.piece, step.report, _origin_of(step.file)
    odd = {article.pmid: each for article, each in piece.made() if isinstance(each, OddRecord)}
    for each in odd.values():
        report.leave_out(each)
    records = [record for record in piece.records if isinstance(record, Deletion) or record.pmid not in odd]
    applied = apply_records(records, backends, before_slice=applied_to, embed=piece.embedded, origin=origin)
    changes = list(applied.changes.values())
    report.read += len(records)
    report.inserted += changes.count(Change.INSERTED)
    report.updated += changes.count(Change.UPDATED)
    report.skipped += changes.count(Change.SKIPPED)
    report.deleted += applied.removed
    applied_to(piece.records)


def _batches(file: ListedFile, report: ImportReport) -> Iterator[tuple[list[Record], int]]:
    """Yield records in batches, each with the bytes of the file that it took. A failure to read ends them, after what
    came before, and is noted in `report`."""
    part, position, before, at = list[Record](), 0, 0, deque([0], maxlen=1)
    try:
        file.check()
        for position, record in enumerate(map(odd_if_endless, open_records(file.path, at.append)), 1):
            if isinstance(record, OddRecord):
                report.leave_out(record, position)
                continue
            part.append(record)
            if len(part) == BATCH:
                yield part, at[0] - before
                part, before = [], at[0]
    except OddRecord as too_large:
        report.problem = f"record {position + 1}: {too_large}"
    except (InvalidInput, NcbiUnreadable) as problem:
        report.problem = str(problem)
    if part:
        yield part, at[0] - before


def odd_if_endless(record: Article | Deletion | OddRecord) -> Article | Deletion | OddRecord:
    """Turn an article into an `OddRecord` if it has so many sentences that embedding it would block all others."""
    if (
        isinstance(record, Article)
        and (sum([len(each.text) + len(each.label or "") + 3 for each in record.abstract]) > LONG_TEXT)
        and len(sentence_spans(abstract_text(record))) > MOST_SENTENCES
    ):
        return OddRecord(f"The abstract of PMID {record.pmid} has more than {MOST_SENTENCES:,} sentences.")
    return record
