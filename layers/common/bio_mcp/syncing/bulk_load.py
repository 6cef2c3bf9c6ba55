"""The steps of a bulk load, each of them repeatable: a machine calls them, those of a file for many files at once.

begin -> fetch each file -> survey -> list each file -> plan -> load each file, slice by slice -> report

A file that cannot be used fails by itself, and is named in the report; the next run takes it up again, in its place."""

import json
import logging
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Failure, IndexUnavailable, NcbiUnreadable, StoreFailed, UpstreamFailed
from bio_mcp.literature.medline import OddRecord, open_records
from bio_mcp.literature.pubmed_files import in_order, order_of, published_md5
from bio_mcp.literature.records import Article, Deletion
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import PubmedFiles
from bio_mcp.ports.state import LoadFiles
from bio_mcp.scope import bounded_by
from bio_mcp.syncing.applying import Change, Origin, apply_records
from bio_mcp.syncing.importing import odd_if_endless
from bio_mcp.syncing.pubmed_files import fetch, md5_of

Record = Article | Deletion | OddRecord

# Which records of which file are applied, so that files may be applied in any order and many at a time. A PMID that
# several records have is decided here, as applying the files one after the other would decide it: the record that would
# stand in the end is applied, all others are left out. So no two files ever write one paper. What a file has is listed
# record by record, in 11 bytes each. NLM's records say when they were revised; one that does not counts as newer than
# what came before it. A deletion covers the versions up to its own.

ODD, ARTICLE, DELETION = 0, 1, 2
ENTRY = np.dtype([("pmid", "<u4"), ("version", "<u2"), ("revised", "<u4"), ("kind", "u1")])
Listing = NDArray[np.void]
"""One `ENTRY` a record, in the order of the file. `revised` is a day's ordinal, 0 where the record has none.
The `version` of a deletion is 0 where it covers them all."""


def listing_of(records: Iterable[Record]) -> Listing:
    """List the records of a file. Raises what reading them does: half a file is no listing."""
    entries = []
    for record in map(odd_if_endless, records):
        if isinstance(record, Article):
            revised = record.date_revised.toordinal() if record.date_revised else 0
            entries.append((int(record.pmid), record.pmid_version, revised, ARTICLE))
        elif isinstance(record, OddRecord):
            entries.append((0, 0, 0, ODD))
        else:
            entries.append((int(record.pmid), record.version or 0, 0, DELETION))
    return np.array(entries, dtype=ENTRY)


Positions = NDArray[np.uint32]
Read = Callable[[str], Listing]
FOUND = np.dtype([*ENTRY.descr, ("position", "<u4")])
Found = NDArray[np.void]
"""Records of some PMIDs: what a `Listing` says of each, and where in its file it is."""
SHIFT = 16  # 65,536 PMIDs that follow each other are a block
BLOCKS = 1 << 32 - SHIFT
MOST = 8_000_000  # records compared at once, or those of one block
STEP = 1 << 20  # of them that are compared in one go
THREADS, AHEAD = 8, 32  # reading listings


def left_out(names: Sequence[str], read: Read, wanted: Collection[str], most: int = MOST) -> dict[str, Positions]:
    """The positions of the records that are not applied, ascending, of each `wanted` file. `names` are in order.

    `most` records at a time, of PMIDs that follow each other, are compared. `read` is called by several threads, once
    for each file and again whenever the file has some of these PMIDs. An odd record is not among the positions: nobody
    applies it anyway.
    """
    counts = np.zeros(BLOCKS, np.int64)
    blocks = []  # of each file
    for listing in _read_all(names, read):
        found, records = np.unique(listing["pmid"] >> SHIFT, return_counts=True)
        counts[found] += records
        blocks.append(found)
    parts: dict[str, list[Positions]] = {name: [np.zeros(0, np.uint32)] for name in names if name in wanted}
    for first, end in _ranges(counts, most):
        files = [file for file, each in enumerate(blocks) if np.searchsorted(each, end) > np.searchsorted(each, first)]
        some = [names[file] for file in files]
        superseded = _superseded([_between(each, first, end) for each in _read_all(some, read)])
        for name, positions in zip(some, superseded, strict=True):
            if name in parts:
                parts[name].append(positions)
    return {name: np.sort(np.concatenate(each)) for name, each in parts.items()}


def _superseded(files: Sequence[Found]) -> list[Positions]:
    """The positions of what is not applied of these records of each file."""
    found, sizes = np.concatenate(files), list(map(len, files))
    superseded = np.flatnonzero(_losers(found, np.repeat(np.arange(len(files), dtype=np.uint32), sizes)))
    return np.split(found["position"][superseded], np.searchsorted(superseded, np.cumsum(sizes)[:-1]))


def _read_all(names: Sequence[str], read: Read) -> Iterator[Listing]:
    """The listings of the files, in their order, some of them read ahead."""
    with ThreadPoolExecutor(THREADS) as threads:
        for at in range(0, len(names), AHEAD):
            yield from threads.map(read, names[at : at + AHEAD])


def _ranges(counts: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Ranges of blocks that have at most so many records, or of one block: the first, and the one after the last."""
    upto = np.concatenate([[0], np.cumsum(counts)])
    first = 0
    while upto[first] < upto[-1]:
        end = max(first + 1, int(np.searchsorted(upto, upto[first] + most, "right")) - 1)
        if upto[end] > upto[first]:
            yield first, end
        first = end


def _between(listing: Listing, first: int, end: int) -> Found:
    """The records of a file that have PMIDs of these blocks. An odd one has none."""
    blocks = listing["pmid"] >> SHIFT
    positions = np.flatnonzero((blocks >= first) & (blocks < end) & (listing["pmid"] > 0))
    found = np.zeros(len(positions), FOUND)
    for field in ENTRY.names or ():
        found[field] = listing[field][positions]
    found["position"] = positions
    return found


def _losers(found: Found, files: Positions) -> NDArray[np.bool_]:
    """Which records are not applied, of these `files`. The first records of all PMIDs meet the second ones, what stands
    meets the third ones, and so on. A deletion that stands takes over version and day of what it deletes."""
    found, deletions = found.copy(), found["kind"] == DELETION
    covered = np.where(found["version"], found["version"], np.iinfo(np.uint16).max)
    found["version"][deletions & (found["version"] == 0)] = 1
    loses = np.zeros(len(found), np.bool_)
    order = np.argsort(found["pmid"], kind="stable")
    first = np.flatnonzero(np.diff(found["pmid"][order], prepend=0))  # of each PMID; none is 0
    counts = np.diff(first, append=len(order))
    stands = order[first]
    for nth in range(1, int(counts.max(initial=0))):
        there = np.flatnonzero(counts > nth)
        for some in np.split(there, range(STEP, len(there), STEP)):
            known, later = stands[some], order[first[some] + nth]
            deletes, gone = deletions[later], deletions[known]
            article = _is_older(found[later], found[known])
            revived = _is_revived(found[later], found[known]) | (files[later] != files[known])
            older = np.where(gone, ~revived, article)
            older = np.where(deletes, ~gone & (covered[later] < found["version"][known]), older)
            loses[np.where(older, later, known)] = True
            stands[some] = np.where(older, known, later)
            deleting, deleted = later[deletes & ~older], known[deletes & ~older]
            for field in ("version", "revised"):
                found[field][deleting] = np.maximum(found[field][deleting], found[field][deleted])
    return loses


def _is_older(later: Found, known: Found) -> NDArray[np.bool_]:
    """Which of the articles `later` are left out for the known one, as `syncing.applying.revise` says of one."""
    dated = (later["revised"] > 0) & (known["revised"] > 0)
    same = later["version"] == known["version"]
    older = np.where(same, dated & (later["revised"] < known["revised"]), later["version"] < known["version"])
    return np.asarray(older)


def _is_revived(later: Found, known: Found) -> NDArray[np.bool_]:
    """Which of the articles `later` stand although a record before them in their file deletes them, as
    `syncing.applying.Origin` says of one."""
    dated = (later["revised"] > known["revised"]) & (known["revised"] > 0)
    return np.asarray((later["version"] > known["version"]) | ((later["version"] == known["version"]) & dated))


FILES, LISTS, DONE = "files", "lists", "done"
DAMAGED = "damaged"  # marks of files that have another MD5 than the one beside them
MD5 = ".md5"


def listed(lists: Iterable[str], files: Mapping[str, str]) -> dict[str, str]:
    """The listing of each file that has one, by its name, in the order of files.

    A file that was taken away is still listed, as what it said still holds.
    """
    valid = {}
    for each in sorted(lists):
        name, _, tag = each.partition("@")
        if files.get(name) in (None, tag):
            valid[name] = each
    return {name: valid[name] for name in in_order(valid)}


REPORT = "report"
STAGES = ("fetch", "list", "load")


def as_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def status_of(run: str, files: LoadFiles) -> dict[str, Any]:
    """How far a run is: the files that each stage has to do, those that are loaded, and those that failed, with why."""
    here = files.tags(f"runs/{run}/")
    todo = {
        stage: [each["name"] for each in json.loads(files.get(f"runs/{run}/{stage}"))]
        for stage in STAGES
        if stage in here
    }
    failed = [json.loads(files.get(f"runs/{run}/{each}")) for each in sorted(here) if each.startswith("failed/")]
    loaded = [each.removeprefix("loaded/") for each in sorted(here) if each.startswith("loaded/")]
    return {
        "files": len(todo.get("load", [])),
        "loaded": len(loaded),
        "left": sorted(set(todo.get("load", [])) - set(loaded) - {each["file"] for each in failed}),
        "failed": failed,
        "stages": {stage: len(names) for stage, names in todo.items()},
    }


BUSY = (IndexUnavailable, StoreFailed, UpstreamFailed, DeadlineExceeded)
"""What the index, the tables and the bus raise when they have too much to do, besides other things that pass."""


@dataclass(slots=True)
class Progress:
    """How far a file is loaded: `position` records of it are outcome. The counts are of articles, `deleted` of PMIDs;
    one that a slice had stored when it was stopped counts as skipped."""

    position: int = 0
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    deleted: int = 0
    odd: int = 0
    left_out: int = 0


log = logging.getLogger(__name__)

Event = dict[str, Any]

BATCH = 200  # records compared with the corpus at once
MARGIN_S = 20.0  # of a slice, for the batch that it is at and for its answer
FIRST_PAUSE_S, LONGEST_PAUSE_S = 15, 300  # after the index said that it is busy: 15 s, 30 s, ... give or take a quarter
MOST_PAUSES = 30  # one after the other, some two hours, after which a file fails


@dataclass(frozen=True, slots=True)
class Loading:
    """The steps, over `files`, where all of a load is kept; `batch` records are compared with the corpus at once.

    `run` is the name of a run, `tag` that of a file's content.
    """

    files: LoadFiles
    published: PubmedFiles
    backends: Backends
    deadline: Deadline
    batch: int = BATCH

    def begin(self, run: str, *, fetch: bool = False, again: bool = False) -> Event:
        """Say which of NCBI's files are neither here, undamaged, nor loaded yet, or all of them with `again`; none
        unless `fetch`."""
        here, damaged = self.files.tags(FILES), self.files.tags(DAMAGED)
        whole = {name for name, tag in here.items() if name + MD5 in here and f"{name}@{tag}" not in damaged}
        taken_away = {each.partition("@")[0] for each in self.files.tags(DONE)} - here.keys()
        addresses = self.published.addresses() if fetch else []
        wanted = [each for each in addresses if again or each.rpartition("/")[2] not in whole | taken_away]
        return self._manifest(run, "fetch", [{"name": each.rpartition("/")[2], "address": each} for each in wanted])

    def fetch_file(self, address: str) -> Event:
        """Copy a file of NCBI's, then its MD5, which says that it is whole."""
        name = address.rpartition("/")[2]
        with tempfile.TemporaryDirectory() as directory, bounded_by(self.deadline):
            path = Path(directory) / name
            md5 = fetch(address, self.published, path)
            self.files.put(f"{FILES}/{name}", path)
        self.files.put(f"{FILES}/{name}{MD5}", f"MD5({name})= {md5}\n".encode())
        return {"state": "done"}

    def survey(self, run: str) -> Event:
        here, lists = self.files.tags(FILES), self.files.tags(LISTS)
        wanted = [name for name in in_order(here) if f"{name}@{here[name]}" not in lists]
        items = [{"name": name, "tag": here[name], "has_md5": name + MD5 in here} for name in wanted]
        return self._manifest(run, "list", items)

    def list_file(self, name: str, tag: str, *, has_md5: bool) -> Event:
        """List the records of a file. Raises `NcbiUnreadable` for one that is damaged or has another MD5 than the
        `.md5` beside it says."""
        with tempfile.TemporaryDirectory() as directory:
            path = self._downloaded(name, tag, directory)
            expected = published_md5(self.files.get(f"{FILES}/{name}{MD5}").decode("latin-1")) if has_md5 else None
            if has_md5 and expected != md5_of(path):
                self.files.put(f"{DAMAGED}/{name}@{tag}", b"")
                raise NcbiUnreadable(f"{name} has another MD5 than the file beside it says.", retryable=False)
            listing = listing_of(open_records(path))
        for folder, but in ((DAMAGED, ""), (LISTS, f"{name}@{tag}")):
            for each in self.files.tags(folder):
                if each.partition("@")[0] == name and each != but:
                    self.files.delete(f"{folder}/{each}")
        self.files.put(f"{LISTS}/{name}@{tag}", listing.tobytes())
        return {"state": "done"}

    def plan(self, run: str, *, again: bool = False) -> Event:
        """Decide which records of each file are applied, and say which files are to be loaded: those that are not, or
        all of them with `again`."""
        here, done = self.files.tags(FILES), self.files.tags(DONE)
        lists = listed(self.files.tags(LISTS), here)
        wanted = [name for name, listed in lists.items() if name in here and (again or listed not in done)]
        superseded = left_out(
            list(lists), lambda name: np.frombuffer(self.files.get(f"{LISTS}/{lists[name]}"), ENTRY), wanted
        )
        for name, positions in superseded.items():
            self.files.put(f"runs/{run}/left-out/{name}", positions.tobytes())
        items = [{"name": name, "tag": here[name], "again": again} for name in superseded]
        return self._manifest(run, "load", items)

    def load_file(
        self, run: str, name: str, tag: str, *, again: bool = False, progress: Event | None = None, pauses: int = 0
    ) -> Event:
        """Load a slice of a file; `again` also what is marked as indexed and is not in the index. The answer's `state`
        is done, more, or wait where the index is busy; its `item` is the input of the next slice."""
        positions = frozenset(memoryview(self.files.get(f"runs/{run}/left-out/{name}")).cast("I"))
        made = Progress(**(progress or {}))
        began = made.position
        for_work = Deadline(max(0.0, self.deadline.remaining - MARGIN_S / 2), within=self.deadline)
        with tempfile.TemporaryDirectory() as directory, bounded_by(for_work):
            records = open_records(self._downloaded(name, tag, directory))
            origin = Origin(order_of(name))
            done, busy = self._load_slice(records, positions, made, origin, look=again)
        counts = asdict(made)
        if done:
            self.files.put(f"runs/{run}/loaded/{name}", as_json(counts))
            self.files.put(f"{DONE}/{name}@{tag}", as_json(counts))
        pauses = 0 if busy is None else 1 + (pauses if made.position == began else 0)
        item = {"name": name, "tag": tag, "again": again, "progress": counts, "pauses": pauses}
        if busy is None:
            return {"state": "done" if done else "more", "wait_s": 0, "item": item}
        return {"state": "wait", "wait_s": _pause(busy, pauses), "item": item}

    def _load_slice(
        self, records: Iterable[Record], left_out: Container[int], progress: Progress, origin: Origin, *, look: bool
    ) -> tuple[bool, Failure | None]:
        """Settle the records from `progress.position` on, but for the positions of `left_out`, while there is time.

        Returns whether the file is over, and the failure that ended the slice early and may pass. Raises what reading
        `records` does, and the failures of ports that do not pass.
        """
        rest = map(odd_if_endless, islice(records, progress.position, None))
        while part := list(islice(rest, self.batch)):
            if self.deadline.remaining <= MARGIN_S:
                return False, None
            start, end = progress.position, progress.position + len(part)
            every = [each for at, each in enumerate(part, start) if at not in left_out]
            wanted = [each for each in every if not isinstance(each, OddRecord)]
            try:
                applied = apply_records(
                    wanted,
                    self.backends,
                    before_slice=lambda _changes: self.deadline.remaining > MARGIN_S,
                    load=True,
                    look=look,
                    origin=origin,
                )
            except BUSY as failure:
                if not failure.retryable:
                    raise
                return False, failure
            changes = Counter(applied.changes.values())
            if len(applied.settled) < len({each.pmid for each in wanted}):
                return False, None
            progress.position = end
            progress.inserted += changes[Change.INSERTED]
            progress.updated += changes[Change.UPDATED]
            progress.skipped += changes[Change.SKIPPED]
            progress.deleted += len(applied.deleted)
            progress.left_out += sum(at in left_out for at in range(start, end))
            progress.odd += sum(isinstance(each, OddRecord) for each in part)
        return True, None

    def note(self, run: str, name: str, stage: str, reason: str) -> Event:
        """Note that a file failed, and why, so that the report names it."""
        found = {"file": name, "stage": stage, "reason": reason}
        self.files.put(f"runs/{run}/failed/{name}", as_json(found))
        return {"state": "done"}

    def report(self, run: str) -> Event:
        """Say what became of the files of a run, and store that with the sum of what was done. A file that ended
        without a word has failed."""
        found, counts = status_of(run, self.files), Counter[str]()
        silent = [{"file": each, "stage": "load", "reason": "it ended without a word"} for each in found["left"]]
        for name in self.files.tags(f"runs/{run}/loaded"):
            counts.update(json.loads(self.files.get(f"runs/{run}/loaded/{name}")))
        failed = [*found["failed"], *silent]
        self.files.put(f"runs/{run}/{REPORT}", as_json(found | {"left": [], "failed": failed, "counts": counts}))
        return {"files": found["files"], "loaded": found["loaded"], "failed": len(failed)}

    def _downloaded(self, name: str, tag: str, directory: str) -> Path:
        path = Path(directory) / name
        self.files.download(f"{FILES}/{name}", path, tag)
        return path

    def _manifest(self, run: str, stage: str, items: list[Event]) -> Event:
        """Store what a step is to be taken for."""
        return {"count": len(items), "key": self.files.put(f"runs/{run}/{stage}", as_json(items))}


def _pause(busy: Failure, pauses: int) -> int:
    """Seconds until the next slice. Raises the failure where the index has been busy for too long."""
    if pauses > MOST_PAUSES:
        raise IndexUnavailable(f"{busy} It has been so for {pauses} tries.", retryable=False)
    log.warning("paused", extra={"reason": str(busy), "pauses": pauses})
    longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (pauses - 1))
    return int(longest * random.uniform(0.75, 1.25))  # noqa: S311  nobody guesses it
