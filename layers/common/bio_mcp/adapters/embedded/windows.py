"""Cosine search over several vectors per document, exact at the end and cheap on the way.

A product with the full matrix is bound by memory: 0.34 GB for 50,000 documents. So every window also has a
sketch, its coordinates along the principal axes of the corpus, and every document a centre: the mean of its
sketches and how far they spread about it. Centres pick one document in twelve, the sketches of their windows pick
a few thousand windows, and those are scored with their full vectors: every cosine that is returned is exact, and
next to none is missed (benchmarks/engine.py measures how many). Few windows are scored outright.
`numpy.einsum` stands where `@` would be faster alone: it keeps to this thread, where OpenBLAS makes each product
wait for a second core that other requests are using.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.postings import Rows, best

Matrix = NDArray[np.float32]
Positions = NDArray[np.intp]

AXES = 96
SAMPLE = 16_384  # windows that the axes are learned from
EXACT = 6_144  # up to so many windows are scored outright
CENTRES_SHARE, CENTRES_PER_HIT = 12, 10  # documents picked by centre: one in 12, and 10 for each asked for
RESCORED, RESCORED_PER_HIT = 3_072, 16  # windows scored in full: so many at most, but 16 for each asked for
SPREAD = 0.2  # how far a document's best window is beyond its centre, in spreads: measured on real windows
COHERENT = 0.55  # where documents spread more than this on average, their centres say too little
BLOCK_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Sketches:
    """`axes` has orthonormal rows; `windows` and `centres` hold coordinates along them, per window and per row.

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
    """The vectors of all documents, in the order of their rows: those of row i from `starts[i]` to `starts[i + 1]`.

    `rows` tells each window's row, `dead` the rows that no longer count.
    """

    matrix: Matrix
    starts: NDArray[np.int64]
    rows: Rows
    dead: Rows
    sketches: Sketches | None

    def nearest(self, vector: Matrix, among: Rows | None, pmids: NDArray[np.int64], depth: int) -> Nearest:
        """The `depth` documents, of the live ones or of `among`, whose best window is closest to `vector`."""
        live = len(self.starts) - 1 - len(self.dead) if among is None else len(among)
        if self.sketches is not None and live * len(self.rows) > EXACT * (len(self.starts) - 1):
            sketch = self.sketches.axes @ vector
            picked = self._by_centre(self.sketches, sketch, among, max(live // CENTRES_SHARE, CENTRES_PER_HIT * depth))
            chosen = self._by_sketch(self.sketches, sketch, self._of(picked), depth)
            found = self._ranked(vector, chosen, pmids, depth)
            if len(found.rows) == depth:
                return found
        return self._ranked(vector, self._of(self._live() if among is None else among), pmids, depth)

    def _by_centre(self, sketches: Sketches, sketch: Matrix, among: Rows | None, count: int) -> Rows:
        """The `count` rows with the best centres, ascending; all where centres say too little."""
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
        """The windows of `rows`, which ascend."""
        first = self.starts[rows]
        counts = self.starts[rows + 1] - first
        ends = np.cumsum(counts)
        return np.repeat(first - ends + counts, counts) + np.arange(ends[-1] if len(ends) else 0)

    def _live(self) -> Rows:
        live = np.ones(len(self.starts) - 1, dtype=np.bool_)
        live[self.dead] = False
        return np.flatnonzero(live).astype(np.int32)

    def _ranked(self, vector: Matrix, windows: Positions, pmids: NDArray[np.int64], depth: int) -> Nearest:
        """Score `windows`, which ascend, in full; keep each document's best, its first if there are several."""
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
    """Where the `count` highest stand, ascending."""
    found = np.argpartition(estimates, len(estimates) - count)[len(estimates) - count :]
    found.sort()
    return found


def products(matrix: Matrix, rows: Positions, vector: Matrix) -> Matrix:
    """The products of some rows of `matrix` with `vector`, gathered by the block so that they stay in the cache."""
    found = np.empty(len(rows), dtype=np.float32)
    step = max(1, BLOCK_BYTES // max(1, vector.nbytes))
    block = np.empty((min(step, len(rows)), len(vector)), dtype=np.float32)
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        np.take(matrix, some, axis=0, out=block[: len(some)], mode="clip")
        np.einsum("ij,j->i", block[: len(some)], vector, out=found[start : start + len(some)])
    return found


def principal_axes(matrix: Matrix, count: int = AXES) -> Matrix:
    """The `count` orthonormal directions that hold most of the vectors' length, learned from an even sample."""
    sample = matrix[:: max(1, len(matrix) // SAMPLE)]
    _, vectors = np.linalg.eigh((sample.T @ sample).astype(np.float64))
    return np.ascontiguousarray(vectors[:, ::-1][:, :count].T, dtype=np.float32)


def centres(sketches: Matrix, starts: NDArray[np.int64]) -> Matrix:
    """The centre of rows `starts[i]` to `starts[i + 1]` of `sketches`, for each i; 0 where there are none."""
    counts = np.diff(starts)
    some = counts > 0
    found = np.zeros((len(counts), sketches.shape[1] + 1), dtype=np.float32)
    if some.any():
        first, counts = starts[:-1][some], counts[some]
        own = sketches[first[0] : starts[-1]]
        mean = np.add.reduceat(own, first - first[0], axis=0) / counts[:, None]
        squares = np.add.reduceat(np.einsum("ij,ij->i", own, own), first - first[0]) / counts
        spread = np.sqrt(np.maximum(squares - np.einsum("ij,ij->i", mean, mean), 0))
        found[some] = np.concatenate([mean, spread[:, None]], axis=1)
    return found
