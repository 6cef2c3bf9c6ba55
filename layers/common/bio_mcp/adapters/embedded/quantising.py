"""Vectors as bytes: coordinates along the principal axes of the corpus, each in steps of its own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.products import with_each_row
from bio_mcp.adapters.embedded.signs import COORDINATES, Words, directions, signs

Matrix = NDArray[np.float32]
Codes = NDArray[np.int8]

AXES = 96  # coordinates in a window's sketch; the others are its tail
SAMPLE = 16_384  # windows that the axes are learned from
MARGIN = 1.25  # beyond the greatest coordinate of the sample; what is further out is cut off
LIMIT = 127
BLOCK, INNER = 1_024, 64  # rows multiplied at once; OpenBLAS would start a second thread for more than 9,216 numbers


@dataclass(frozen=True, slots=True)
class Quantiser:
    """`axes` has orthonormal rows, those with most of the vectors' length first; `steps` is the step along each.

    `along` has the directions of signs, in the first of these coordinates. `windows` counts the windows that the corpus
    had when they were learned.
    """

    axes: Matrix
    steps: Matrix
    along: Matrix
    windows: int

    @staticmethod
    def learned(sample: Matrix, windows: int) -> "Quantiser":
        """Learn axes and steps from some vectors of a corpus that has `windows`."""
        _, vectors = np.linalg.eigh((sample.T @ sample).astype(np.float64))
        axes = np.ascontiguousarray(vectors[:, ::-1].T, dtype=np.float32)
        greatest = np.abs(with_each_row(sample, axes)).max(axis=0, initial=1e-6)
        along = directions(min(COORDINATES, len(axes)))
        return Quantiser(axes, (greatest * (MARGIN / LIMIT)).astype(np.float32), along, windows)

    @property
    def sketched(self) -> int:
        """The number of coordinates in a sketch."""
        return min(AXES, len(self.axes))

    def coordinates(self, matrix: Matrix) -> Matrix:
        """The coordinates of vectors, in steps, as numbers that are not rounded yet."""
        return np.asarray(with_each_row(matrix, self.axes) / self.steps, np.float32)

    def centre_signs(self, coordinates: Matrix, counts: NDArray[np.int64]) -> Words:
        """The signs of the centre of each document whose windows, `counts` of each, have these coordinates."""
        length, some = self.along.shape[1], counts > 0
        sums = np.zeros((len(counts), length), np.float32)
        if some.any():
            sums[some] = np.add.reduceat(coordinates[:, :length], (np.cumsum(counts) - counts)[some], axis=0)
        return signs(sums * self.steps[:length], self.along)

    def signs(self, weights: Matrix) -> Words:
        """The signs of a vector that has these `weights`."""
        length = self.along.shape[1]
        own = np.einsum("ij,j->i", self.along, weights[:length] / self.steps[:length])
        return np.packbits(own > 0).view(np.uint64)

    def weights(self, vector: Matrix) -> Matrix:
        """What a product with the codes of a window must be taken with to be its cosine to `vector`."""
        return np.asarray(np.einsum("ij,j->i", self.axes, vector) * self.steps, np.float32)


def rounded(coordinates: Matrix) -> Codes:
    """Coordinates in steps as bytes."""
    return np.clip(np.rint(coordinates), -LIMIT, LIMIT).astype(np.int8)


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
