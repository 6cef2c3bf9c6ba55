"""Growable numpy arrays."""

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

SPARE = 8  # capacity beyond the request: one eighth


class GrowableArray(Generic[Scalar]):
    """An array that grows at its end. Views taken earlier never change."""

    def __init__(self, dtype: DTypeLike, *shape: int) -> None:
        self._buffer: NDArray[Any] = np.empty((0, *shape), dtype=dtype)
        self._size = 0

    @staticmethod
    def over(buffer: NDArray[Any], size: int) -> "GrowableArray[Any]":
        """An array over `buffer`, whose first `size` rows are in use; the others are spare capacity."""
        array: GrowableArray[Any] = GrowableArray(buffer.dtype, *buffer.shape[1:])
        array._buffer, array._size = buffer, size
        return array

    def __len__(self) -> int:
        return self._size

    def reserve(self, size: int) -> None:
        """Allocate capacity for `size` rows in all. Untouched memory costs nothing."""
        if size > len(self._buffer):
            grown = np.empty((size, *self._buffer.shape[1:]), dtype=self._buffer.dtype)
            grown[: self._size] = self._buffer[: self._size]
            self._buffer = grown

    def append(self, values: NDArray[Any]) -> None:
        """Append rows, growing the buffer by an eighth more than needed."""
        end = self._size + len(values)
        if end > len(self._buffer):
            self.reserve(end + end // SPARE)
        self._buffer[self._size : end] = values
        self._size = end

    @property
    def view(self) -> NDArray[Scalar]:
        """The rows in use, without a copy."""
        return self._buffer[: self._size]
