"""What the stores of checkpoints share: how a change of one key is read and made is each store's own."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from bio_mcp.ports.state import NOWHERE, Checkpoint, KeyCheckpoints

Change = Callable[[KeyCheckpoints], KeyCheckpoints]


class CheckpointsByKey(ABC):
    """`get`, `advance` and `set` of the port `Checkpoints`, over a store that reads and changes one key at a time."""

    def get(self, query_key: str, term: str | None = None) -> Checkpoint:
        return self._read(query_key).of(term)

    def advance(
        self, query_key: str, term: str, last_edat: str | None = None, windows: Mapping[str, str] = NOWHERE
    ) -> Checkpoint:
        return self._change(query_key, lambda before: before.advanced(term, last_edat, windows))[1].of(term)

    def set(
        self, query_key: str, last_edat: str | None, windows: Mapping[str, str], term: str | None = None
    ) -> Checkpoint:
        return self._change(query_key, lambda before: before.moved(term, last_edat, windows))[0].of(term)

    @abstractmethod
    def _read(self, query_key: str) -> KeyCheckpoints:
        """The checkpoints of a key; empty where there are none."""

    @abstractmethod
    def _change(self, query_key: str, change: Change) -> tuple[KeyCheckpoints, KeyCheckpoints]:
        """Apply `change` to the checkpoints of a key, atomically; returns them before and after."""
