"""How much each caller and each tenant may still use."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Charge:
    """`amount` units of what `account` uses, of which it may use `most` in each period of `seconds`, by UTC.

    `account` names a caller or a tenant, `unit` what is used: calls, ncbi, embeddings or model_tokens. A negative
    `amount` gives back what was charged and not used; it is always granted.
    """

    account: str
    unit: str
    amount: int
    most: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a charge leaves: `left` units until the period ends, in `resets_s` seconds.

    `granted` is whether it was charged: all charges of a call are, or none is.
    """

    charge: Charge
    granted: bool
    left: int
    resets_s: float


class Budgets(Protocol):
    """Budgets of every process together. Every method may raise `StoreFailed`."""

    def spend(self, charges: Sequence[Charge]) -> list[Allowance]:
        """Charge all of them, or none if one would exceed its budget; returns an allowance for each, in order.

        Not idempotent: each call charges again. Of calls at the same moment together no more is granted than `most`.
        """
        ...
