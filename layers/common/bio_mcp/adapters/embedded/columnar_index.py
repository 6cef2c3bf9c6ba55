"""The index as growable columns; snapshots are views of them."""

import sqlite3
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.growable import GrowableArray
from bio_mcp.adapters.embedded.postings import Postings, Segments, norms
from bio_mcp.adapters.embedded.rows import Names, RowBatch, read_batches
from bio_mcp.adapters.embedded.snapshot import Snapshot
from bio_mcp.adapters.embedded.windows import EXACT, Sketches, Windows, centres, principal_axes

GROWABLE = (
    "pmids",
    "years",
    "profiles",
    "layouts",
    "lengths",
    "starts",
    "window_rows",
    "matrix",
    "sketches",
    "centres",
)
FEW_DEAD = 1_024  # dead rows are dropped when they exceed both this and a quarter of all rows


class Columns:
    """One row per document version read. Rewriting a document appends a new row and marks its old one dead.

    The caller holds the index's lock. Views handed out in snapshots never change.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._pmids: GrowableArray[np.int64] = GrowableArray(np.int64)
        self._years: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._profiles: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._layouts: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._lengths: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._starts: GrowableArray[np.int64] = GrowableArray(np.int64)
        self._starts.append(np.zeros(1, np.int64))
        self._window_rows: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._matrix: GrowableArray[np.float32] = GrowableArray(np.float32, dim)
        self._axes: NDArray[np.float32] | None = None
        self._axes_windows = 0  # windows there were when the axes were learned
        self._sketches: GrowableArray[np.float32] = GrowableArray(np.float32, 0)
        self._centres: GrowableArray[np.float32] = GrowableArray(np.float32, 0)
        self._terms = Segments()
        self._facets = Segments()
        self._names = Names()
        self._rows: dict[int, int] = {}
        self._dead: list[int] = []

    @property
    def windows(self) -> int:
        """The number of windows (passage vectors), dead ones included."""
        return len(self._matrix)

    @property
    def bloated(self) -> bool:
        """Whether dead rows are so many that reloading is cheaper than masking them."""
        return len(self._dead) > max(FEW_DEAD, len(self._pmids) // 4)

    def load(self, connection: sqlite3.Connection) -> None:
        """Read every document of the corpus file."""
        documents, windows = connection.execute("SELECT count(*), coalesce(sum(windows), 0) FROM entries").fetchone()
        for column in (self._pmids, self._years, self._profiles, self._layouts, self._lengths, self._starts):
            column.reserve(documents + 1)
        self._window_rows.reserve(windows)
        self._matrix.reserve(windows)
        self._append_batches(read_batches(connection, self._names, self.dim))
        self._sketch()

    def patch(self, connection: sqlite3.Connection, since: int) -> None:
        """Apply what was written or deleted after batch `since`."""
        self._mark_dead(pmid for (pmid,) in connection.execute("SELECT pmid FROM removed WHERE change > ?", (since,)))
        self._append_batches(read_batches(connection, self._names, self.dim, since))

    def snapshot(self, change: int, k1: float, b: float) -> Snapshot:
        """An immutable view of the columns as they are now."""
        alive = np.ones(len(self._pmids), dtype=np.bool_)
        alive[self._dead] = False
        return Snapshot(
            change=change,
            pmids=self._pmids.view,
            years=self._years.view,
            profiles=self._profiles.view,
            layouts=self._layouts.view,
            alive=alive,
            norms=norms(self._lengths.view, alive, k1, b),
            documents=len(self._rows),
            terms=self._terms,
            facets=self._facets,
            windows=self._windows(alive),
            names=self._names,
        )

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state to save: metadata as JSON values, and arrays by name. There must be no dead rows."""
        about = {"dim": self.dim, "axes_windows": self._axes_windows, **self._names.state()}
        arrays = {name: getattr(self, f"_{name}").view for name in GROWABLE}
        arrays["axes"] = np.empty((0, self.dim), np.float32) if self._axes is None else self._axes
        for name, segments in (("terms", self._terms), ("facets", self._facets)):
            whole = segments.main.merged(segments.delta)
            arrays |= {f"{name}.{field.name}": getattr(whole, field.name) for field in fields(whole)}
        return about, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, tuple[NDArray[Any], int]]) -> "Columns":
        """Rebuild the columns from `state`."""
        columns = Columns(about["dim"])
        for name in GROWABLE:
            setattr(columns, f"_{name}", GrowableArray.over(*arrays[name]))
        axes, count = arrays["axes"]
        columns._axes, columns._axes_windows = (axes[:count] if count else None), about["axes_windows"]
        columns._terms, columns._facets = (
            Segments(Postings(**{field.name: _whole(arrays[f"{name}.{field.name}"]) for field in fields(Postings)}))
            for name in ("terms", "facets")
        )
        columns._names = Names.from_state(about)
        columns._rows = dict(zip(columns._pmids.view.tolist(), range(len(columns._pmids)), strict=True))
        return columns

    def _windows(self, alive: NDArray[np.bool_]) -> Windows:
        self._sketch()
        sketches = None if self._axes is None else Sketches(self._axes, self._sketches.view, self._centres.view)
        dead = np.flatnonzero(~alive).astype(np.int32)
        return Windows(self._matrix.view, self._starts.view, self._window_rows.view, dead, sketches)

    def _append_batches(self, batches: Iterable[RowBatch]) -> None:
        """Append documents; a PMID's earlier row becomes dead."""
        terms, facets = [], []
        for batch in batches:
            first = len(self._pmids)
            self._mark_dead(batch.pmids.tolist())
            self._rows.update(zip(batch.pmids.tolist(), range(first, first + len(batch.pmids)), strict=True))
            self._append(batch)
            rows = np.arange(first, first + len(batch.pmids), dtype=np.int32)
            self._window_rows.append(np.repeat(rows, batch.windows))
            self._starts.append(self._starts.view[-1] + np.cumsum(batch.windows))
            terms.append((batch.terms, np.repeat(rows, batch.term_counts), batch.frequencies))
            facets.append((batch.facets, np.repeat(rows, batch.facet_counts), np.ones(len(batch.facets), np.uint16)))
        if terms:
            self._terms = self._terms.plus(Postings.of(*map(np.concatenate, zip(*terms, strict=True))))
            self._facets = self._facets.plus(Postings.of(*map(np.concatenate, zip(*facets, strict=True))))

    def _append(self, batch: RowBatch) -> None:
        self._pmids.append(batch.pmids)
        self._years.append(batch.years)
        self._profiles.append(batch.profiles)
        self._layouts.append(batch.layouts)
        self._lengths.append(batch.lengths)
        self._matrix.append(batch.vectors)

    def _mark_dead(self, pmids: Iterable[int]) -> None:
        rows = (self._rows.pop(pmid, None) for pmid in pmids)
        self._dead.extend(row for row in rows if row is not None)

    def _sketch(self) -> None:
        """Bring the sketches up to date; relearn the axes when the corpus has doubled."""
        matrix = self._matrix.view
        if len(matrix) <= EXACT:
            return
        if self._axes is None or len(matrix) > 2 * self._axes_windows:
            self._axes, self._axes_windows = principal_axes(matrix), len(matrix)
            self._sketches = GrowableArray(np.float32, len(self._axes))
            self._sketches.reserve(len(matrix))
            self._centres = GrowableArray(np.float32, len(self._axes) + 1)
        self._sketches.append(matrix[len(self._sketches) :] @ self._axes.T)
        self._centres.append(centres(self._sketches.view, self._starts.view[len(self._centres) :]))


def _whole(array: tuple[NDArray[Any], int]) -> NDArray[Any]:
    values, size = array
    return values[:size]
