"""How far an export is, small enough to save after each part."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

MOST_MISSING = 100  # papers that could not be had, of which an export says which


@dataclass(slots=True)
class Cursor:
    """State of an export, saved in its job.

    `listed` is the key of the blob that lists the papers, a line each; `expected` of them, of which `done` are through.
    `parts` are the keys of the blobs that are written, `length` their bytes, `written` their papers. `absent` counts
    papers that are nowhere; `missing` names the first of them. `file` is the key of the whole, once it is.
    """

    listed: str = ""
    expected: int = 0
    done: int = 0
    written: int = 0
    length: int = 0
    parts: list[str] = field(default_factory=list)
    absent: int = 0
    missing: list[str] = field(default_factory=list)
    file: str = ""
    warnings: list[str] = field(default_factory=list)

    def wrote(self, key: str, length: int) -> None:
        """Note a part that is stored."""
        self.parts.append(key)
        self.length += length

    def miss(self, names: list[str]) -> None:
        """Note papers that are nowhere."""
        self.absent += len(names)
        self.missing += names[: MOST_MISSING - len(self.missing)]

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Restore a stored cursor."""
        return cls(**stored)

    def to_json(self) -> dict[str, Any]:
        """The cursor as JSON values."""
        return asdict(self)
