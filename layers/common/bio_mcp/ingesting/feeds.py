"""What an ingest works through: the documents of a source, in an order that stays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bio_mcp.ingesting.incoming import Incoming
from bio_mcp.literature.descriptions import Description
from bio_mcp.ports.sources import SourceFile, Sources


@dataclass(frozen=True, slots=True)
class Entry:
    """A document that may be loaded. `key` orders those of a source and names it there; `name` is for people."""

    key: str
    name: str
    load: Callable[[], Incoming]


class Feed(Protocol):
    """The documents of a source, as far as they may have changed."""

    def entries(self) -> Sequence[Entry]:
        """Return them by key."""
        ...

    def finish(self) -> Sequence[str]:
        """Record that every entry has been worked through, and return warnings. It may be called again."""
        ...


class FileFeed:
    """The files at a location."""

    def __init__(self, sources: Sources, location: str, *, local: bool) -> None:
        self._sources, self._location, self._local = sources, location, local

    def entries(self) -> list[Entry]:
        """One entry a file, by address."""
        files = self._sources.files(self._location, local=self._local)
        return [Entry(each.address, each.name, self._loader(each)) for each in sorted(files, key=lambda e: e.address)]

    def finish(self) -> list[str]:
        """Files are looked at each time."""
        return []

    def _loader(self, file: SourceFile) -> Callable[[], Incoming]:
        def load() -> Incoming:
            content = self._sources.read(file.address, local=self._local)
            url = file.address if file.address.startswith("https://") else None
            return Incoming(file.name, content, file.address, Description(url=url))

        return load
