"""Vectors that somebody else made."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bio_mcp.errors import InvalidInput, ModelMismatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit_vector(numbers: Sequence[float], dim: int, name: str) -> "NDArray[np.float32]":
    """Scale `numbers` to length 1. `name` is what errors call it.

    Raises `ModelMismatch` for another length than `dim`, `InvalidInput` where a number is not finite or all are 0.
    """
    import numpy as np

    if len(numbers) != dim:
        raise ModelMismatch(f"{name} has {len(numbers)} numbers; the project's model makes vectors of {dim}")
    wide = np.asarray(numbers, np.float64)
    largest = np.abs(wide).max()
    if not np.isfinite(largest):
        raise InvalidInput(f"{name}: not every number is finite")
    if largest == 0:
        raise InvalidInput(f"{name}: every number is 0, which no text has for a vector")
    wide /= largest  # or squares of very small and very large numbers would be 0 and infinite
    unit: NDArray[np.float32] = (wide / np.linalg.norm(wide)).astype(np.float32)
    return unit
