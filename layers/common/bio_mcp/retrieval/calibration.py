"""Probabilities by logistic regression, with coefficients that ship as data.

`calibration.json` has them by name, with the questions that they were fitted on, the day, and how well they held on
questions that were left out. `python -m benchmarks relevance --write` fits and writes it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp
from operator import mul
from typing import Any

STEEPEST = 40.0  # log-odds beyond which a probability is 0 or 1 to sixteen digits


@dataclass(frozen=True, slots=True)
class Logistic:
    """A probability as a function of numbers: the sigmoid of `intercept` plus their weighted sum."""

    intercept: float
    weights: tuple[float, ...]

    def probability(self, features: Sequence[float]) -> float:
        """The probability, in (0, 1); `features` are in the order of `weights`."""
        odds = self.intercept + sum(map(mul, self.weights, features))
        return 1 / (1 + exp(-max(-STEEPEST, min(STEEPEST, odds))))


@cache
def calibrated(name: str, features: tuple[str, ...]) -> Logistic:
    """The coefficients of `name`, its weights in the order of `features`.

    Raises `ValueError` where they were fitted to other features.
    """
    fitted = coefficients()[name]
    if set(fitted["weights"]) != set(features):
        raise ValueError(f"calibration.json: {name} was fitted to other features; run python -m benchmarks relevance")
    return Logistic(fitted["intercept"], tuple(fitted["weights"][each] for each in features))


def coefficients() -> Mapping[str, Any]:
    """Every fit by its name, as `calibration.json` has it."""
    models: Mapping[str, Any] = _shipped()["models"]
    return models


def is_fitted_to(fingerprint: str) -> bool:
    """Whether the cosines that the probabilities were fitted to are those of the embedding model `fingerprint`."""
    fitted = str(_shipped()["embedding"])
    return fingerprint.partition("/")[0] == fitted.partition("/")[0]


@cache
def _shipped() -> Mapping[str, Any]:
    text = resources.files("bio_mcp.retrieval").joinpath("calibration.json").read_text(encoding="utf-8")
    shipped: Mapping[str, Any] = json.loads(text)
    return shipped
