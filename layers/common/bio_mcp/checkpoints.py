"""How far named queries have been synced: the port, what it keeps, and how watermarks move."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol

from bio_mcp.literature.clock import earlier, later

NOWHERE: Mapping[str, str] = MappingProxyType({})
"""No watermarks."""
TERMS_BYTES = 200_000  # of the terms of one key; the one synced longest ago is forgotten first, and read anew


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a named query has been synced by a term. `last_edat` is ISO 8601 UTC.

    `windows` holds one watermark per date field ("edat", "crdt", "mdat"): a day in US Eastern, YYYY-MM-DD. Without a
    term it waits for the next one that is synced.
    """

    query_key: str
    last_edat: str | None = None
    windows: Mapping[str, str] = field(default_factory=dict)
    term: str | None = None

    def advanced(self, last_edat: str | None, windows: Mapping[str, str]) -> "Checkpoint":
        """This checkpoint with each watermark moved forward that is later there; none moves back."""
        later_days = {name: later(self.windows.get(name), day) or day for name, day in windows.items()}
        newest = later(self.last_edat, last_edat)
        return replace(self, last_edat=newest, windows={**self.windows, **later_days})

    def drawn_back(self, last_edat: str | None, windows: Mapping[str, str]) -> "Checkpoint":
        """This checkpoint with each watermark moved back that is earlier there; none moves forward."""
        days = {name: min(day, windows.get(name, day)) for name, day in self.windows.items()}
        return replace(self, last_edat=earlier(self.last_edat, last_edat), windows=days)


@dataclass(frozen=True, slots=True)
class KeyCheckpoints:
    """The checkpoints of one query key, one per term; the term that was synced last is the last.

    A watermark says nothing of what another term finds: each begins with none, and is read from the first day on.
    """

    query_key: str
    terms: tuple[Checkpoint, ...] = ()

    def of(self, term: str | None) -> Checkpoint:
        """The checkpoint of a term, of the last one where none is named."""
        if term is None:
            return self.terms[-1] if self.terms else Checkpoint(self.query_key)
        found = [each for each in self.terms if each.term in (term, None)]
        best = max(found, key=lambda each: each.term is not None, default=Checkpoint(self.query_key))
        return replace(best, term=term)

    def advanced(self, term: str, last_edat: str | None, windows: Mapping[str, str]) -> "KeyCheckpoints":
        """With the watermarks of `term` moved forward; one that waited for a term is its own now."""
        others = [each for each in self.terms if each.term not in (term, None)]
        stands = self.of(term).advanced(last_edat, windows)
        room = TERMS_BYTES
        while others and sum(len((each.term or "").encode()) for each in others) > room:
            others.pop(0)
        return KeyCheckpoints(self.query_key, (*others, stands))

    def moved(self, term: str | None, last_edat: str | None, windows: Mapping[str, str]) -> "KeyCheckpoints":
        """With the watermarks of `term` moved anywhere; without one those of the last, and the others back with it."""
        moved = replace(self.of(term), last_edat=last_edat, windows=dict(windows))
        if term is None:
            others = [each.drawn_back(last_edat, windows) for each in self.terms[:-1]]
        else:
            others = [each for each in self.terms if each.term not in (term, None)]
        return KeyCheckpoints(self.query_key, (*others, moved))


class Checkpoints(Protocol):
    """How far the terms of each query key have been synced, as `KeyCheckpoints` says."""

    def get(self, query_key: str, term: str | None = None) -> Checkpoint:
        """The checkpoint of a term, or of the one that was synced last; with nothing in it when there is none."""
        ...

    def advance(
        self, query_key: str, term: str, last_edat: str | None = None, windows: Mapping[str, str] = NOWHERE
    ) -> Checkpoint:
        """Move forward each watermark of the term that is later than the stored one; returns what stands now.

        The term is now the one that was synced last; with nothing to move it is noted as begun.
        """
        ...

    def set(
        self, query_key: str, last_edat: str | None, windows: Mapping[str, str], term: str | None = None
    ) -> Checkpoint:
        """Move the watermarks of a term anywhere, backwards too; returns what stood before.

        Without a term it is the one that was synced last, and the others go back with it, never forward.
        """
        ...

    def all(self, query_key: str | None = None) -> list[Checkpoint]:
        """Every checkpoint, or those of a key; by query key, the term that was synced last as the last of its key."""
        ...

    def remove(self, query_key: str) -> list[Checkpoint]:
        """Forget every checkpoint of the key; returns what stood."""
        ...
