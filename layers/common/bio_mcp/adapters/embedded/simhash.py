"""The signs of vectors in random directions: two vectors differ in as many of them as the angle between them is wide.

64 signs are one number, and comparing those of a million vectors takes a millisecond. Of a million documents an eighth,
selected by 256 signs, has 99.8 % of the nearest 200, and a 20th, selected by 512, has as many.
"""

import numpy as np
from numpy.typing import NDArray

ALONE = 1 << 18  # multiplications up to which OpenBLAS starts no other thread
COLUMNS = 32


def with_each_row(matrix: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
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
Agreement = NDArray[np.uint8]

WORDS, WORD = 8, 64  # numbers of a vector, and signs in each
HALF = WORDS // 2
COORDINATES = 128  # of a vector, along the principal axes of the corpus: more of them add noise
BLOCK = 1 << 13  # rows compared at once, which stay in the CPU cache
SEED = 7
SUM = np.uint32(0x01010101)  # a product with it has the sum of four bytes in its highest byte


def directions(length: int) -> NDArray[np.float32]:
    """Random directions for vectors of `length` numbers, as rows.

    A product of two Hadamard matrices with random signs is as good as a random rotation, and its numbers are integers,
    the same on every machine.
    """
    random, rows, hadamard = np.random.default_rng(SEED), WORDS * WORD, np.ones((1, 1), np.float32)
    while len(hadamard) < length:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    flips = random.choice(np.array([-1, 1], np.float32), (-(-rows // len(hadamard)), 2, len(hadamard)))
    return np.concatenate([(hadamard * first) @ (hadamard * second) for first, second in flips])[:rows, :length]


def signs(vectors: NDArray[np.float32], along: NDArray[np.float32]) -> Words:
    """The signs of each vector in these directions, as rows of `WORDS` numbers."""
    return np.packbits(with_each_row(vectors, along) > 0, axis=1).view(np.uint64)


def agreement(words: Words, asked: Words) -> Agreement:
    """255 less the number of signs in which each row, of `HALF` numbers, differs from those asked for; if it differs in
    all 256 it is 255, too."""
    agreeing, all_asked = np.empty(len(words), np.uint8), np.tile(asked, BLOCK)
    flat = words.reshape(-1)
    for start in range(0, len(words), BLOCK):
        some = flat[start * HALF : (start + BLOCK) * HALF]
        differing = np.bitwise_count(some ^ all_asked[: len(some)]).view(np.uint32)
        agreeing[start : start + BLOCK] = 255 - (differing * SUM >> 24)
    return agreeing
