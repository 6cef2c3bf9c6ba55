"""The steps of a bulk load, each of them repeatable: a machine calls them, those of a file for many files at once.

begin -> fetch each file -> survey -> list each file -> plan -> load each file, slice by slice -> report

A file that cannot be used fails by itself, and is named in the report; the next run takes it up again, in its place.
"""

import logging
import random
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bio_mcp.deadline import Deadline, bounded_by
from bio_mcp.errors import IndexUnavailable, NcbiUnreadable
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.pubmed_files import in_order, published_md5
from bio_mcp.ports import Backends
from bio_mcp.ports.loading import LoadFiles
from bio_mcp.ports.pubmed_files import PubmedFiles
from bio_mcp.syncing.downloading import fetch, md5_of
from bio_mcp.syncing.loading import keys
from bio_mcp.syncing.loading.keys import DAMAGED, DONE, FILES, LISTS, MD5, of_run, tagged
from bio_mcp.syncing.loading.listing import dumps, listing_of, loads
from bio_mcp.syncing.loading.planning import left_out
from bio_mcp.syncing.loading.reporting import REPORT, as_json, report_of
from bio_mcp.syncing.loading.slices import Progress, Slice, load_slice

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
        whole = {name for name, tag in here.items() if name + MD5 in here and tagged(name, tag) not in damaged}
        taken_away = {keys.name_of(each) for each in self.files.tags(DONE)} - here.keys()
        addresses = self.published.addresses() if fetch else []
        wanted = [each for each in addresses if again or _name(each) not in whole | taken_away]
        return self._manifest(run, "fetch", [{"name": _name(each), "address": each} for each in wanted])

    def fetch_file(self, address: str) -> Event:
        """Copy a file of NCBI's, then its MD5, which says that it is whole."""
        name = _name(address)
        with tempfile.TemporaryDirectory() as directory, bounded_by(self.deadline):
            path = Path(directory) / name
            md5 = fetch(address, self.published, path)
            self.files.upload(f"{FILES}/{name}", path)
        self.files.put(f"{FILES}/{name}{MD5}", f"MD5({name})= {md5}\n".encode())
        return {"state": "done"}

    def survey(self, run: str) -> Event:
        """Say which files have no listing yet."""
        here, lists = self.files.tags(FILES), self.files.tags(LISTS)
        wanted = [name for name in in_order(here) if tagged(name, here[name]) not in lists]
        items = [{"name": name, "tag": here[name], "has_md5": name + MD5 in here} for name in wanted]
        return self._manifest(run, "list", items)

    def list_file(self, name: str, tag: str, *, has_md5: bool) -> Event:
        """List the records of a file. Raises `NcbiUnreadable` for one that is damaged or has another MD5 than the
        `.md5` beside it says."""
        with tempfile.TemporaryDirectory() as directory:
            path = self._downloaded(name, tag, directory)
            expected = published_md5(self.files.get(f"{FILES}/{name}{MD5}").decode("latin-1")) if has_md5 else None
            if has_md5 and expected != md5_of(path):
                self.files.put(f"{DAMAGED}/{tagged(name, tag)}", b"")
                raise NcbiUnreadable(f"{name} has another MD5 than the file beside it says.", retryable=False)
            listing = listing_of(open_records(path))
        self._forget(DAMAGED, name)
        self._forget(LISTS, name, but=tagged(name, tag))
        self.files.put(f"{LISTS}/{tagged(name, tag)}", dumps(listing))
        return {"state": "done"}

    def plan(self, run: str, *, again: bool = False) -> Event:
        """Decide which records of each file are applied, and say which files are to be loaded: those that are not, or
        all of them with `again`."""
        here, done = self.files.tags(FILES), self.files.tags(DONE)
        lists = keys.listed(self.files.tags(LISTS), here)
        wanted = [name for name, listed in lists.items() if name in here and (again or listed not in done)]
        superseded = left_out(list(lists), lambda name: loads(self.files.get(f"{LISTS}/{lists[name]}")), wanted)
        for name, positions in superseded.items():
            self.files.put(of_run(run, f"left-out/{name}"), positions.tobytes())
        items = [{"name": name, "tag": here[name], "again": again} for name in superseded]
        return self._manifest(run, "load", items)

    def load_file(
        self, run: str, name: str, tag: str, *, again: bool = False, progress: Event | None = None, pauses: int = 0
    ) -> Event:
        """Load a slice of a file; `again` also what is marked as indexed and is not in the index. The answer's `state`
        is done, more, or wait where the index is busy; its `item` is the input of the next slice."""
        positions = frozenset(memoryview(self.files.get(of_run(run, f"left-out/{name}"))).cast("I"))
        before = Progress(**(progress or {}))
        began = before.position
        with tempfile.TemporaryDirectory() as directory, bounded_by(self._for_work):
            records = open_records(self._downloaded(name, tag, directory))
            made = load_slice(records, positions, before, self.backends, self._has_time, self.batch, again=again)
        counts = asdict(made.progress)
        if made.done:
            self.files.put(of_run(run, f"loaded/{name}"), as_json(counts))
            self.files.put(f"{DONE}/{tagged(name, tag)}", as_json(counts))
        pauses = 0 if made.busy is None else 1 + (pauses if made.progress.position == began else 0)
        item = {"name": name, "tag": tag, "again": again, "progress": counts, "pauses": pauses}
        return _after(made, pauses) | {"item": item}

    def note(self, run: str, name: str, stage: str, reason: str) -> Event:
        """Note that a file failed, and why, so that the report names it."""
        found = {"file": name, "stage": stage, "reason": reason}
        self.files.put(of_run(run, f"failed/{name}"), as_json(found))
        return {"state": "done"}

    def report(self, run: str) -> Event:
        """Say what became of the files of a run, and store that."""
        found = report_of(run, self.files)
        self.files.put(of_run(run, REPORT), as_json(found))
        return {"files": found["files"], "loaded": found["loaded"], "failed": len(found["failed"])}

    def _forget(self, folder: str, name: str, but: str = "") -> None:
        """Delete what is derived of a file in a folder."""
        for each in self.files.tags(folder):
            if keys.name_of(each) == name and each != but:
                self.files.delete(f"{folder}/{each}")

    @property
    def _for_work(self) -> Deadline:
        return Deadline(max(0.0, self.deadline.remaining - MARGIN_S / 2), within=self.deadline)

    def _has_time(self) -> bool:
        return self.deadline.remaining > MARGIN_S

    def _downloaded(self, name: str, tag: str, directory: str) -> Path:
        path = Path(directory) / name
        self.files.download(f"{FILES}/{name}", path, tag)
        return path

    def _manifest(self, run: str, stage: str, items: list[Event]) -> Event:
        """Store what a step is to be taken for."""
        key = of_run(run, stage)
        self.files.put(key, as_json(items))
        return {"count": len(items), "key": self.files.place(key)}


def _name(address: str) -> str:
    return address.rpartition("/")[2]


def _after(made: Slice, pauses: int) -> Event:
    """What comes after a slice. Raises its failure where the index has been busy for too long."""
    if made.busy is None:
        return {"state": "done" if made.done else "more", "wait_s": 0}
    if pauses > MOST_PAUSES:
        raise IndexUnavailable(f"{made.busy} It has been so for {pauses} tries.", retryable=False)
    log.warning("paused", extra={"reason": str(made.busy), "pauses": pauses})
    longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (pauses - 1))
    return {"state": "wait", "wait_s": round(longest * random.uniform(0.75, 1.25))}  # noqa: S311  nobody guesses it
