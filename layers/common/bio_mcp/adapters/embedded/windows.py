"""Cosine search over several vectors per document, exact at the end and cheap on the way.

A product with the full matrix is bound by memory: 0.34 GB for 50,000 documents. So every window also has a
sketch, its coordinates along the principal axes of the corpus. Scanning the sketches ranks the windows closely;
the best few thousand are then scored with their full vectors, and only those scores are returned.
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
BLOCK_BYTES = 256 << 10
RESCORED = 4_096  # windows scored in full after the sketches, or 16 per document asked for if that is more


@dataclass(frozen=True, slots=True)
class Sketches:
    """`axes` has orthonormal rows; `matrix` holds each window's coordinates along them."""

    axes: Matrix
    matrix: Matrix


@dataclass(frozen=True, slots=True)
class Nearest:
    """Documents by their best window, best first: row, window (position in the matrix) and cosine."""

    rows: Rows
    windows: Positions
    cosines: Matrix


@dataclass(frozen=True, slots=True)
class Windows:
    """The vectors of all documents, in the order of their rows: those of row i from `starts[i]` to `starts[i + 1]`.

    `rows` tells each window's row, `dead` the windows of rows that no longer count.
    """

    matrix: Matrix
    starts: NDArray[np.int64]
    rows: Rows
    dead: Positions
    sketches: Sketches | None

    def nearest(self, vector: Matrix, among: Rows | None, pmids: NDArray[np.int64], depth: int) -> Nearest:
        """The `depth` documents, of the live ones or of `among`, whose best window is closest to `vector`."""
        windows = None if among is None else self._of(among)
        among_count = len(self.rows) if windows is None else len(windows)
        kept = max(min(RESCORED, among_count // 8), 16 * depth)
        while True:
            chosen = self._promising(vector, windows, kept)
            found = self._ranked(vector, chosen, pmids, depth)
            if len(found.rows) >= depth or len(chosen) < kept:
                return found
            kept *= 4  # so many windows of so few documents: look further

    def _of(self, rows: Rows) -> Positions:
        """The windows of `rows`, in order."""
        first = self.starts[rows]
        counts = self.starts[rows + 1] - first
        ends = np.cumsum(counts)
        return np.repeat(first - ends + counts, counts) + np.arange(ends[-1] if len(ends) else 0)

    def _promising(self, vector: Matrix, windows: Positions | None, kept: int) -> Positions:
        """The `kept` windows with the best sketches, or all where there are few."""
        count = len(self.rows) if windows is None else len(windows)
        if count <= max(EXACT, kept) or self.sketches is None:
            return self._live() if windows is None else windows
        sketch = self.sketches.axes @ vector
        matrix = self.sketches.matrix
        estimates = np.einsum("ij,j->i", matrix, sketch) if windows is None else products(matrix, windows, sketch)
        if windows is None and len(self.dead):
            estimates[self.dead] = -np.inf
        chosen = np.argpartition(estimates, count - kept)[count - kept :]
        if windows is not None:
            return windows[chosen]
        return chosen if len(self.rows) - len(self.dead) >= kept else self._live()

    def _live(self) -> Positions:
        live = np.ones(len(self.rows), dtype=np.bool_)
        live[self.dead] = False
        return np.flatnonzero(live)

    def _ranked(self, vector: Matrix, windows: Positions, pmids: NDArray[np.int64], depth: int) -> Nearest:
        """Score `windows` in full, keep each document's best, and of those the best `depth`."""
        cosines = products(self.matrix, windows, vector)
        rows = self.rows[windows]
        order = np.lexsort((windows, -cosines, rows))
        first = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
        first = first[best(cosines[first], pmids[rows[first]], depth)]
        return Nearest(rows[first], windows[first], cosines[first])


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
