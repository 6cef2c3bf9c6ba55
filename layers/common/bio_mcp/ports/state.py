"""How far queries were synced, jobs, leases, and the log of changes made by hand."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from bio_mcp.literature.clock import earlier, later, sortable
from bio_mcp.literature.records import ChangeKind, CorpusChange

NOWHERE: Mapping[str, str] = MappingProxyType({})
"""No watermarks."""
TERMS_BYTES = 200_000  # of the terms of one key; the one synced longest ago is dropped first, and read from the start


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The watermarks of a named query for one term. `last_edat` is the newest entry date seen, ISO 8601 UTC.

    `windows` has one watermark per date field ("edat", "crdt", "mdat"): a day in US Eastern, YYYY-MM-DD. A checkpoint
    without a term passes to the term that is synced next.
    """

    query_key: str
    last_edat: str | None = None
    windows: Mapping[str, str] = field(default_factory=dict)
    term: str | None = None

    def advanced(self, last_edat: str | None, windows: Mapping[str, str]) -> "Checkpoint":
        """This checkpoint with each later watermark taken over; none moves back."""
        later_days = {name: later(self.windows.get(name), day) or day for name, day in windows.items()}
        newest = later(self.last_edat, last_edat)
        return replace(self, last_edat=newest, windows={**self.windows, **later_days})

    def drawn_back(self, last_edat: str | None, windows: Mapping[str, str]) -> "Checkpoint":
        """This checkpoint with each earlier watermark taken over; none moves forward."""
        days = {name: min(day, windows.get(name, day)) for name, day in self.windows.items()}
        return replace(self, last_edat=earlier(self.last_edat, last_edat), windows=days)


@dataclass(frozen=True, slots=True)
class KeyCheckpoints:
    """The checkpoints of one query key, one per term; the last is the term that was synced last.

    A watermark says nothing about the records of another term, so each term starts with none, at the first day.
    """

    query_key: str
    terms: tuple[Checkpoint, ...] = ()

    def of(self, term: str | None) -> Checkpoint:
        """The checkpoint of `term`, or of the term synced last if None; an empty one where there is none."""
        if term is None:
            return self.terms[-1] if self.terms else Checkpoint(self.query_key)
        matching = [each for each in self.terms if each.term in (term, None)]
        best = max(matching, key=lambda each: each.term is not None, default=Checkpoint(self.query_key))
        return replace(best, term=term)

    def advanced(self, term: str, last_edat: str | None, windows: Mapping[str, str]) -> "KeyCheckpoints":
        """A copy with the watermarks of `term` moved forward; it takes over a checkpoint that has no term yet.

        Terms that were synced longest ago are dropped while the terms of the key exceed `TERMS_BYTES`.
        """
        others = [each for each in self.terms if each.term not in (term, None)]
        checkpoint = self.of(term).advanced(last_edat, windows)
        room = TERMS_BYTES
        while others and sum(len((each.term or "").encode()) for each in others) > room:
            others.pop(0)
        return KeyCheckpoints(self.query_key, (*others, checkpoint))

    def moved(self, term: str | None, last_edat: str | None, windows: Mapping[str, str]) -> "KeyCheckpoints":
        """A copy with the watermarks of `term` moved anywhere.

        Without a term it is the one synced last, and every other term is drawn back with it.
        """
        moved = replace(self.of(term), last_edat=last_edat, windows=dict(windows))
        if term is None:
            others = [each.drawn_back(last_edat, windows) for each in self.terms[:-1]]
        else:
            others = [each for each in self.terms if each.term not in (term, None)]
        return KeyCheckpoints(self.query_key, (*others, moved))


class Checkpoints(Protocol):
    """The watermarks of each query key and term, as `KeyCheckpoints` says. Every method may raise `StoreFailed`.

    A change is atomic: all watermarks of a call move together, whatever others write in between. It may raise
    `Conflict` where many move the same key at once; nothing was written then.
    """

    def get(self, query_key: str, term: str | None = None) -> Checkpoint:
        """Return the checkpoint of a term, or of the term that was synced last; an empty one where there is none."""

    def advance(
        self, query_key: str, term: str, last_edat: str | None = None, windows: Mapping[str, str] = NOWHERE
    ) -> Checkpoint:
        """Move forward each watermark of the term that is later than the stored one; returns what stands now.

        The term is now the one that was synced last; with nothing to move it is recorded as begun.
        """

    def set(
        self, query_key: str, last_edat: str | None, windows: Mapping[str, str], term: str | None = None
    ) -> Checkpoint:
        """Move the watermarks of a term anywhere, backwards too; returns what stood before.

        Without a term it is the one that was synced last, and the others go back with it, never forward.
        """

    def all(self, query_key: str | None = None) -> list[Checkpoint]:
        """Return every checkpoint, or those of a key, by query key; within a key the last is the one synced last."""

    def remove(self, query_key: str) -> list[Checkpoint]:
        """Delete every checkpoint of the key; returns what stood."""


@dataclass(slots=True)
class Job:
    """A long piece of work. `cursor` is the state that a later run resumes from; `progress` is for people.

    `number` is given out by the store when the job is first put, and orders the jobs: a later one has a higher number,
    whatever the clocks say. Jobs of versions that gave out none come first, by the times when they were made.
    `state`: running, waiting (will continue), stalled (until somebody syncs again), succeeded, failed, cancelled.
    `progress` of a sync: processed, expected, error (why its last run ended early), reported (its result was returned).
    """

    job_id: str
    kind: str
    state: str
    created: datetime
    updated: datetime
    request: dict[str, Any] = field(default_factory=dict)
    cursor: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)
    number: int | None = field(default=None, compare=False)

    @property
    def unfinished(self) -> bool:
        """Whether there is work left that a run may resume."""
        return self.state in {"running", "waiting", "stalled"}

    @property
    def lease(self) -> str:
        """Name of the lease that whoever works on the job holds."""
        return f"{self.kind}:{self.request['query_key']}"


class Jobs(Protocol):
    """Long pieces of work, by id. Every method may raise `StoreFailed`.

    A store may drop a job half a year after its last change.
    """

    def get(self, job_id: str) -> Job:
        """Return the job. Raises `NotFound`."""

    def put(self, job: Job) -> None:
        """Store the job in place of what it was, and note its `number`; one that was cancelled stays as it is."""

    def is_cancelled(self, job_id: str) -> bool:
        """Return whether the job exists and was cancelled."""

    def remove(self, job: Job) -> None:
        """Delete the job, finished or not; an unknown one changes nothing."""

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        """Return the newest job of this kind with this `request["query_key"]`, whatever its state.

        With a term, the newest of those that have it as `request["term"]`.
        """

    def newest(self, kind: str, most: int) -> list[Job]:
        """Return the newest jobs of this kind, `most` at most, the newest first, whatever their state.

        A store may know only the last 200 of a kind.
        """


@dataclass(frozen=True, slots=True)
class Hold:
    """A lease as one holder has it. Its store counts `number` up whenever the lease passes to another.

    `store` says where the lease is kept, for who checks it there. While a hold is the call's (`scope.holding`), what
    its store's engine writes is refused in the same transaction once the lease has passed on: `Conflict` is raised.
    On SQLite that is every write to the file; on DynamoDB all that is put or deleted, and every transaction.
    """

    name: str
    number: int
    store: str


class Leases(Protocol):
    """At most one holder per name. Every method may raise `StoreFailed`."""

    def acquire(self, name: str, holder: str, seconds: float) -> Hold | None:
        """Take or extend the lease for `seconds` from now; None while another holder's has not run out.

        The hold of one that is extended is the same; one that passed to another in between has a new number.
        """

    def take(self, name: str) -> Hold:
        """Take the lease from whoever has it, and leave it free for the next: the hold is good until somebody else
        takes or acquires it. Raises `Conflict` under a hold of another lease that has passed on."""

    def release(self, name: str, holder: str) -> None:
        """End the lease if `holder` has it; another holder's stays."""


class Audit(Protocol):
    """The log of changes made by hand; it is only ever added to. Not idempotent: each call adds a record."""

    def record(self, action: str, subject: str, before: Any, after: Any, caller: str | None = None) -> None:
        """Append a record. `before` and `after` are JSON values; `caller` is who asked, where known.

        Raises `StoreFailed`.
        """


@dataclass(frozen=True, slots=True)
class Found:
    """A paper that a sync of a query found. `at` is when it came to PubMed, where that is the news; None: it is now."""

    pmid: str
    version: int
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewsEntry:
    """What became of a paper of a query key, at `version` of the corpus; `at` has microseconds.

    `number` is given out by the store, to each write for the key a higher one; 0 for a paper of the first sync that has
    a time of its own, and for an entry of a version that gave out none. Two entries of a key differ in kind, PMID or
    version.
    """

    at: datetime
    kind: ChangeKind
    pmid: str
    version: int
    number: int = field(default=0, compare=False)

    @property
    def position(self) -> str:
        """Where it is among the entries of its key: those without a number come first, by their times, the others by
        number; then by PMID, version and kind."""
        numbered = f"{NUMBERED}{self.number:012} " if self.number else ""
        return f"{numbered}{sortable(self.at)} {self.pmid:0>10} {self.version:0>6} {self.kind.value}"


NUMBERED = "n"  # begins the positions of entries with a number: behind every time


def divided(after: str) -> tuple[str, str]:
    """The position of what `News.since` takes, and the time from which on entries are wanted that have a number.

    That is "" behind a position alone. A time by itself is both; else it stands behind the position.
    """
    words = after.split(" ")
    if len(words) == 1:
        return after, after
    return (after, "") if len(words) == 4 or after.startswith(NUMBERED) else (" ".join(words[:-1]), words[-1])


def going_on(after: str, entry: NewsEntry) -> str:
    """What `News.since` takes, for what comes behind an entry that it gave for `after`."""
    _, time = divided(after)
    return entry.position if entry.number or not time else f"{entry.position} {time}"


class News(Protocol):
    """The papers of each query key and their news. Every method may raise `StoreFailed`.

    None comes before one that was given, whatever the clocks say, but for papers of a first sync.
    """

    def find(self, query_key: str, papers: Sequence[Found], *, first: bool = False) -> None:
        """Note that the query finds these papers; each that it has not found before is new.

        In the `first` sync of the key papers come in the order of their own times, where they have one; later each
        comes behind all entries that there are. At most one process calls it for a query key at once.
        """

    def record(self, changes: Sequence[CorpusChange]) -> None:
        """Enter each change, but for new papers, for every query key that has found its paper; once for each key.

        A paper that was deleted is of no key any more.
        """

    def since(self, query_key: str, after: str, limit: int, *, newest_first: bool = False) -> list[NewsEntry]:
        """Return the first `limit` entries behind `after`, from the oldest or from the newest on.

        `after` is a position; a time, as `sortable` writes one; or a position, a space and a time, as `divided` says.
        """

    def pmids(self, query_key: str) -> Iterator[str]:
        """Yield the PMIDs of the key in numeric order; one that is found or deleted meanwhile may be among them."""

    def is_whole(self, query_key: str) -> bool:
        """Return whether every paper that the query found is noted: false for one that an earlier version synced."""

    def set_whole(self, query_key: str) -> None:
        """Note that every paper of the query was found from the first day on."""

    def read_to(self, query_key: str, reader: str) -> str:
        """Return the position up to which a reader has read the news of the key; "" where nothing was read."""

    def mark_read(self, query_key: str, reader: str, position: str) -> None:
        """Note that a reader has read the news of the key up to `position`; it never goes back."""

    def forget(self, query_key: str) -> None:
        """Delete all that is noted of the key, and what was read; stopped half-way, the call may be repeated."""


class LoadFiles(Protocol):
    """Files by `folder/name`; a put replaces. Every method may raise `StoreFailed`."""

    def tags(self, folder: str) -> dict[str, str]:
        """Return the names in a folder, without it, each with a tag that differs when the content does."""

    def get(self, key: str) -> bytes:
        """Return a file. Raises `NotFound`."""

    def put(self, key: str, content: bytes | Path) -> str:
        """Store a file, or what is in one; returns where in the bucket it is."""

    def download(self, key: str, into: Path, tag: str) -> None:
        """Write a file to `into`. Raises `NotFound` where it is gone or has another tag."""

    def delete(self, key: str) -> None:
        """Delete a file; one that is not there changes nothing."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a load. `state` is running, succeeded, failed, timed_out or aborted."""

    name: str
    state: str
    began: datetime
    ended: datetime | None = None
    given: Mapping[str, Any] = field(default_factory=dict)


class LoadRuns(Protocol):
    """The machine that takes the steps of loads. Every method may raise `StoreFailed`."""

    def start(self, given: Mapping[str, Any]) -> str:
        """Begin a run, and return its name. Raises `Conflict` while another one runs."""

    def get(self, name: str = "") -> Run | None:
        """Return a run, or the one that began last; None before the first. Raises `NotFound` for an unknown name."""


@dataclass(frozen=True, slots=True)
class Charge:
    """`amount` units of what `account` uses, of which it may use `most` in each period of `seconds`, by UTC.

    `account` names a caller or a tenant, `unit` what is used: calls, ncbi, embeddings or model_tokens. A negative
    `amount` gives back what was charged and not used; it is always granted.
    """

    account: str
    unit: str
    amount: int
    most: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a charge leaves: `left` units until the period ends, in `resets_s` seconds.

    `granted` is whether it was charged: all charges of a call are, or none is.
    """

    charge: Charge
    granted: bool
    left: int
    resets_s: float


class Budgets(Protocol):
    """Budgets of every process together. Every method may raise `StoreFailed`."""

    def spend(self, charges: Sequence[Charge]) -> list[Allowance]:
        """Charge all of them, or none if one would exceed its budget; returns an allowance for each, in order.

        Not idempotent: each call charges again; an amount of 0 only asks what is left. Of calls at the same moment
        together no more is granted than `most`.
        """


@dataclass(frozen=True, slots=True)
class Authorization:
    """A record of one `kind` under `key`, which is a hash where the key is a secret; it is gone at `expires`.

    `owner` is whose it is, such as a subject or a family of refresh tokens: `Authorizations.revoke` ends all of one.
    `content` is a JSON object.
    """

    kind: str
    key: str
    owner: str
    expires: datetime
    content: Mapping[str, Any]


class Authorizations(Protocol):
    """Authorizations by kind and key; what has expired is as if it had never been. Every method may raise
    `StoreFailed`.

    Every write is seen by the next call of any process.
    """

    def put(self, authorization: Authorization, *, new: bool = False) -> bool:
        """Store it, in place of the one of its kind and key; or, if it must be `new`, unless there is one. Returns
        whether it was stored."""

    def get(self, kind: str, key: str) -> Authorization | None:
        """Return it; None if there is none."""

    def take(self, kind: str, key: str) -> Authorization | None:
        """Return and delete it: of all who ask at once, one alone gets it. Not idempotent."""

    def of(self, kind: str, owner: str) -> list[Authorization]:
        """Return every one of this kind and owner, by key."""

    def revoke(self, owner: str) -> int:
        """Delete every one of this owner, of every kind; returns how many there were."""


Backends = Any  # of `bio_mcp.ports`, which has this module


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call with what its answer depended on.

    `inputs` names each input that may move, with a token that changes when it does: corpus, model, rules, code.
    `read` has what the tool was given by the stores, as `recording` noted it, compressed. `latency_ms` is how long
    the call took; None where an older version recorded it.
    """

    correlation_id: str
    tool: str
    arguments: Mapping[str, Any]
    in_hash: str
    out_hash: str
    status: str
    at: datetime
    inputs: Mapping[str, str] = field(default_factory=dict)
    read: bytes = b""
    latency_ms: int | None = None


class Calls(Protocol):
    """Calls by correlation id, for some time. Every method may raise `StoreFailed`."""

    def record(self, call: CallRecord) -> None:
        """Store the call; the same call twice is one."""

    def get(self, correlation_id: str) -> CallRecord:
        """Return the call. Raises `NotFound`, which says how long calls are stored."""

    def latest(self, limit: int) -> list[CallRecord]:
        """Return the calls recorded last, the newest first, whatever their times, without what they read."""


class Recorder(Protocol):
    """Records calls, so that they can be replayed."""

    def record(self, call: Callable[[], CallRecord], trace: Any, backends: Backends) -> None:
        """Record the call, if it read anything of what is stored; it may be stored after this returns. Never raises.

        `trace` (a `recording.Reads`) notes what it read from `backends`; `call` makes the record, still without
        inputs and reads.
        """
