"""Lines of an estimate, each with its arithmetic."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that costs: `quantity` of `unit` at `price` dollars each."""

    what: str
    quantity: float
    unit: str
    price: float

    @property
    def dollars(self) -> float:
        """Return quantity times price."""
        return self.quantity * self.price

    @property
    def arithmetic(self) -> str:
        """Return `12,345 GB-s × 0.0000133334`."""
        return f"{_figure(self.quantity)} {self.unit} × {_price(self.price)}"


def together(lines: Iterable[Line]) -> float:
    """Return the dollars of all lines."""
    return sum(line.dollars for line in lines)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:,.2f}"


def _price(value: float) -> str:
    return f"{value:.12f}".rstrip("0").rstrip(".")
