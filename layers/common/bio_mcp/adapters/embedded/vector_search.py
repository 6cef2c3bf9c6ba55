"""Nearest documents by cosine over several vectors (windows) per document: selected by bytes, scored exactly.

A product with all vectors is bound by memory: 6.6 GB for a million documents. So the index has bytes. A window is its
coordinates along the principal axes of the corpus: the first of them are its sketch, the others its tail. A document
has a centre, the mean of its sketches with their spread, and signs. Signs select a 29th of a million documents, centres
a third of those, sketches a quarter of their windows, whole codes some more documents than are asked for, and those are
scored by their vectors, which a large corpus reads from its file: every returned cosine is exact, and few hits are
missed (benchmarks/million.py measures the recall). Of a small corpus all vectors are scored.

Two vectors differ in as many signs, in random directions, as the angle between them is wide. 64 signs are one number,
and comparing those of a million vectors takes a millisecond.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.bm25 import Rows, best
from bio_mcp.adapters.embedded.index_file import GrowableArray

Matrix = NDArray[np.float32]
Codes = NDArray[np.int8]

ALONE = 1 << 18  # multiplications up to which OpenBLAS starts no other thread
COLUMNS = 32


def with_each_row(matrix: Matrix, other: Matrix) -> Matrix:
    """The products of each row of `matrix` with each row of `other`, `matrix @ other.T`, on this thread.

    OpenBLAS shares a larger product among threads that wait for the next one by spinning: an index that is built a
    batch at a time took more than half of its CPU that way.
    """
    count, length = other.shape
    groups = -(-count // COLUMNS)
    padded = np.zeros((groups * COLUMNS, length), np.float32)
    padded[:count] = other
    columns = padded.reshape(groups, COLUMNS, length).swapaxes(1, 2)
    result = np.empty((len(matrix), groups, COLUMNS), np.float32)
    step = max(1, ALONE // (COLUMNS * length))
    for start in range(0, len(matrix), step):
        some = slice(start, start + step)
        np.matmul(matrix[some], columns, out=result[some].swapaxes(0, 1))
    return result.reshape(len(matrix), groups * COLUMNS)[:, :count]


Words = NDArray[np.uint64]

WORDS, WORD = 8, 64  # numbers of a vector, and signs in each
HALF = WORDS // 2
COORDINATES = 128  # of a vector, along the principal axes of the corpus: more of them add noise
COMPARED = 1 << 13  # rows compared at once, which stay in the CPU cache
SEED = 7
SUM = np.uint32(0x01010101)  # a product with it has the sum of four bytes in its highest byte


def directions(length: int) -> Matrix:
    """Random directions for vectors of `length` numbers, as rows.

    A product of two Hadamard matrices with random signs is as good as a random rotation, and its numbers are integers,
    the same on every machine.
    """
    random, rows, hadamard = np.random.default_rng(SEED), WORDS * WORD, np.ones((1, 1), np.float32)
    while len(hadamard) < length:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    flips = random.choice(np.array([-1, 1], np.float32), (-(-rows // len(hadamard)), 2, len(hadamard)))
    return np.concatenate([(hadamard * first) @ (hadamard * second) for first, second in flips])[:rows, :length]


def signs(vectors: Matrix, along: Matrix) -> Words:
    """The signs of each vector in these directions, as rows of `WORDS` numbers."""
    return np.packbits(with_each_row(vectors, along) > 0, axis=1).view(np.uint64)


def agreement(words: Words, asked: Words) -> NDArray[np.uint8]:
    """255 less the number of signs in which each row, of `HALF` numbers, differs from those asked for; if it differs in
    all 256 it is 255, too."""
    agreeing, all_asked = np.empty(len(words), np.uint8), np.tile(asked, COMPARED)
    flat = words.reshape(-1)
    for start in range(0, len(words), COMPARED):
        some = flat[start * HALF : (start + COMPARED) * HALF]
        differing = np.bitwise_count(some ^ all_asked[: len(some)]).view(np.uint32)
        agreeing[start : start + COMPARED] = 255 - (differing * SUM >> 24)
    return agreeing


AXES = 96  # coordinates in a window's sketch; the others are its tail
SAMPLE = 16_384  # windows that the axes are learned from
MARGIN = 1.25  # beyond the greatest coordinate of the sample; what is further out is cut off
LIMIT = 127
BLOCK, INNER = 1_024, 64  # rows multiplied at once; OpenBLAS would start a second thread for more than 9,216 numbers


@dataclass(frozen=True, slots=True)
class Quantiser:
    """`axes` has orthonormal rows, those with most of the vectors' length first; `steps` is the step along each.

    Coordinates are counted from `mean`, that of all vectors: what all have in common would take the room of what tells
    them apart, and says nothing of which are near. `along` has the directions of signs, in the first coordinates.
    `windows` counts the windows that the corpus had when they were learned.
    """

    axes: Matrix
    steps: Matrix
    along: Matrix
    mean: Matrix
    windows: int

    @staticmethod
    def learned(sample: Matrix, windows: int) -> "Quantiser":
        """Learn axes and steps from some vectors of a corpus that has `windows`."""
        _, vectors = np.linalg.eigh((sample.T @ sample).astype(np.float64))
        axes = np.ascontiguousarray(vectors[:, ::-1].T, dtype=np.float32)
        coordinates = with_each_row(sample, axes)
        mean = coordinates.sum(axis=0) / np.float32(max(1, len(sample)))
        greatest = np.abs(coordinates - mean).max(axis=0, initial=1e-6)
        along = directions(min(COORDINATES, len(axes)))
        return Quantiser(axes, (greatest * (MARGIN / LIMIT)).astype(np.float32), along, mean, windows)

    def coordinates(self, vectors: Matrix) -> Matrix:
        """The coordinates of vectors, in steps."""
        return np.asarray((with_each_row(vectors, self.axes) - self.mean) / self.steps, np.float32)

    @property
    def sketched(self) -> int:
        return min(AXES, len(self.axes))

    def centre_signs(self, coordinates: Matrix, counts: NDArray[np.int64]) -> Words:
        """The signs of the centre of each document whose windows, `counts` of each, have these coordinates."""
        length, some = self.along.shape[1], counts > 0
        sums = np.zeros((len(counts), length), np.float32)
        if some.any():
            sums[some] = np.add.reduceat(coordinates[:, :length], (np.cumsum(counts) - counts)[some], axis=0)
        return signs(sums * self.steps[:length], self.along)

    def asked_signs(self, weights: Matrix) -> Words:
        """The signs of a question, without the direction of the mean; `weights` are its coordinates times `steps`."""
        own, mean = weights / self.steps, self.mean
        own -= np.einsum("i,i", own, mean) / max(np.einsum("i,i", mean, mean), np.float32(1e-9)) * mean
        return np.packbits(np.einsum("ij,j->i", self.along, own[: self.along.shape[1]]) > 0).view(np.uint64)


def all_products(codes: Codes, weights: Matrix) -> Matrix:
    """The product of every row with `weights`, on this thread, block by block so that they stay in the CPU cache."""
    result = np.empty(-(-len(codes) // BLOCK) * BLOCK, dtype=np.float32)
    block = np.zeros((BLOCK // INNER, INNER, len(weights)), dtype=np.float32)
    rows = block.reshape(BLOCK, len(weights))
    for start in range(0, len(codes), BLOCK):
        some = codes[start : start + BLOCK]
        rows[: len(some)] = some
        np.matmul(block, weights, out=result[start : start + BLOCK].reshape(BLOCK // INNER, INNER))
    return result[: len(codes)]


def some_products(codes: Codes, positions: NDArray[np.intp], weights: Matrix) -> Matrix:
    """The product of some rows with `weights`."""
    result = np.empty(len(positions), dtype=np.float32)
    for start in range(0, len(positions), BLOCK * 16):
        some = positions[start : start + BLOCK * 16]
        result[start : start + len(some)] = all_products(np.take(codes, some, axis=0, mode="clip"), weights)
    return result


Positions = NDArray[np.intp]
Scalar = TypeVar("Scalar", bound=np.generic)
VectorsOf = Callable[[Sequence[int]], list[Matrix]]
"""Reads the vectors of documents, by key; no rows for one that is not stored."""

CENTRES_SHARE, CENTRES_PER_HIT = 12, 10  # documents selected by centre: one in 12, at least 10 per requested hit ...
MANY, MANY_SHARE = 5_120, 160  # ... but of a large corpus this many, and one in 160
ROUGHLY = 9, 3  # times as many are selected before, by half of the signs of the centre, and by all
SKETCHED_SHARE, SKETCHED_PER_HIT = 4, 16  # windows selected by sketch: one in 4, at least 16 per requested hit
SPARE = 8  # documents scored by their vectors: an eighth more than requested
SPREAD = 0.2  # how far a document's best window is beyond its centre, in spreads: measured on real windows
SPREAD_STEPS = 127
COHERENT = 0.55  # above this mean spread, centres are not informative
SAMPLED = 1 << 15  # estimates that a threshold is taken from
BLOCK_BYTES = 256 << 10


Nearest = tuple[Rows, Positions, Matrix]
"""Documents by their best window, best first: row, the window's place among the document's, and cosine."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of all documents in the order of their rows: row i has those at `starts[i]` to `starts[i + 1]`.

    `keys` has each row's document, `order` which of equally close ones is better (the highest), `live` the rows that
    are not dead, `dead` the others. `matrix` has the vectors if they are in memory. Without `codes` all of them are
    scored.
    """

    keys: NDArray[np.int64]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    live: Rows
    dead: Rows
    matrix: Matrix
    codes: "WindowCodes | None"
    in_memory: bool

    def nearest(
        self, vector: Matrix, among: Rows | None, depth: int, read: VectorsOf | None = None, *, all_exact: bool = False
    ) -> Nearest:
        """The `depth` documents whose best window is closest to `vector`, among the live ones or those in `among`.

        With `all_exact` each of them is scored by its vectors, which `read` reads if they are not in memory.
        """
        rows = self.live if among is None else among
        count = depth + max(depth // SPARE, 1)
        if self.codes is not None and not all_exact and len(rows) > count:
            # a product of these weights with the code of a window is about its cosine, less what all have in common
            quantiser = self.codes.quantiser
            weights = np.asarray(np.einsum("ij,j->i", quantiser.axes, vector) * quantiser.steps, np.float32)
            rows = self._selected(self.codes, weights, rows, depth, count)
        if self.in_memory or read is None:
            windows, _ = self._windows_of(rows)
            counts = self.starts[rows + 1] - self.starts[rows]
            whole = len(windows) == len(self.matrix)
            cosines = np.einsum("ij,j->i", self.matrix, vector) if whole else products(self.matrix, windows, vector)
        else:
            vectors = read(self.keys[rows].tolist())
            counts = np.array([len(each) for each in vectors], np.int64)
            every = np.concatenate([self.matrix[:0], *vectors])
            cosines = np.einsum("ij,j->i", every, vector)
        some = counts > 0
        rows, counts = rows[some], counts[some]
        if not len(rows):
            return rows, np.empty(0, np.intp), np.empty(0, np.float32)
        first = np.cumsum(counts) - counts
        top = np.maximum.reduceat(cosines, first)  # each counts by its best window, the first if tied
        chosen = best(top, self.order[rows], depth)
        tops = np.flatnonzero(cosines == np.repeat(top, counts))
        at = tops[np.searchsorted(tops, first[chosen])]
        return rows[chosen], at - first[chosen], top[chosen]

    def _selected(self, codes: "WindowCodes", weights: Matrix, rows: Rows, depth: int, count: int) -> Rows:
        """The `count` of `rows` whose best window's code is closest, ascending; fewer if fewer have a window."""
        near = self._by_centre(codes, weights, rows, depth)
        windows, owners = self._windows_of(near)
        sketched = some_products(codes.sketches, windows, weights[: codes.sketches.shape[1]])
        keep = _best_positions(sketched, max(SKETCHED_PER_HIT * depth, len(windows) // SKETCHED_SHARE))
        first = np.flatnonzero(np.diff(owners[keep], prepend=-1))
        if len(first) < min(count, len(near)):  # one document's windows crowd the others out
            keep, first = np.arange(len(windows)), np.flatnonzero(np.diff(owners, prepend=-1))
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
        first, second = ROUGHLY
        if len(rows) <= 2 * second * count:
            return rows.astype(np.intp)
        asked = codes.quantiser.asked_signs(weights)
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


EXACT = 6_144
IN_MEMORY = 1 << 18  # 60,000 papers, 0.4 GB
GROWTH = 4  # axes and steps are learned anew when the corpus has so many times the windows that it had

OF_ROWS = ("starts", "centres", "signs", "other_signs")  # the others have a row for each window
LEARNED = ("axes", "steps", "along", "mean")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Up to `exact` windows each question is compared with all of them; beyond `in_memory` their vectors are read from
    the corpus file."""

    exact: int = EXACT
    in_memory: int = IN_MEMORY


class WindowColumns:
    """A row's windows are those from its place in `starts` to the next one's.

    With a quantiser there are codes of each and a centre per row. `in_memory` tells whether there are vectors, too;
    without a quantiser there must be.
    """

    def __init__(self, dim: int, sizes: Sizes, quantiser: Quantiser | None = None, *, in_memory: bool = True) -> None:
        self._sizes, self.quantiser, self._in_memory = sizes, quantiser, in_memory
        sketched = quantiser.sketched if quantiser else 0
        self._arrays: dict[str, GrowableArray[Any]] = {
            "starts": GrowableArray(np.int64),
            "matrix": GrowableArray(np.float32, dim),
            "sketches": GrowableArray(np.int8, sketched),
            "tails": GrowableArray(np.int8, dim - sketched),
            "centres": GrowableArray(np.int8, sketched),
            "signs": GrowableArray(np.uint64, HALF),
            "other_signs": GrowableArray(np.uint64, HALF),
        }
        self._arrays["starts"].append(np.zeros(1, np.int64))

    @property
    def count(self) -> int:
        return int(self._arrays["starts"].view[-1])

    @property
    def outgrown(self) -> bool:
        """Whether so many windows should be held otherwise, or the codes were learned from far fewer."""
        if self.quantiser is None:
            return self.count > self._sizes.exact
        return self.count > GROWTH * self.quantiser.windows or (self._in_memory and self.count > self._sizes.in_memory)

    def reserve(self, rows: int, windows: int) -> None:
        for name, array in self._arrays.items():
            if self._in_memory if name == "matrix" else self.quantiser or name == "starts":
                array.reserve(rows + 1 if name in OF_ROWS else windows)

    def append(self, counts: NDArray[np.int64], vectors: Matrix) -> None:
        """Append rows that have `counts` windows each, with these vectors."""
        new = {"starts": self._arrays["starts"].view[-1] + np.cumsum(counts)}
        if self._in_memory:
            new["matrix"] = vectors
        if self.quantiser is not None:
            quantiser, sketched = self.quantiser, self.quantiser.sketched
            coordinates = quantiser.coordinates(vectors)
            codes = np.clip(np.rint(coordinates), -LIMIT, LIMIT).astype(np.int8)
            signs = self.quantiser.centre_signs(coordinates, counts)
            new |= {"sketches": codes[:, :sketched], "tails": codes[:, sketched:]}
            new |= {"centres": centre_codes(coordinates[:, :sketched], self.quantiser.steps, counts)}
            new |= {"signs": signs[:, :HALF], "other_signs": signs[:, HALF:]}
        for name, values in new.items():
            self._arrays[name].append(values)

    def view(self, keys: NDArray[np.int64], order: NDArray[np.int64], live: Rows, dead: Rows) -> Windows:
        """The windows as they are now, of rows with these keys."""
        codes, columns = None, {name: array.view for name, array in self._arrays.items()}
        starts, matrix = columns.pop("starts"), columns.pop("matrix")
        if self.quantiser is not None:
            spread = columns["centres"][:, -1]
            coherent = not len(spread) or float(spread.mean()) <= COHERENT * SPREAD_STEPS
            codes = WindowCodes(self.quantiser, coherent=coherent, **columns)
        return Windows(keys, order, starts, live, dead, matrix, codes, self._in_memory)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state to save, of windows that have codes: metadata, and arrays by name."""
        if self.quantiser is None:
            return {}, {}
        arrays = {name: array.view for name, array in self._arrays.items()}
        arrays |= {name: getattr(self.quantiser, name) for name in LEARNED}
        return {"learned_from": self.quantiser.windows, "in_memory": self._in_memory}, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, tuple[NDArray[Any], int]], sizes: Sizes) -> "WindowColumns":
        learned = {name: array[:size] for name, (array, size) in arrays.items() if name in LEARNED}
        quantiser = Quantiser(**learned, windows=about["learned_from"])
        columns = WindowColumns(len(quantiser.axes), sizes, quantiser, in_memory=about["in_memory"])
        columns._arrays = {name: GrowableArray.over(*arrays[name]) for name in columns._arrays}
        return columns
