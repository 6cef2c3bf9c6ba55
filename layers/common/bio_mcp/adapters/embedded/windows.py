"""Nearest documents by cosine over several vectors (windows) per document: selected by bytes, scored exactly.

A product with all vectors is bound by memory: 6.6 GB for a million documents. So the index has bytes. A window is its
coordinates along the principal axes of the corpus: the first of them are its sketch, the others its tail. A document
has a centre, the mean of its sketches with their spread, and its signs. Signs select a 30th of a million documents,
centres half of those, sketches a quarter of their windows, whole codes some more documents than are asked for, and
those are scored by their vectors, which a large corpus reads from its file: every returned cosine is exact, and next to
no hit is missed (benchmarks/million.py measures the recall). Of a small corpus all vectors are scored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.postings import Rows, best
from bio_mcp.adapters.embedded.quantising import Codes, Matrix, Quantiser, some_products
from bio_mcp.adapters.embedded.signs import HALF, Words, agreement

Positions = NDArray[np.intp]
Scalar = TypeVar("Scalar", bound=np.generic)
VectorsOf = Callable[[Sequence[int]], list[Matrix]]
"""Reads the vectors of documents, by PMID; no rows for one that is not stored."""

CENTRES_SHARE, CENTRES_PER_HIT = 12, 10  # documents selected by centre: one in 12, at least 10 per requested hit ...
MANY, MANY_SHARE = 8_192, 120  # ... but of a large corpus this many, and one in 120
ROUGHLY = 6, 2  # times as many are selected before, by half of the signs of the centre, and by all
SKETCHED_SHARE, SKETCHED_PER_HIT = 4, 16  # windows selected by sketch: one in 4, at least 16 per requested hit
SPARE = 8  # documents scored by their vectors: an eighth more than requested
SPREAD = 0.2  # how far a document's best window is beyond its centre, in spreads: measured on real windows
SPREAD_STEPS = 127
COHERENT = 0.55  # above this mean spread, centres are not informative
SAMPLED = 1 << 15  # estimates that a threshold is taken from
BLOCK_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Nearest:
    """Documents by their best window, best first: row, the window's place among the document's, and cosine."""

    rows: Rows
    places: Positions
    cosines: Matrix


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of all documents in the order of their rows: row i has those at `starts[i]` to `starts[i + 1]`.

    `pmids` has each row's document, `live` the rows that are not dead, `dead` the others. `matrix` has the vectors if
    they are in memory. Without `codes` all of them are scored.
    """

    pmids: NDArray[np.int64]
    starts: NDArray[np.int64]
    live: Rows
    dead: Rows
    matrix: Matrix
    codes: "WindowCodes | None"
    in_memory: bool

    @property
    def dim(self) -> int:
        """The length of the vectors."""
        return int(self.matrix.shape[1])

    def nearest(
        self, vector: Matrix, among: Rows | None, depth: int, read: VectorsOf, *, all_exact: bool = False
    ) -> Nearest:
        """The `depth` documents whose best window is closest to `vector`, among the live ones or those in `among`.

        With `all_exact` each of them is scored by its vectors.
        """
        rows = self.live if among is None else among
        count = depth + max(depth // SPARE, 1)
        if self.codes is not None and not all_exact and len(rows) > count:
            rows = self._selected(self.codes, self.codes.quantiser.weights(vector), rows, depth, count)
        vectors = self._held(rows) if self.in_memory else read(self.pmids[rows].tolist())
        return self._ranked(vector, rows, depth, vectors)

    def _selected(self, codes: "WindowCodes", weights: Matrix, rows: Rows, depth: int, count: int) -> Rows:
        """The `count` of `rows` whose best window's code is closest, ascending; fewer if fewer have a window."""
        near = self._by_centre(codes, weights, rows, depth)
        windows, owners = self._windows_of(near)
        sketched = some_products(codes.sketches, windows, weights[: codes.sketches.shape[1]])
        keep = _best_positions(sketched, max(SKETCHED_PER_HIT * depth, len(windows) // SKETCHED_SHARE))
        first = _first_of_each(owners[keep])
        if len(first) < min(count, len(near)):  # one document's windows crowd the others out
            keep, first = np.arange(len(windows)), _first_of_each(owners)
        scores = sketched[keep] + some_products(codes.tails, windows[keep], weights[codes.sketches.shape[1] :])
        tops = np.maximum.reduceat(scores, first) if len(first) else scores
        return owners[keep[first]][_best_positions(tops, count)]

    def _by_centre(self, codes: "WindowCodes", weights: Matrix, rows: Rows, depth: int) -> Rows:
        """Those of `rows` with the best centres; all of them if centres are not informative."""
        count = max(min(len(rows) // CENTRES_SHARE, MANY + len(rows) // MANY_SHARE), CENTRES_PER_HIT * depth)
        if len(rows) <= count or not codes.coherent:
            return rows
        near = self._by_signs(codes, weights, rows, count)
        scores = some_products(codes.centres, near, codes.centre_weights(weights))
        return near[scores >= _threshold(scores, count)].astype(np.int32)

    def _by_signs(self, codes: "WindowCodes", weights: Matrix, rows: Rows, count: int) -> Positions:
        """Those of `rows` whose centre has the most signs of the question, several times `count`; all if these are
        most of them."""
        (first, second), asked = ROUGHLY, codes.quantiser.signs(weights)
        if len(rows) <= 2 * second * count:
            return rows.astype(np.intp)
        if rows is self.live:
            at, agreeing = None, agreement(codes.signs, asked[:HALF])
            agreeing[self.dead] = 0
        else:
            at = rows.astype(np.intp)
            agreeing = agreement(codes.signs.take(at, axis=0, mode="clip"), asked[:HALF])
        least = max(_threshold(agreeing, min(first * count, len(rows))), np.uint8(1))
        passing = np.flatnonzero(agreeing >= least)
        at = passing if at is None else at[passing]
        more = agreement(codes.other_signs.take(at, axis=0, mode="clip"), asked[HALF:])
        whole = agreeing[passing].astype(np.uint16) + more
        return at[whole >= _threshold(whole, second * count)]

    def _windows_of(self, rows: Rows) -> tuple[Positions, Rows]:
        """The windows of `rows`, which must ascend, and the row of each."""
        first = self.starts[rows]
        counts = self.starts[rows + 1] - first
        ends = np.cumsum(counts)
        windows = np.repeat(first - ends + counts, counts) + np.arange(ends[-1] if len(ends) else 0)
        return windows, np.repeat(rows, counts)

    def _held(self, rows: Rows) -> list[Matrix]:
        return [self.matrix[self.starts[row] : self.starts[row + 1]] for row in rows.tolist()]

    def _ranked(self, vector: Matrix, rows: Rows, depth: int, vectors: Sequence[Matrix]) -> Nearest:
        """Score `rows` by their vectors; each counts by its best one, the first if tied."""
        counts = np.array([len(each) for each in vectors], np.int64)
        some = counts > 0
        rows, counts = rows[some], counts[some]
        if not len(rows):
            return Nearest(rows, np.empty(0, np.intp), np.empty(0, np.float32))
        cosines = np.einsum("ij,j->i", np.concatenate(vectors), vector)
        first = np.cumsum(counts) - counts
        top = np.maximum.reduceat(cosines, first)
        chosen = best(top, self.pmids[rows], depth)
        tops = np.flatnonzero(cosines == np.repeat(top, counts))
        at = tops[np.searchsorted(tops, first[chosen])]
        return Nearest(rows[chosen], at - first[chosen], top[chosen])


@dataclass(frozen=True, slots=True)
class WindowCodes:
    """A sketch and a tail per window. Per row a centre, the mean of its sketches but for their last coordinate, and
    their spread; and the signs of its mean, in two halves."""

    quantiser: Quantiser
    sketches: Codes
    tails: Codes
    centres: Codes
    signs: Words
    other_signs: Words
    coherent: bool

    def centre_weights(self, weights: Matrix) -> Matrix:
        """What a product with a centre must be taken with, to estimate how close the best window is."""
        means = weights[: self.centres.shape[1] - 1]
        length = np.linalg.norm(means / self.quantiser.steps[: len(means)])
        return np.append(means, np.float32(SPREAD * length / SPREAD_STEPS))


def _best_positions(estimates: Matrix, count: int) -> Positions:
    """The positions of the `count` highest estimates, ascending."""
    if len(estimates) <= count:
        return np.arange(len(estimates))
    positions = np.argpartition(estimates, len(estimates) - count)[len(estimates) - count :]
    positions.sort()
    return positions


def _threshold(estimates: NDArray[Scalar], count: int) -> Scalar:
    """A value that about `count` of many estimates reach, from an even sample of them; no fewer than `count`."""
    step = max(1, len(estimates) // SAMPLED)
    sample = estimates[::step]
    place = max(0, len(sample) - int(count / step * 1.02) - 1)
    threshold: Scalar = np.partition(sample, place)[place]
    return threshold


def _first_of_each(owners: Rows) -> Positions:
    return np.flatnonzero(np.diff(owners, prepend=-1))


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


def centre_codes(coordinates: Matrix, steps: Matrix, counts: NDArray[np.int64]) -> Codes:
    """The centre of each document whose windows, `counts` of each, have these sketched coordinates; zeros for one
    without."""
    axes = coordinates.shape[1] - 1
    codes = np.zeros((len(counts), axes + 1), dtype=np.int8)
    some = counts > 0
    if some.any():
        first, lengths = (np.cumsum(counts) - counts)[some], steps[:axes]
        own = coordinates[:, :axes]
        mean = np.add.reduceat(own, first, axis=0) / counts[some][:, None]
        squares = np.add.reduceat(np.square(own * lengths).sum(axis=1), first) / counts[some]
        spread = np.sqrt(np.maximum(squares - np.square(mean * lengths).sum(axis=1), 0))
        whole = np.concatenate([mean, spread[:, None] * SPREAD_STEPS], axis=1)
        codes[some] = np.clip(np.rint(whole), -SPREAD_STEPS, SPREAD_STEPS)
    return codes
