"""Nearest documents by cosine over several vectors (windows) per document: approximate selection, exact scores.

A product with the full matrix is bound by memory: 0.34 GB for 50,000 documents. So each window also has a sketch, its
coordinates along the principal axes of the corpus, and each document a centre, the mean of its sketches with their
spread. Centres select one document in twelve, sketches a few thousand of their windows, and those are scored with their
full vectors: every returned cosine is exact, and next to no hit is missed (benchmarks/engine.py measures the recall). A
small number of windows is scored directly.

`numpy.einsum` is used where `@` would be faster alone: it stays on this thread, while OpenBLAS makes each product wait
for a second core that other requests are using.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.postings import Rows, best

Matrix = NDArray[np.float32]
Positions = NDArray[np.intp]

AXES = 96
SAMPLE = 16_384  # windows that the axes are learned from
EXACT = 6_144  # up to this many windows are scored directly
CENTRES_SHARE, CENTRES_PER_HIT = 12, 10  # documents selected by centre: one in 12, at least 10 per requested hit
RESCORED, RESCORED_PER_HIT = 3_072, 16  # windows scored in full: at most this many, but 16 per requested hit
SPREAD = 0.2  # how far a document's best window is beyond its centre, in spreads: measured on real windows
COHERENT = 0.55  # above this mean spread, centres are not informative
BLOCK_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Sketches:
    """`axes` has orthonormal rows; `windows` and `centres` are coordinates along them, per window and per row.

    A centre's last column is the root mean square distance of the row's windows from it.
    """

    axes: Matrix
    windows: Matrix
    centres: Matrix


@dataclass(frozen=True, slots=True)
class Nearest:
    """Documents by their best window, best first: row, window (position in the matrix) and cosine."""

    rows: Rows
    windows: Positions
    cosines: Matrix


@dataclass(frozen=True, slots=True)
class Windows:
    """The vectors of all documents in the order of their rows: row i has those at `starts[i]` to `starts[i + 1]`.

    `rows` maps each window to its row; `dead` lists the dead rows.
    """

    matrix: Matrix
    starts: NDArray[np.int64]
    rows: Rows
    dead: Rows
    sketches: Sketches | None

    def nearest(self, vector: Matrix, among: Rows | None, pmids: NDArray[np.int64], depth: int) -> Nearest:
        """The `depth` documents whose best window is closest to `vector`, among the live ones or those in `among`."""
        live = len(self.starts) - 1 - len(self.dead) if among is None else len(among)
        if self.sketches is not None and live * len(self.rows) > EXACT * (len(self.starts) - 1):
            sketch = self.sketches.axes @ vector
            picked = self._by_centre(self.sketches, sketch, among, max(live // CENTRES_SHARE, CENTRES_PER_HIT * depth))
            chosen = self._by_sketch(self.sketches, sketch, self._of(picked), depth)
            nearest_ = self._ranked(vector, chosen, pmids, depth)
            if len(nearest_.rows) == depth:
                return nearest_
        return self._ranked(vector, self._of(self._live() if among is None else among), pmids, depth)

    def _by_centre(self, sketches: Sketches, sketch: Matrix, among: Rows | None, count: int) -> Rows:
        """The `count` rows with the best centres, ascending; all rows if centres are not informative."""
        if float(sketches.centres[:, -1].mean()) > COHERENT:
            return self._live() if among is None else among
        sketch = np.append(sketch, np.float32(SPREAD * np.linalg.norm(sketch)))
        if among is not None:
            estimates = products(sketches.centres, among.astype(np.intp), sketch)
            return among if len(among) <= count else among[_best_positions(estimates, count)]
        estimates = np.einsum("ij,j->i", sketches.centres, sketch)
        estimates[self.dead] = -np.inf
        if len(estimates) - len(self.dead) <= count:
            return self._live()
        return _best_positions(estimates, count).astype(np.int32)

    def _by_sketch(self, sketches: Sketches, sketch: Matrix, windows: Positions, depth: int) -> Positions:
        """The windows with the best sketches, ascending."""
        count = max(RESCORED_PER_HIT * depth, min(RESCORED, len(windows) // 4))
        if len(windows) <= count:
            return windows
        return windows[_best_positions(products(sketches.windows, windows, sketch), count)]

    def _of(self, rows: Rows) -> Positions:
        """The windows of `rows`, which must ascend."""
        first = self.starts[rows]
        counts = self.starts[rows + 1] - first
        ends = np.cumsum(counts)
        return np.repeat(first - ends + counts, counts) + np.arange(ends[-1] if len(ends) else 0)

    def _live(self) -> Rows:
        live = np.ones(len(self.starts) - 1, dtype=np.bool_)
        live[self.dead] = False
        return np.flatnonzero(live).astype(np.int32)

    def _ranked(self, vector: Matrix, windows: Positions, pmids: NDArray[np.int64], depth: int) -> Nearest:
        """Score `windows`, which must ascend, in full; each document counts by its best one, the first if tied."""
        cosines = products(self.matrix, windows, vector)
        rows = self.rows[windows]
        first = np.flatnonzero(np.diff(rows, prepend=-1))
        if not len(first):
            return Nearest(rows, windows, cosines)
        top = np.maximum.reduceat(cosines, first)
        chosen = best(top, pmids[rows[first]], depth)
        tops = np.flatnonzero(cosines == np.repeat(top, np.diff(first, append=len(rows))))
        at = tops[np.searchsorted(tops, first[chosen])]
        return Nearest(rows[at], windows[at], cosines[at])


def _best_positions(estimates: Matrix, count: int) -> Positions:
    """The positions of the `count` highest estimates, ascending."""
    positions = np.argpartition(estimates, len(estimates) - count)[len(estimates) - count :]
    positions.sort()
    return positions


def products(matrix: Matrix, rows: Positions, vector: Matrix) -> Matrix:
    """The dot products of some rows of `matrix` with `vector`, gathered block by block so that they stay in the CPU
    cache."""
    result = np.empty(len(rows), dtype=np.float32)
    step = max(1, BLOCK_BYTES // max(1, vector.nbytes))
    block = np.empty((min(step, len(rows)), len(vector)), dtype=np.float32)
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        np.take(matrix, some, axis=0, out=block[: len(some)], mode="clip")
        np.einsum("ij,j->i", block[: len(some)], vector, out=result[start : start + len(some)])
    return result


def principal_axes(matrix: Matrix, count: int = AXES) -> Matrix:
    """The `count` orthonormal directions that hold most of the vectors' length, learned from an even sample."""
    sample = matrix[:: max(1, len(matrix) // SAMPLE)]
    _, vectors = np.linalg.eigh((sample.T @ sample).astype(np.float64))
    return np.ascontiguousarray(vectors[:, ::-1][:, :count].T, dtype=np.float32)


def centres(sketches: Matrix, starts: NDArray[np.int64]) -> Matrix:
    """The centre and spread of rows `starts[i]` to `starts[i + 1]` of `sketches`, for each i; zeros for an empty
    range."""
    counts = np.diff(starts)
    some = counts > 0
    result = np.zeros((len(counts), sketches.shape[1] + 1), dtype=np.float32)
    if some.any():
        first, counts = starts[:-1][some], counts[some]
        own = sketches[first[0] : starts[-1]]
        mean = np.add.reduceat(own, first - first[0], axis=0) / counts[:, None]
        squares = np.add.reduceat(np.einsum("ij,ij->i", own, own), first - first[0]) / counts
        spread = np.sqrt(np.maximum(squares - np.einsum("ij,ij->i", mean, mean), 0))
        result[some] = np.concatenate([mean, spread[:, None]], axis=1)
    return result
