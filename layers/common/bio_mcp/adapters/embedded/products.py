"""Products of matrices on the thread that asks for them.

OpenBLAS shares a larger product among threads that wait for the next one by spinning: an index that is built a batch at
a time took more than half of its CPU that way.
"""

import numpy as np
from numpy.typing import NDArray

ALONE = 1 << 18  # multiplications up to which OpenBLAS starts no other thread
COLUMNS = 32


def with_each_row(matrix: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    """The products of each row of `matrix` with each row of `other`: `matrix @ other.T`."""
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
