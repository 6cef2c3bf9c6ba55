"""What becomes of the token vectors of an encoder: pooled to one vector, projected, scaled to length 1."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Pooling = Literal["mean", "cls"]
Activation = Literal["identity", "tanh"]


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """A layer over the pooled vector: `matrix` (outputs, inputs), as torch stores it, and `bias` (outputs)."""

    matrix: NDArray[np.float32]
    bias: NDArray[np.float32] | None = None
    activation: Activation = "identity"


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """Pooling, then layers in turn, then scaling to length 1 where `unit`. "cls" is the vector of the first token,
    "mean" that of all tokens without padding."""

    pooling: Pooling = "mean"
    dense: tuple[Dense, ...] = ()
    unit: bool = True

    def dim(self, hidden: int) -> int:
        """Numbers in a vector, where the encoder's tokens have `hidden`."""
        return self.dense[-1].matrix.shape[0] if self.dense else hidden
