"""Arrays that grow."""

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

SPARE = 8  # one eighth more room than asked for


class Growing(Generic[Scalar]):
    """An array that is appended to at its end. A view taken earlier stays as it was, whatever is appended."""

    def __init__(self, dtype: DTypeLike, *shape: int) -> None:
        self._buffer: NDArray[Any] = np.empty((0, *shape), dtype=dtype)
        self._size = 0

    @staticmethod
    def over(buffer: NDArray[Any], size: int) -> "Growing[Any]":
        """One whose first `size` rows are in `buffer` already; the others are room."""
        made: Growing[Any] = Growing(buffer.dtype, *buffer.shape[1:])
        made._buffer, made._size = buffer, size
        return made

    def __len__(self) -> int:
        return self._size

    def reserve(self, size: int) -> None:
        """Make room for `size` rows in all; memory that is never written costs nothing."""
        if size > len(self._buffer):
            grown = np.empty((size, *self._buffer.shape[1:]), dtype=self._buffer.dtype)
            grown[: self._size] = self._buffer[: self._size]
            self._buffer = grown

    def append(self, values: NDArray[Any]) -> None:
        end = self._size + len(values)
        if end > len(self._buffer):
            self.reserve(end + end // SPARE)
        self._buffer[self._size : end] = values
        self._size = end

    @property
    def view(self) -> NDArray[Scalar]:
        """What has been appended so far."""
        return self._buffer[: self._size]
