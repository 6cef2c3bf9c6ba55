"""Cursor of an ingest: how far a job has come, small enough to save after each document."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Self

from bio_mcp.ingesting.feeds import Entry
from bio_mcp.ingesting.settling import Settled

MAX_WARNINGS = 100
TRIES = 2  # of a document for which the whole time of a queued call was not enough


@dataclass(slots=True)
class Cursor:
    """Counts of documents, but for `chunks`, `pages` and `seconds`. Documents up to the key `last` are done.

    `checksum` is of their keys: where it differs from that of the entries up to `last`, others have come in between.
    `tries` counts how often the time of a queued call ended within the next document. `logs` are keys of blobs that
    say what became of each document; `planned` has that of what is about to be written of the next, by its hash.
    """

    last: str = ""
    checksum: int = 0
    expected: int = 0
    written: int = 0
    unchanged: int = 0
    failed: int = 0
    chunks: int = 0
    pages: int = 0
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)
    unlisted: int = 0
    tries: int = 0
    logs: list[str] = field(default_factory=list)
    planned: dict[str, str] = field(default_factory=dict)

    @property
    def processed(self) -> int:
        """Documents that are in the project, read now or before."""
        return self.written + self.unchanged

    @property
    def done(self) -> int:
        """Documents that are behind the cursor."""
        return self.processed + self.failed

    def rest(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries that are still to be worked through; all of them where others have come in between."""
        self.expected = len(entries)
        before = [each for each in entries if each.key <= self.last]
        if sum(map(_checksum, before)) != self.checksum:
            self.last, self.checksum = "", 0
            self.written = self.unchanged = self.failed = self.tries = 0
            self.warnings, self.unlisted, self.logs = [], 0, []
            return list(entries)
        return list(entries[len(before) :])

    def settled(self, entry: Entry, settled: Settled) -> None:
        """Count a document that is in the project, and move past it."""
        self.written += settled.written
        self.unchanged += not settled.written
        self.chunks += settled.chunks
        self.pages += settled.pages
        self.warn(*settled.warnings)
        self.logs += [settled.log] if settled.log else []
        self._pass(entry)

    def failure(self, entry: Entry, reason: str) -> None:
        """Count a document that cannot be read, with a warning, and move past it."""
        self.failed += 1
        self.warn(f"{entry.name!r}: {reason}")
        self._pass(entry)

    def ran_out(self) -> bool:
        """Count that the whole time of a call was not enough for the next document; True when it is given up."""
        self.tries += 1
        return self.tries >= TRIES

    def warn(self, *sentences: str) -> None:
        """Add warnings, each once and `MAX_WARNINGS` at most; the others are counted."""
        for sentence in sentences:
            if sentence in self.warnings:
                continue
            if len(self.warnings) < MAX_WARNINGS:
                self.warnings.append(sentence)
            else:
                self.unlisted += 1

    def _pass(self, entry: Entry) -> None:
        self.last, self.tries, self.planned = entry.key, 0, {}
        self.checksum += _checksum(entry)

    def to_json(self) -> dict[str, Any]:
        """The cursor as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Restore a stored cursor."""
        return cls(**stored)


def _checksum(entry: Entry) -> int:
    return int.from_bytes(sha256(entry.key.encode(errors="surrogateescape")).digest()[:4])
