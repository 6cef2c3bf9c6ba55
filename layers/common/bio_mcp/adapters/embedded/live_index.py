"""The index in memory: columns that follow the corpus file, and snapshots of them that queries run on.

A large index is also saved in a file of its own, so that it starts fast."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.bm25 import (
    GatheredPostings,
    Mask,
    Postings,
    Rows,
    Segments,
    Texts,
    best,
    best_by_bm25,
    norms,
)
from bio_mcp.adapters.embedded.database import Connection, Database, Identity
from bio_mcp.adapters.embedded.index_file import ArrayFile, GrowableArray, Reason, Unusable, read_arrays, write_arrays
from bio_mcp.adapters.embedded.vector_search import (
    AXES,
    EXACT,
    SAMPLE,
    Matrix,
    Quantiser,
    Sizes,
    VectorsOf,
    WindowColumns,
    Windows,
)
from bio_mcp.adapters.indexes import other_model
from bio_mcp.errors import IndexUnavailable
from bio_mcp.literature.quality import StaticQuality
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.passages import Candidate, PassageQuery
from bio_mcp.retrieval.project_chunks import ChunkQuery

T = TypeVar("T")


class RowNumbers:
    """The live row of each key, and the rows that are dead. Those of a loaded index stay as sorted arrays: a
    dictionary of a million would cost a second of start and a hundred megabytes."""

    def __init__(self, keys: NDArray[np.int64] | None = None, dead: Iterable[int] = ()) -> None:
        keys = np.empty(0, np.int64) if keys is None else keys
        self.dead: list[int] = list(dead)
        alive = np.ones(len(keys), np.bool_)
        alive[self.dead] = False
        rows = np.flatnonzero(alive).astype(np.int32)
        order = np.argsort(keys[rows], kind="stable")
        self._keys, self._rows = keys[rows][order], rows[order]
        self._replaced: set[int] = set()
        self._later: dict[int, int] = {}

    def add(self, keys: list[int], first: int) -> None:
        """Give these documents the rows from `first` on; their earlier rows become dead."""
        for row, key in enumerate(keys, first):
            self.remove(key)
            self._later[key] = row

    def remove(self, key: int) -> None:
        """Make the document's row dead, if it has one."""
        row = self._later.pop(key, None)
        if row is None:
            at = int(np.searchsorted(self._keys, key))
            if at == len(self._keys) or self._keys[at] != key or key in self._replaced:
                return
            row = int(self._rows[at])
            self._replaced.add(key)
        self.dead.append(row)


NO_YEAR = int(np.iinfo(np.int32).min)
NO_DAY, NO_NUMBER = 0, -1  # of publication, of participants
SEPARATOR = "\x1f"  # between the chunk ids of a document


class Codes(dict[Any, int]):
    """The numbers of values, given on first sight; `values` has what each stands for, by number."""

    def __init__(self, decoded: Callable[[Any], Any] = lambda value: value) -> None:
        self.values_by_code: list[Any] = []
        self._decoded = decoded

    def __missing__(self, value: Any) -> int:
        self.values_by_code.append(self._decoded(value))
        return self.setdefault(value, len(self))


class Names:
    """What the codes in two columns stand for: a paper's quality and retraction status as (design, journal, human,
    retraction), and the ids of its chunks, joined by `SEPARATOR`.

    `facets` has the numbers of the facets of chunks, by kind and value; those of papers are in the corpus file.
    """

    def __init__(self, profiles: Iterable[Iterable[Any]] = (), layouts: Iterable[str] = ()) -> None:
        self.profiles = Codes(lambda stored: (StaticQuality(*stored[:3]), RetractionStatus(stored[3])))
        self.layouts = Codes(lambda stored: tuple(stored.split(SEPARATOR)))
        self.facets = Codes()
        for profile in profiles:
            self.profiles[tuple(profile)]
        for layout in layouts:
            self.layouts[layout]


@dataclass(frozen=True, slots=True)
class RowBatch:
    """A batch of documents as columns. Terms, facets and vectors of all its documents are concatenated.

    `keys` are PMIDs, or numbers of chunks, whose ids are the `labels`.
    """

    keys: NDArray[np.int64]
    years: NDArray[np.int32]
    profiles: NDArray[np.int32]
    lengths: NDArray[np.int32]
    layouts: NDArray[np.int32]
    windows: NDArray[np.int64]
    terms: NDArray[np.uint32]
    frequencies: NDArray[np.uint16]
    term_counts: NDArray[np.int64]
    facets: NDArray[np.uint32]
    facet_counts: NDArray[np.int64]
    vectors: NDArray[np.float32]
    days: NDArray[np.int32]
    participants: NDArray[np.int32]
    labels: Sequence[bytes] = ()

    @staticmethod
    def of(
        keys: Sequence[int],
        years: Iterable[int],
        lengths: Sequence[int],
        terms: Iterable[bytes],
        frequencies: Iterable[bytes],
        facets: Iterable[bytes],
        vectors: Iterable[bytes],
        dim: int,
        **more: Any,
    ) -> "RowBatch":
        """Documents of one window each, whose terms, frequencies, facets and vectors are bytes as they are stored, but
        for `more`."""
        terms, facets = list(terms), list(facets)
        nothing = np.zeros(len(keys), np.int32)
        columns: dict[str, Any] = dict.fromkeys(("profiles", "layouts", "days", "participants"), nothing)
        columns["windows"] = np.ones(len(keys), np.int64)
        return RowBatch(
            keys=np.array(keys, np.int64),
            years=np.array(years, np.int32),
            lengths=np.array(lengths, np.int32),
            terms=np.frombuffer(b"".join(terms), "<u4"),
            frequencies=np.frombuffer(b"".join(frequencies), "<u2"),
            term_counts=np.array([len(blob) // 4 for blob in terms], np.int64),
            facets=np.frombuffer(b"".join(facets), "<u4"),
            facet_counts=np.array([len(blob) // 4 for blob in facets], np.int64),
            vectors=np.frombuffer(b"".join(vectors), "<f4").reshape(-1, dim),
            **columns | more,
        )


MASK_BYTES = 64 << 20  # of masks of facets, in memory at once
FEW = 1_000  # documents that a list leaves are scored by their vectors


@dataclass(frozen=True, slots=True)
class Papers:
    """The papers with these keys, which differ, or all `without` them."""

    pmids: NDArray[np.int64]
    without: bool = False


@dataclass(frozen=True, slots=True)
class Conditions:
    """Filters in the index's own numbers.

    A document needs one facet of each set in `any_of`, and to be among each of `papers`. With `exact` each is scored by
    its vectors.
    """

    year_from: int | None
    year_to: int | None
    any_of: tuple[tuple[int, ...], ...]
    participants_min: int | None = None
    papers: tuple[Papers, ...] = ()
    exact: bool = False


EVERY_PAPER = Conditions(None, None, ())


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One row per document, dead ones included. `change` is the last batch of the corpus file that it includes.

    `keys` are PMIDs, or numbers of chunks; of rows that score alike those highest in `order` are better.
    """

    change: int
    keys: NDArray[np.int64]
    order: NDArray[np.int64]
    years: NDArray[np.int32]
    profiles: NDArray[np.int32]
    layouts: NDArray[np.int32]
    days: NDArray[np.int32]
    participants: NDArray[np.int32]
    alive: Mask
    documents: int
    texts: Texts
    facets: Segments
    windows: Windows
    names: Names
    _masks: dict[int, Mask] = field(default_factory=dict)
    _by_key: list[tuple[NDArray[np.int64], Rows]] = field(default_factory=list)

    def passing(self, conditions: Conditions) -> Rows | None:
        """The live rows that meet the conditions, ascending; None means all rows."""
        if conditions == EVERY_PAPER:
            return None
        first, last = conditions.year_from, conditions.year_to
        mask = self.alive.copy()
        if first is not None:
            mask &= self.years >= first
        if last is not None:
            mask &= self.years <= last
            if first is None:
                mask &= self.years != NO_YEAR
        for facets in conditions.any_of:
            mask &= self._mask(facets[0]) if len(facets) == 1 else self._any(facets)
        if conditions.participants_min is not None:
            mask &= self.participants >= conditions.participants_min
        for papers in conditions.papers:
            listed = self._listed(papers.pmids)
            mask &= ~listed if papers.without else listed
        return np.flatnonzero(mask).astype(np.int32)

    def best(
        self,
        query: PassageQuery | ChunkQuery,
        known: Callable[[tuple[str]], Iterable[tuple[str, int]]],
        conditions: Conditions,
        read: VectorsOf | None = None,
    ) -> dict[int, tuple[float | None, float | None, int | None]]:
        """The `depth` best rows by BM25 and those by the cosine of their best window: row -> BM25, which is never 0,
        cosine, and the window's place among the row's. See `Windows.nearest`.

        `known` gives the numbers of those terms of a JSON list, its only value, that the index has.
        """
        among, vector, depth = self.passing(conditions), query.vector, query.depth
        all_exact = conditions.exact or (bool(conditions.papers) and among is not None and len(among) <= FEW)
        weights: dict[str, float] = {}
        for term, weight in query.terms:  # those of a repeated term add up
            weights[term] = weights.get(term, 0.0) + weight
        terms = sorted((number, weights[term]) for term, number in known((json.dumps(list(weights)),)))
        found: dict[int, tuple[float | None, float | None, int | None]] = {}
        if vector is not None:
            if vector.shape != self.windows.matrix.shape[1:]:
                raise other_model()
            nearest = self.windows.nearest(np.asarray(vector, np.float32), among, depth, read, all_exact=all_exact)
            closest = zip(*(column.tolist() for column in nearest), strict=True)
            found = {row: (None, cosine, place) for row, place, cosine in closest}
        rows, scores = best_by_bm25(self.texts, terms, among, self.order, depth)
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            found[row] = (score, *found.get(row, (None, None, None))[1:])
        return found

    def candidates(self, found: Mapping[int, tuple[float | None, float | None, int | None]]) -> list[Candidate]:
        """The papers in these rows, as `best` returns them."""
        rows = np.fromiter(found, np.intp, len(found))
        columns = (each[rows].tolist() for each in (self.keys, self.years, self.profiles, self.layouts))
        profiles, layouts = self.names.profiles.values_by_code, self.names.layouts.values_by_code
        return [
            Candidate(
                str(key),
                bm25,
                sim,
                None if place is None else layouts[layout][place],
                None if year == NO_YEAR else year,
                *profiles[profile],
            )
            for (bm25, sim, place), key, year, profile, layout in zip(found.values(), *columns, strict=True)
        ]

    def newest(self, conditions: Conditions, most: int) -> tuple[int, list[int]]:
        """How many documents meet the conditions; of them the keys of the newest, at most `most`."""
        among = self.passing(conditions)
        rows = self.windows.live if among is None else among
        if not most:
            return len(rows), []
        top = rows[best(self.days[rows], self.order[rows], most)]
        return len(rows), self.keys[top].tolist()

    def _listed(self, keys: NDArray[np.int64]) -> Mask:
        """The live rows of these keys."""
        if not self._by_key:
            live = self.windows.live
            order = np.argsort(self.keys[live], kind="stable")
            self._by_key.append((self.keys[live][order], live[order]))
        known, rows = self._by_key[0]
        mask = np.zeros(len(self.keys), np.bool_)
        if len(known):
            at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            mask[rows[at[known[at] == keys]]] = True
        return mask

    def _any(self, facets: Iterable[int]) -> Mask:
        mask = np.zeros(len(self.keys), dtype=np.bool_)
        for facet in facets:
            for rows, _ in self.facets.spans(facet):
                mask[rows] = True
        return mask

    def _mask(self, facet: int) -> Mask:
        mask = self._masks.get(facet)
        if mask is None:
            mask = self._any([facet])
            if len(self._masks) * len(mask) > MASK_BYTES:
                self._masks.clear()
            self._masks[facet] = mask
        return mask


GROWABLE = {"keys": np.int64} | dict.fromkeys("years profiles layouts lengths days participants".split(), np.int32)
SAVED_AS = {"keys": "pmids"}  # what a saved index calls a column, if not by its name
FEW_DEAD = 1_024  # dead rows are dropped when they exceed both this and a quarter of all rows


class Source(ABC):
    """The documents of an index in the corpus file, as one transaction sees them: papers, or the chunks of a project.

    Damaged rows are `IndexUnavailable`.
    """

    change: int  # the number of the last change
    dim: int  # the length of the vectors; 0 if there is no index yet

    @abstractmethod
    def size(self) -> tuple[int, int]:
        """The number of documents and of their windows."""

    @abstractmethod
    def batches(self, names: Names, since: int | None = None, last: int = 0) -> Iterator[RowBatch]:
        """Yield every document, or those written after the change `since`, when the last key was `last`."""

    @abstractmethod
    def removed(self, since: int, keys: NDArray[np.int64]) -> list[int]:
        """The keys of documents that were removed after the change `since`; `keys` are those that were there at some
        time."""

    def sample(self, windows: int) -> Matrix:
        """The vectors of some `windows` windows, spread over all documents."""
        vectors = np.concatenate([batch.vectors for batch in self.batches(Names())])
        return vectors[:: max(1, len(vectors) // windows)]

    def past(self, change: int) -> tuple[str | None, int]:  # noqa: ARG002  without a token nothing is saved
        """What tells this change from that of the same number of another corpus, and how many documents were written
        after it."""
        return None, 0


class Columns:
    """One row per document version read. Rewriting a document appends a new row and marks its old one dead.

    The caller holds the index's lock. Views handed out in snapshots never change.
    """

    def __init__(self, dim: int, sizes: Sizes) -> None:
        self.dim = dim
        self._arrays: dict[str, GrowableArray[Any]] = {name: GrowableArray(kind) for name, kind in GROWABLE.items()}
        self._labels: list[bytes] = []
        self.windows = WindowColumns(dim, sizes)
        self._terms = Segments()
        self._facets = Segments()
        self._names = Names()
        self._rows = RowNumbers()

    @staticmethod
    def read(source: Source, sizes: Sizes) -> "Columns":
        documents, windows = source.size()
        columns = Columns(source.dim, sizes)
        if windows > sizes.exact:
            quantiser = Quantiser.learned(source.sample(SAMPLE), windows)
            columns.windows = WindowColumns(source.dim, sizes, quantiser, in_memory=windows <= sizes.in_memory)
        for array in columns._arrays.values():
            array.reserve(documents)
        columns.windows.reserve(documents, windows)
        columns._append_batches(source.batches(columns._names))
        return columns

    @property
    def outgrown(self) -> bool:
        """Whether reading all anew is cheaper: so many rows are dead, or windows new since the axes were learned."""
        return len(self._rows.dead) > max(FEW_DEAD, len(self._arrays["keys"].view) // 4) or self.windows.outgrown

    def patch(self, source: Source, since: int) -> None:
        """Apply what was written or removed after the change `since`."""
        keys = self._arrays["keys"].view
        for key in source.removed(since, keys):
            self._rows.remove(key)
        self._append_batches(source.batches(self._names, since, int(keys[-1]) if len(keys) else 0))

    def snapshot(self, change: int) -> Snapshot:
        """An immutable view of the columns as they are now."""
        columns: dict[str, Any] = {name: array.view for name, array in self._arrays.items()}
        keys, lengths = columns["keys"], columns.pop("lengths")
        alive = np.ones(len(keys), np.bool_)
        alive[self._rows.dead] = False
        live, dead = (np.flatnonzero(mask).astype(np.int32) for mask in (alive, ~alive))
        order = self._order()
        return Snapshot(
            change=change,
            order=order,
            alive=alive,
            documents=len(live),
            texts=Texts(self._terms, norms(lengths, alive), dead),
            facets=self._facets,
            windows=self.windows.view(keys, order, live, dead),
            names=self._names,
            **columns,
        )

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state to save: metadata as JSON values, and arrays by name."""
        about, arrays = self.windows.state()
        about |= {"dim": self.dim, "profiles": list(self._names.profiles), "layouts": list(self._names.layouts)}
        arrays |= {SAVED_AS.get(name, name): array.view for name, array in self._arrays.items()}
        arrays["dead"] = np.array(self._rows.dead, np.int32)
        for name, segments in (("terms", self._terms), ("facets", self._facets)):
            whole = segments.whole
            arrays |= {f"{name}.{field.name}": getattr(whole, field.name) for field in fields(whole)}
        return about, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, tuple[NDArray[Any], int]], sizes: Sizes) -> "Columns":
        columns = Columns(about["dim"], sizes)
        columns.windows = WindowColumns.from_state(about, arrays, sizes)
        columns._arrays = {name: GrowableArray.over(*arrays[SAVED_AS.get(name, name)]) for name in GROWABLE}
        whole = {name: array[:size] for name, (array, size) in arrays.items()}
        columns._terms, columns._facets = (
            Segments((Postings(**{each.name: whole[f"{name}.{each.name}"] for each in fields(Postings)}),))
            for name in ("terms", "facets")
        )
        columns._names = Names(about["profiles"], about["layouts"])
        columns._rows = RowNumbers(whole["pmids"], whole["dead"].tolist())
        return columns

    def _order(self) -> NDArray[np.int64]:
        """Papers by PMID, chunks by the reverse of their ids."""
        if not self._labels:
            return self._arrays["keys"].view
        order = np.empty(len(self._labels), np.int64)
        order[sorted(range(len(order)), key=self._labels.__getitem__)] = -np.arange(len(order))
        return order

    def _append_batches(self, batches: Iterable[RowBatch]) -> None:
        """Append documents; a key's earlier row becomes dead."""
        terms, facets = GatheredPostings(), GatheredPostings()
        for batch in batches:
            first = len(self._arrays["keys"].view)
            self._rows.add(batch.keys.tolist(), first)
            for name, array in self._arrays.items():
                array.append(getattr(batch, name))
            self._labels += batch.labels
            self.windows.append(batch.windows, batch.vectors)
            rows = np.arange(first, first + len(batch.keys), dtype=np.int32)
            terms.add(batch.terms, np.repeat(rows, batch.term_counts), batch.frequencies)
            facets.add(batch.facets, np.repeat(rows, batch.facet_counts), np.ones(len(batch.facets), np.uint16))
        self._terms = self._terms.plus(terms.postings())
        self._facets = self._facets.plus(facets.postings())


TRIES = 10  # transactions, to find one that is as new as the index in memory


def search(database: Database, answer: Callable[[Connection], T | None]) -> T:
    """What `answer` finds in one transaction; None where the index in memory is newer than that: it is asked again."""
    for attempt in range(TRIES):
        with database.reading(IndexUnavailable, apart=attempt > 0) as connection:
            if (found := answer(connection)) is not None:
                return found
    raise IndexUnavailable("The index is being written to faster than it can be read; search again.")


log = logging.getLogger("bio_mcp.adapters.embedded")

NAME = "corpus.index"  # beside the corpus file
SKETCH = [AXES, 8, "from the mean"]  # a file with other sketches is rebuilt
MIN_WINDOWS = 2 * EXACT  # a smaller index loads from the corpus as fast
MAX_CHANGED = 2_048  # documents changed since the save, or an eighth of all if that is more


def usable(path: Path, source: Source, *, once: bool = False) -> ArrayFile:
    """The file, if it was saved from an earlier state of this corpus that little has changed since; verified as
    `read_arrays` says.

    Raises `Unusable`.
    """
    file = read_arrays(path, once=once)
    about = file.about
    if about["sketch"] != SKETCH:
        raise Unusable(Reason.OTHER_VERSION)
    token, changed = source.past(about["change"])
    if (about["dim"], about["token"]) != (source.dim, token):
        raise Unusable(Reason.OTHER_CORPUS)
    if changed > max(MAX_CHANGED, len(file.arrays["pmids"][0]) // 8):
        raise Unusable(Reason.OUTDATED)
    return file


class LiveIndex:
    """The in-memory index that queries run on, loaded from the corpus file on first use and patched as the file
    changes.

    A large index is also saved in `index_file`, if one is given, which may be deleted at any time. It is loaded if it
    was made from an earlier state of this very corpus, and rebuilt if too much has changed since. Any number of threads
    may call `current`; those that come during a patch wait for it.
    """

    def __init__(self, sizes: Sizes, index_file: Path | None = None) -> None:
        self._sizes, self._index_file = sizes, index_file
        self._lock = Lock()
        self._mapped: ArrayFile | None = None
        self._columns = Columns(0, sizes)
        self._snapshot = self._columns.snapshot(0)
        self._seen: tuple[Identity, Snapshot] = (), self._snapshot  # the corpus file and the snapshot made from it

    def current(self, file: Identity, source: Source) -> Snapshot:
        """The index as the source, in this corpus file, sees it, or newer."""
        seen, snapshot = self._seen
        change = source.change
        modified = self._mapped is not None and self._mapped.has_changed  # reading a cut file would kill this process
        if seen == file and snapshot.change >= change and not modified:
            return snapshot
        with self._lock:
            if self._seen[0] != file:
                self._reset()
            if self._mapped is not None and self._mapped.has_changed:
                log.warning("%s was modified by another program and is rebuilt", NAME)
                self._reset()
            if self._snapshot.change < change:
                self._catch_up(source, change)
            self._seen = file, self._snapshot
            return self._snapshot

    def _catch_up(self, source: Source, change: int) -> None:
        with ExitStack() as failed:
            failed.callback(self._reset)  # a half-applied patch is unusable: the next query reloads everything
            if not self._snapshot.change or source.dim != self._columns.dim:
                self._read(source, change)
            else:
                self._columns.patch(source, self._snapshot.change)
                if self._columns.outgrown:
                    self._read(source, change)
            self._snapshot = self._columns.snapshot(change)
            failed.pop_all()

    def _read(self, source: Source, change: int) -> None:
        """Fill the columns from the saved index and the changes since, or from the corpus file alone."""
        if self._index_file is not None and self._loaded(self._index_file, source) and not self._columns.outgrown:
            return
        self._mapped = None
        self._columns = Columns(0, self._sizes)  # the memory of the old ones is free before the new ones take theirs
        self._columns = Columns.read(source, self._sizes)
        windows, (token, _) = self._columns.windows, source.past(change)
        large = windows.quantiser is not None and windows.count > MIN_WINDOWS  # else a start is as fast without it
        if self._index_file is not None and token is not None and large:
            about, arrays = self._columns.state()
            write_arrays(self._index_file, {**about, "change": change, "token": token, "sketch": SKETCH}, arrays)

    def _loaded(self, index_file: Path, source: Source) -> bool:
        try:
            file = usable(index_file, source, once=True)
        except Unusable as unusable:
            if unusable.reason is Reason.DAMAGED:
                log.warning("%s is damaged and is rebuilt from the corpus", index_file.name)
            return False
        self._columns, self._mapped = Columns.from_state(file.about, file.arrays, self._sizes), file
        self._columns.patch(source, file.about["change"])
        return True

    def _reset(self) -> None:
        self._mapped = None
        self._columns = Columns(0, self._sizes)
        self._snapshot = self._columns.snapshot(0)
