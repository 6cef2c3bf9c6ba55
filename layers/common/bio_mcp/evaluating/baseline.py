"""The figures that an evaluation is compared with: a regression is a figure outside the baseline's interval.

The file is JSON: by name of the set its version, the fingerprint of the model, and value and interval of each figure.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from bio_mcp.errors import InvalidInput

ALIKE = 1e-6  # figures are rounded to six decimals


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its interval. `rising`: more is better."""

    value: float
    low: float
    high: float
    rising: bool = True

    def is_worse(self, value: float) -> bool:
        """Whether `value` is outside the interval, on the worse side."""
        return value < self.low - ALIKE if self.rising else value > self.high + ALIKE


@dataclass(frozen=True, slots=True)
class Baseline:
    """The figures of one set at one time."""

    version: str
    model: str
    figures: Mapping[str, Figure]

    def regressions(self, version: str, model: str, values: Mapping[str, float], *, whole: bool = True) -> list[str]:
        """A sentence for each figure that is worse; none where nothing is.

        A `whole` evaluation has every figure of the baseline. Another version of the set, and another model, cannot be
        compared, which is a regression too.
        """
        for what, ours, theirs in (("version of the set", version, self.version), ("model", model, self.model)):
            if ours != theirs:
                return [f"the baseline is of another {what}; look at the figures and renew it"]
        compared = {name: each for name, each in self.figures.items() if whole or name in values}
        return [sentence for name, each in compared.items() if (sentence := _regression(name, each, values.get(name)))]

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """The baseline that `asdict` wrote."""
        return cls(given["version"], given["model"], {name: Figure(**each) for name, each in given["figures"].items()})


def _regression(name: str, baseline: Figure, value: float | None) -> str | None:
    if value is None:
        return f"{name} is missing; it was {baseline.value:.3f}"
    if not baseline.is_worse(value):
        return None
    return f"{name} is {value:.3f}; it was {baseline.value:.3f} ({baseline.low:.3f} to {baseline.high:.3f})"


def baselines_in(content: str) -> dict[str, Baseline]:
    """The baselines of a file, by name of the set. Raises `InvalidInput` for another file."""
    try:
        return {name: Baseline.from_json(each) for name, each in json.loads(content).items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput("BIO_MCP_EVAL_BASELINE: this is no file of baselines") from None


def written(baselines: Mapping[str, Baseline]) -> str:
    """The file of these baselines, the same for the same figures."""
    return json.dumps({name: _as_json(each) for name, each in sorted(baselines.items())}, indent=1) + "\n"


def _as_json(baseline: Baseline) -> dict[str, Any]:
    figures = {
        name: {"value": each.value, "low": each.low, "high": each.high, "rising": each.rising}
        for name, each in baseline.figures.items()
    }
    return {"version": baseline.version, "model": baseline.model, "figures": figures}
