"""What a bulk load keeps between its steps, and the runs of the machine that takes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol


class LoadFiles(Protocol):
    """Files by `folder/name`; a put replaces. Every method may raise `StoreFailed`."""

    def tags(self, folder: str) -> dict[str, str]:
        """Return the names in a folder, without it, each with a tag that differs when the content does."""
        ...

    def get(self, key: str) -> bytes:
        """Return a file. Raises `NotFound`."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Store a file."""
        ...

    def download(self, key: str, into: Path, tag: str) -> None:
        """Write a file to `into`. Raises `NotFound` where it is gone or has another tag."""
        ...

    def upload(self, key: str, path: Path) -> None:
        """Store the file at `path`."""
        ...

    def delete(self, key: str) -> None:
        """Delete a file; one that is not there changes nothing."""
        ...

    def place(self, key: str) -> str:
        """Return where in the bucket a file is; reads nothing."""
        ...


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
        ...

    def latest(self) -> Run | None:
        """Return the run that began last."""
        ...

    def get(self, name: str) -> Run:
        """Return a run. Raises `NotFound`."""
        ...
