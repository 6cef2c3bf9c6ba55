"""The index as growable columns; snapshots are views of them."""

import sqlite3
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.growable import GrowableArray
from bio_mcp.adapters.embedded.lexical import Texts
from bio_mcp.adapters.embedded.postings import GatheredPostings, Postings, Segments, norms
from bio_mcp.adapters.embedded.quantising import SAMPLE, Quantiser
from bio_mcp.adapters.embedded.row_numbers import RowNumbers
from bio_mcp.adapters.embedded.rows import Names, RowBatch, read_batches, read_sample
from bio_mcp.adapters.embedded.snapshot import Snapshot
from bio_mcp.adapters.embedded.window_columns import Sizes, WindowColumns

GROWABLE = ("pmids", "years", "profiles", "layouts", "lengths")
FEW_DEAD = 1_024  # dead rows are dropped when they exceed both this and a quarter of all rows


class Columns:
    """One row per document version read. Rewriting a document appends a new row and marks its old one dead.

    The caller holds the index's lock. Views handed out in snapshots never change.
    """

    def __init__(self, dim: int, sizes: Sizes) -> None:
        self.dim = dim
        self._pmids: GrowableArray[np.int64] = GrowableArray(np.int64)
        self._years: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._profiles: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._layouts: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._lengths: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._windows = WindowColumns(dim, sizes)
        self._terms = Segments()
        self._facets = Segments()
        self._names = Names()
        self._rows = RowNumbers()

    @staticmethod
    def read(connection: sqlite3.Connection, dim: int, sizes: Sizes) -> "Columns":
        """Read every document of the corpus file."""
        documents, windows = connection.execute("SELECT count(*), coalesce(sum(windows), 0) FROM entries").fetchone()
        columns = Columns(dim, sizes)
        if windows > sizes.exact:
            quantiser = Quantiser.learned(read_sample(connection, dim, SAMPLE), windows)
            columns._windows = WindowColumns(dim, sizes, quantiser, in_memory=windows <= sizes.in_memory)
        for name in GROWABLE:
            getattr(columns, f"_{name}").reserve(documents)
        columns._windows.reserve(documents, windows)
        columns._append_batches(read_batches(connection, columns._names, dim))
        return columns

    @property
    def windows(self) -> int:
        """The number of windows (passage vectors), dead ones included."""
        return self._windows.count

    @property
    def coded(self) -> bool:
        """Whether the windows have codes, and there is a state to save."""
        return self._windows.coded

    @property
    def outgrown(self) -> bool:
        """Whether reading all anew is cheaper: so many rows are dead, or windows new since the axes were learned."""
        dead = len(self._rows.dead)
        return dead > max(FEW_DEAD, len(self._pmids) // 4) or self._windows.outgrown

    def patch(self, connection: sqlite3.Connection, since: int) -> None:
        """Apply what was written or deleted after batch `since`."""
        for (pmid,) in connection.execute("SELECT pmid FROM removed WHERE change > ?", (since,)):
            self._rows.remove(pmid)
        self._append_batches(read_batches(connection, self._names, self.dim, since))

    def snapshot(self, change: int, k1: float, b: float) -> Snapshot:
        """An immutable view of the columns as they are now."""
        live = self._rows.live(len(self._pmids))
        alive = np.zeros(len(self._pmids), dtype=np.bool_)
        alive[live] = True
        dead = np.flatnonzero(~alive).astype(np.int32)
        return Snapshot(
            change=change,
            pmids=self._pmids.view,
            years=self._years.view,
            profiles=self._profiles.view,
            layouts=self._layouts.view,
            alive=alive,
            documents=len(self._rows),
            texts=Texts(self._terms, norms(self._lengths.view, alive, k1, b), dead),
            facets=self._facets,
            windows=self._windows.view(self._pmids.view, live, dead),
            names=self._names,
        )

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state to save: metadata as JSON values, and arrays by name."""
        about, arrays = self._windows.state()
        about |= {"dim": self.dim, **self._names.state()}
        arrays |= {name: getattr(self, f"_{name}").view for name in GROWABLE}
        arrays["dead"] = np.array(self._rows.dead, np.int32)
        for name, segments in (("terms", self._terms), ("facets", self._facets)):
            whole = segments.whole
            arrays |= {f"{name}.{field.name}": getattr(whole, field.name) for field in fields(whole)}
        return about, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, tuple[NDArray[Any], int]], sizes: Sizes) -> "Columns":
        """Rebuild the columns from `state`."""
        columns = Columns(about["dim"], sizes)
        columns._windows = WindowColumns.from_state(about, arrays, sizes)
        for name in GROWABLE:
            setattr(columns, f"_{name}", GrowableArray.over(*arrays[name]))
        columns._terms, columns._facets = (
            Segments((Postings(**{field.name: _whole(arrays[f"{name}.{field.name}"]) for field in fields(Postings)}),))
            for name in ("terms", "facets")
        )
        columns._names = Names.from_state(about)
        columns._rows = RowNumbers(columns._pmids.view, _whole(arrays["dead"]).tolist())
        return columns

    def _append_batches(self, batches: Iterable[RowBatch]) -> None:
        """Append documents; a PMID's earlier row becomes dead."""
        terms, facets = GatheredPostings(), GatheredPostings()
        for batch in batches:
            first = len(self._pmids)
            self._rows.add(batch.pmids.tolist(), first)
            self._pmids.append(batch.pmids)
            self._years.append(batch.years)
            self._profiles.append(batch.profiles)
            self._layouts.append(batch.layouts)
            self._lengths.append(batch.lengths)
            self._windows.append(batch.windows, batch.vectors)
            rows = np.arange(first, len(self._pmids), dtype=np.int32)
            terms.add(batch.terms, np.repeat(rows, batch.term_counts), batch.frequencies)
            facets.add(batch.facets, np.repeat(rows, batch.facet_counts), np.ones(len(batch.facets), np.uint16))
        self._terms = self._terms.plus(terms.postings())
        self._facets = self._facets.plus(facets.postings())


def _whole(array: tuple[NDArray[Any], int]) -> NDArray[Any]:
    values, size = array
    return values[:size]
