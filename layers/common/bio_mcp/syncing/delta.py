"""The delta sync (`pubmed.sync_delta`): update the corpus to what PubMed has for a query, and lose nothing on the way.

A step lists a window of dates or applies a batch of records, and is durable before it is counted. The watermarks move
last, and only when every record that NCBI counted is in the corpus.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any

from bio_mcp.deadline import Deadline, Progress
from bio_mcp.errors import (
    NcbiFailed,
    NcbiQueryRejected,
    NcbiRateLimited,
    NcbiUnreadable,
    Unconfirmed,
)
from bio_mcp.jobs.runner import RunContext
from bio_mcp.literature.clock import moment, utc
from bio_mcp.literature.records import Article, ChangeKind, CorpusChange, Deletion
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import SearchPage
from bio_mcp.ports.state import Found, Job
from bio_mcp.query_terms import discard_unknown_words
from bio_mcp.syncing.applying import Change, Origin, apply_records
from bio_mcp.syncing.cursor import MISSING_DAYS, NAMED, CorpusRun, SyncCursor, SyncReport, first_few
from bio_mcp.syncing.windows import FIELDS, check_term, rewind, watermarks, windows
from bio_mcp.tenants import of_all_tenants

log = logging.getLogger(__name__)

KIND = "sync"
SAVE_S = 5.0  # between two saves of the progress within a batch
SMALLEST = 25  # an unreadable answer is halved down to this; the rest gets a last try at the end of the run
PATIENCE = 3  # consecutive batches that may fail before NCBI counts as down
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING: Mapping[str, str] = MappingProxyType({})

Fetched = tuple[list[Article | Deletion], list[str]]
"""The records, and the PMIDs whose fetch failed. PubMed has no record of the others that are absent."""


def lease_name(query_key: str) -> str:
    return f"{KIND}:{query_key}"


def sync_delta(
    query_key: str,
    term: str,
    overlap_days: int,
    backends: Backends,
    deadline: Deadline,
    progress: Progress,
    *,
    known_only: bool = False,
    max_records: int = 0,
    asks: bool = False,
    job_id: str | None = None,
    unattended: bool = False,
) -> SyncReport:
    """Run or resume the sync of `query_key`, as `JobRun.run` says.

    With `known_only` papers that match and that the corpus has are updated, whatever the watermark, and those that a
    project has are added; the others count as skipped. A new sync of more than `max_records` is refused; 0: none is.
    With `asks` what may be a typing error is `Unconfirmed`: another term than the key has had, and a new term that has
    a word that PubMed does not know, or finds nothing. Raises `InvalidInput` for a term with open brackets or of too
    many records, `NcbiQueryRejected` for one that NCBI cannot run, `Conflict` when another term of the key is being
    synced, and the failures of its ports.
    """
    request: dict[str, Any] = {"query_key": query_key, "term": check_term(term), "overlap_days": overlap_days}
    if known_only:
        request["known_only"] = True
    return SyncRun(RunContext(backends, deadline, progress, unattended), request, max_records, asks=asks).run(job_id)


class SyncRun(CorpusRun[SyncCursor]):
    kind, cursor_type = KIND, SyncCursor
    again = "start a new sync"

    def __init__(
        self, context: RunContext, request: dict[str, Any], max_records: int = 0, *, asks: bool = False
    ) -> None:
        super().__init__(context, request)
        self.key, self.term, self.max_records, self.asks = request["query_key"], request["term"], max_records, asks
        self._fetching = Fetching(self.backends, self.deadline)
        self._found_by_term = cache(lambda: self._searched.count)
        self._of_projects = cache(lambda: pmids_of_projects(self.backends))
        self.what = f"sync of {self.key!r}"
        self.starting = f"a sync of {self.key!r} is just starting, or runs with another term"

    def take_up(self, last: Job | None) -> tuple[Job, SyncCursor]:
        """The unfinished job of this very request, or a new one; other terms' jobs are untouched."""
        job, cursor = super().take_up(last)
        if last and not self.unattended:
            cursor.warn(*self._history(last))
        return job, cursor

    def _history(self, last: Job) -> list[str]:
        """Warnings about the newest job: that it stalled, or how it ended in the background."""
        if last.state == "stalled":
            return [f"{last.job_id} had stalled: {last.progress.get('error')}; it continues now"]
        if last.unfinished or last.progress.get("reported", True):
            return []
        result = self.result(last)
        return [
            f"{last.job_id}, which continued by itself, ended {result.state} at {result.ended}: "
            f"{result.inserted} inserted, {result.updated} updated, {result.skipped} skipped, {result.failed} failed"
        ]

    def plan(self, last: Job | None) -> SyncCursor:
        """The windows of a new job, whose term is noted as the one that is synced.

        An unfinished job of the same term with other options is abandoned; PMIDs that it missed are fetched first.
        Raises `Unconfirmed`, and `InvalidInput` for more than `max_records` records.
        """
        checkpoints, today = self.backends.checkpoints, self.backends.today()
        if self.asks:
            self._check_meant()
        if self.max_records:
            self._check_size()
        abandon(last, self.backends)
        before = checkpoints.get(self.key).term
        checkpoints.advance(self.key, self.term)
        cursor = self._planned(today)
        cursor.first = before is None
        if before not in (self.term, None):
            cursor.warn(f"{self.key!r} was synced with another term before; the papers of that term stay in the corpus")
        if last:
            cursor.ask_again(SyncCursor.from_json(last.cursor).missing)
        return cursor

    def _planned(self, today: date) -> SyncCursor:
        """Windows from the term's watermarks to `today`; a `known_only` sync reads from the first day, as the corpus
        may know more papers than it did when the watermark moved."""
        if self.request.get("known_only"):
            return SyncCursor(end=today, queue=windows({}, 0, today))
        checkpoint = self.backends.checkpoints.get(self.key, self.term)
        return SyncCursor(end=today, queue=windows(watermarks(checkpoint), self.request["overlap_days"], today))

    def _check_size(self) -> None:
        """Raise `InvalidInput`, which has the count, if PubMed has more than `max_records` records for a new sync.

        It costs one request, and three more where the term matches more.
        """
        most = self.max_records
        if (whole := self._found_by_term()) <= most:
            return
        new = sum(self._count(each.term(self.term)) for each in self._planned(self.backends.today()).queue)
        if (found := min(whole, new)) > most:
            raise Unconfirmed(
                f"PubMed has {found:,} records for this sync",
                f"More than {most:,} take a confirmation: give {found} here to read them all, or narrow the term",
                field="max_records",
                count=found,
                max_records=most,
                confirm={"max_records": found},
            )

    def _check_meant(self) -> None:
        """Raise `Unconfirmed`, which says why, for a term that the key has not had and that may be a typing error.

        A new term costs one request.
        """
        terms = [each.term for each in self.backends.checkpoints.all(self.key) if each.term is not None]
        if self.term in terms:
            return
        if terms:
            how = "Choose another key, or give confirm: true to follow the new term in its place"
            raise Unconfirmed(f"{self.key!r} follows another term: {terms[-1]}", how, confirm={"confirm": True})
        if unknown := self._searched.dropped:
            why = f"PubMed does not know {', '.join(repr(each) for each in unknown[:NAMED])}"
        elif not self._searched.count:
            why = f"PubMed finds nothing by {self.term}"
        else:
            return
        raise Unconfirmed(why, "Correct the term, or give confirm: true to follow it", confirm={"confirm": True})

    @cached_property
    def _searched(self) -> SearchPage:
        """What PubMed has by the term alone, of all days."""
        return self.backends.entrez.esearch(self.term, deadline=self.deadline, retmax=1)

    def _count(self, term: str) -> int:
        return self.backends.entrez.esearch(term, deadline=self.deadline, retmax=1).count

    def has_work(self) -> bool:
        cursor = self.cursor
        return cursor.done < len(cursor.pmids) or bool(cursor.queue) or cursor.retry_failed()

    def step(self) -> bool:
        """List a segment or apply a batch. False when time ran out in the middle of a batch."""
        cursor = self.cursor
        if cursor.done < len(cursor.pmids):
            return self._apply_batch(cursor.pmids[cursor.done : cursor.done + cursor.size])
        segment = cursor.queue[0]
        page = self.backends.entrez.esearch(segment.term(self.term), deadline=self.deadline)
        if page.day and self._is_planned_again(page.day):
            return True
        nothing = "PubMed finds nothing by this term, so nothing was synced; check its spelling"
        page = discard_unknown_words(page, self._found_by_term, nothing)
        cursor.warn(*page.warnings)
        left_out = set[str]()
        if self.request.get("known_only"):
            left_out = set(page.ids) - self.backends.documents.heads(page.ids).keys() - self._of_projects()
        cursor.list_segment(segment, page.count, page.ids, left_out)
        return True

    def may_go_on(self, in_batch: Mapping[str, str] = NOTHING) -> bool:
        """Renew the lease, report progress, and return whether there is time for another slice of a batch.

        Raises `Conflict` when the lease was lost: another run is at work, and nothing more may be written.
        """
        self.renew()
        cursor = self.cursor
        done, total = cursor.processed + len(in_batch), cursor.total
        if in_batch and abs(self.backends.now() - self.job.updated).total_seconds() >= SAVE_S:
            cursor.partial = {**in_batch, **cursor.partial}
            self.save("running")
        self.progress(done, total, f"{done:,} of {total:,} records")
        return super().may_go_on()

    def finish(self) -> bool:
        """Move the watermarks if every record is in the corpus.

        They move to the day before the run's end, since that day is still open. A `known_only` run moves none, as what
        it skipped was never read.
        """
        cursor = self.cursor
        shortfalls = [*cursor.shortfalls(), *self._unknown_days()]
        cursor.warn(*shortfalls)
        if given_up := cursor.undelivered()[1]:
            sentence = f"PubMed lists but has not delivered for {MISSING_DAYS} days, given up: {first_few(given_up)}"
            cursor.warn(sentence)
            log.warning(sentence, extra={"query_key": self.key, "job_id": self.job.job_id})
        if not shortfalls and not self.request.get("known_only"):
            newest = min(cursor.max_edat, f"{cursor.end}T23:59") if cursor.max_edat else None
            days = dict.fromkeys(FIELDS, str(cursor.end - timedelta(days=1)))
            others = {each.term for each in self.backends.checkpoints.all(self.key)} - {self.term, None}
            if self._is_first and not others:  # it read from the first day of the key's only term
                self.backends.news.set_whole(self.key)
            self.backends.checkpoints.advance(self.key, self.term, utc(newest) if newest else None, days)
        return not shortfalls

    @classmethod
    def report(cls, job: Job, cursor: SyncCursor, state: str, *notes: str, ended: str | None = None) -> SyncReport:
        """The counts include what became durable of a batch that stopped half-way."""
        counts = dict(cursor.counts)
        for change in cursor.partial.values():
            counts[change] += 1
        return SyncReport(
            job_id=job.job_id,
            state=state,
            **counts,
            failed=len(cursor.failed),
            processed=cursor.processed + len(cursor.partial),
            expected=cursor.total,
            max_edat=utc(cursor.max_edat) if cursor.max_edat else None,
            warnings=(*cursor.warnings, *notes),
            ended=ended,
        )

    def _is_planned_again(self, day: date) -> bool:
        """End the run at NCBI's own `day` where the clock here is ahead of it or behind it. True if its windows were
        planned again.

        That happens where they end days before that day, or the watermark is later than that day: they would then miss
        records that were never read. A run that goes on after midnight ends where it was to end.
        """
        cursor, ahead = self.cursor, (self.cursor.end - day).days
        behind = min(-ahead, (day - self.backends.today()).days)
        if ahead > 0 or behind > 1:
            cursor.end = day
        if ahead > 1:
            cursor.warn(f"the clock here is {ahead} days ahead of NCBI's; correct it")
        if behind > 1:
            cursor.warn(f"the clock here is {behind} days behind NCBI's; correct it: this sync went by NCBI's")
        rewound = rewind(self.request, self.backends, day) if ahead > 0 or not cursor.expected else None
        if rewound:
            cursor.warn(rewound)
        if rewound or behind > 1:
            cursor.queue, cursor.expected, cursor.listed = self._planned(day).queue, {}, {}
            return True
        return False

    def _unknown_days(self) -> list[str]:
        """Why the days of this run are in doubt: NCBI did not say its day, and the watermark is after the last one."""
        checkpoint = self.backends.checkpoints.get(self.key, self.term)
        latest = max(filter(None, watermarks(checkpoint).values()), default=self.cursor.end)
        if latest <= self.cursor.end:
            return []
        return [
            f"the clock here, at {self.cursor.end}, is behind the watermark of {self.key!r}, at {latest}, which stays; "
            "correct the clock and sync again"
        ]

    def _apply_batch(self, batch: list[str]) -> bool:
        """Fetch and apply a batch. False when time ran out; `cursor.partial` then has what is durable."""
        cursor, origin = self.cursor, Origin(since=self.backends.documents.deletions())
        records, lost = self._fetching.last_try(batch, cursor) if cursor.last_try else self._fetching.batch(batch)
        if lost and cursor.halve():
            return True
        applied = apply_records(records, self.backends, before_slice=self.may_go_on, origin=origin)
        changes = {**applied.changes, **cursor.partial}
        articles = [record for record in records if isinstance(record, Article)]
        if any(each.pmid not in changes for each in articles):
            cursor.partial = changes
            return False
        self._note_found(articles, changes)
        cursor.pass_batch(batch, changes, lost)
        seen = (*(each.edat for each in articles), cursor.max_edat)
        cursor.max_edat = max(filter(None, seen), default=None)
        return True

    def _note_found(self, records: Sequence[Article], changes: Mapping[str, str]) -> None:
        """Note which papers the query has found, so that they are known without asking PubMed again.

        What the first sync of a term finds is no news of today: each paper is news of the day on which it came to
        PubMed. So is a paper that the corpus had before, where an earlier version synced the key and did not note what
        it found. It is behind what people may have read, unless nobody can have read anything yet. A sync that looks
        for papers of the corpus alone finds nothing.
        """
        if self.request.get("known_only") or not records:
            return
        heads = self.backends.documents.heads(list(changes))
        is_whole = not self._is_first and self.backends.news.is_whole(self.key)
        found = []
        for each in records:
            if each.pmid in heads and each.pmid in changes:
                came = None
                if self._is_first or not (changes[each.pmid] == Change.INSERTED or is_whole):
                    day = each.edat or each.crdt
                    came = min(moment(utc(day)), self.backends.now()) if day else LONG_AGO
                found.append(Found(each.pmid, heads[each.pmid].version, came))
        self.backends.news.find(self.key, found, first=not self._is_settled)
        heads = self.backends.documents.heads([each.pmid for each in found])
        if gone := [each for each in found if each.pmid not in heads]:  # deleted by another run meanwhile
            self.backends.news.record([CorpusChange(ChangeKind.DELETED, each.pmid, each.version) for each in gone])

    @cached_property
    def _is_first(self) -> bool:
        return not self.backends.checkpoints.get(self.key, self.term).windows

    @cached_property
    def _is_settled(self) -> bool:
        return is_settled(self.key, self.backends)


def is_settled(query_key: str, backends: Backends) -> bool:
    """Whether a sync of the key, by any term, was ever complete. Until then papers come with times of their own, and so
    before others that were given already."""
    return backends.news.is_whole(query_key) or any(each.windows for each in backends.checkpoints.all(query_key))


def jobs_of(query_key: str, backends: Backends) -> list[Job]:
    """The newest job of each term of a query, newest first."""
    terms = (None, *(each.term for each in backends.checkpoints.all(query_key)))
    by_id = {job.job_id: job for term in terms if (job := backends.jobs.latest(KIND, query_key, term))}
    return sorted(by_id.values(), key=lambda job: job.number or 0, reverse=True)


def abandon(job: Job | None, backends: Backends) -> None:
    """End an unfinished job, since its windows are no longer valid; None and finished jobs are left."""
    if job and job.unfinished:
        job.state, job.updated = "failed", backends.now()
        backends.jobs.put(job)


def pmids_of_projects(backends: Backends) -> frozenset[str]:
    """PMIDs of the documents of all projects of every tenant.

    One that was retracted comes into the corpus, from where the hits of its project take their retraction status.
    """
    everything = of_all_tenants(backends)
    by_project = [everything.project_documents.all(each.project_id) for each in everything.projects.all()]
    return frozenset(each.work.pmid for documents in by_project for each in documents if each.work.pmid)


@dataclass
class Fetching:
    """EFetch for one call of a run, with the count of consecutive failures: unreadable answers are halved, and NCBI is
    left alone when it seems to be down."""

    backends: Backends
    deadline: Deadline
    failed_batches: int = 0

    def batch(self, pmids: list[str]) -> Fetched:
        """Fetch a batch. Raises NCBI's failure after `PATIENCE` consecutive batches without a record."""
        records, lost = self._fetch_halving(pmids)
        self.failed_batches = self.failed_batches + 1 if lost == pmids else 0
        if self.failed_batches >= PATIENCE:
            raise self._last_failure
        return records, lost

    def last_try(self, pmids: list[str], cursor: SyncCursor) -> Fetched:
        """Fetch PMIDs that failed before, once. An empty answer counts as valid here: PubMed does not have them.

        Raises NCBI's failure once in a run, when `LAST_PATIENCE` requests in a row have failed.
        """
        if cursor.ncbi_is_down:
            return [], pmids
        try:
            records = list(self.backends.entrez.efetch(pmids, deadline=self.deadline))
        except (NcbiRateLimited, NcbiQueryRejected):
            raise
        except NcbiFailed:
            cursor.failures += 1
            if cursor.break_off():
                raise
            return [], pmids
        cursor.failures = 0
        return records, []

    def _fetch_halving(self, pmids: list[str]) -> Fetched:
        """Fetch; an answer that cannot be read, or that has none of the PMIDs that NCBI lists, is fetched again in two
        halves, down to `SMALLEST`."""
        try:
            if records := list(self.backends.entrez.efetch(pmids, deadline=self.deadline)):
                return records, []
            raise NcbiUnreadable(f"NCBI sent none of the {len(pmids)} records that it lists; try again")
        except (NcbiRateLimited, NcbiQueryRejected):
            raise
        except NcbiFailed as failure:
            self._last_failure = failure
            if not isinstance(failure, NcbiUnreadable) or len(pmids) <= SMALLEST:
                return [], pmids
        middle = len(pmids) // 2
        first, second = self._fetch_halving(pmids[:middle]), self._fetch_halving(pmids[middle:])
        return first[0] + second[0], first[1] + second[1]
