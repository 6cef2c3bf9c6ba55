"""What makes up an index in S3."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

FORMAT = 1
OLDER = 128  # changes that the manifest names though the snapshot has them: a copy this far behind needs no download


@dataclass(frozen=True, slots=True)
class Change:
    """What one transaction did, at a position of the index. `schema` is the file's when it was made."""

    position: int
    key: str
    schema: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole file as it was at a position: its bytes, and the objects of `part_size` that it is cut into."""

    position: int
    schema: int
    size: int
    part_size: int
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The index at a position. `changes` follow each other without a gap and end there; `as_of` is when (ISO 8601)."""

    position: int = 0
    as_of: str | None = None
    snapshot: Snapshot | None = None
    changes: tuple[Change, ...] = ()

    @property
    def unpacked(self) -> int:
        """How many changes the snapshot lacks."""
        return self.position - (self.snapshot.position if self.snapshot else 0)

    @property
    def keys(self) -> set[str]:
        """Every object that it names."""
        return {*(each.key for each in self.changes), *(self.snapshot.parts if self.snapshot else ())}

    def since(self, position: int) -> tuple[Change, ...] | None:
        """The changes after a position; None where it takes the snapshot: some of them are in that alone, there is
        nothing yet, or the position was never reached."""
        first = self.position - len(self.changes)
        if not first <= position <= self.position or (self.snapshot and not position):
            return None
        return self.changes[position - first :]

    def changed(self, key: str, schema: int, as_of: str) -> "Manifest":
        """This manifest and one change more."""
        change = Change(self.position + 1, key, schema)
        return replace(self, position=change.position, as_of=as_of, changes=(*self.changes, change))

    def packed(self, snapshot: Snapshot) -> "Manifest":
        """This manifest with another snapshot."""
        oldest = snapshot.position - OLDER
        return replace(self, snapshot=snapshot, changes=tuple(each for each in self.changes if each.position > oldest))

    def as_json(self) -> bytes:
        """The manifest as `parsed` reads it."""
        return json.dumps({"format": FORMAT, **asdict(self)}).encode()


def parsed(content: bytes) -> Manifest:
    """Read a manifest. Raises `ValueError` for one of another format."""
    fields: dict[str, Any] = json.loads(content)
    if fields.pop("format", None) != FORMAT:
        raise ValueError("another format")
    whole = fields.pop("snapshot")
    snapshot = Snapshot(**{**whole, "parts": tuple(whole["parts"])}) if whole else None
    changes = tuple(Change(**each) for each in fields.pop("changes"))
    return Manifest(**fields, snapshot=snapshot, changes=changes)
