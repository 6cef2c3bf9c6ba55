"""Logistic regression over `Linear` rows, by Newton's method with conjugate gradients."""

import numpy as np

from bio_mcp.screening.features import Floats, Linear

STEPS = 30  # of Newton's method, at most
INNER = 60  # conjugate gradients in a step, at most
TOLERANCE = 1e-3  # of the gradient's length, against that of the first


def balanced(included: Floats, ratio: float) -> Floats:
    """What each labelled row weighs: all excluded ones together 1 / `ratio` of what all included ones do.

    The weights sum to the number of rows. `included` has 1 for an included row and 0 for an excluded one, both at least
    once.
    """
    positive = included.sum()
    weights = np.where(included > 0, 1.0, positive / (ratio * (len(included) - positive)))
    return np.asarray(weights * (len(included) / weights.sum()))


def fit(rows: Linear, included: Floats, sample_weights: Floats, strength: float, start: Floats | None = None) -> Floats:
    """The weights that minimise |w|^2 / 2 + `strength` * the weighted logistic loss; without an intercept.

    The minimum is one, whatever `start`, which only saves steps.
    """
    signs = 2 * included - 1
    weights = np.zeros(rows.width) if start is None else start.copy()
    scale = np.linalg.norm(strength * rows.transposed_times(sample_weights * signs) / 2)
    margins = rows.times(weights)
    for _ in range(STEPS):
        wrong = 1 / (1 + np.exp(np.clip(signs * margins, -500, 500)))  # the probability of the other label
        gradient = weights - strength * rows.transposed_times(sample_weights * signs * wrong)
        if np.linalg.norm(gradient) <= TOLERANCE * scale:
            break
        curvature = strength * sample_weights * wrong * (1 - wrong)
        step, moved = _newton_step(rows, curvature, gradient)
        share = _share(weights, margins, step, moved, signs, strength * sample_weights)
        weights, margins = weights + share * step, margins + share * moved
    return weights


def _newton_step(rows: Linear, curvature: Floats, gradient: Floats) -> tuple[Floats, Floats]:
    """The step s with (I + X'CX) s = -gradient, nearly, and what it adds to each margin."""
    step, residual = np.zeros_like(gradient), -gradient
    direction, moved = residual.copy(), np.zeros(len(rows))
    square = first = float(residual @ residual)
    for _ in range(INNER):
        along = rows.times(direction)
        bent = direction + rows.transposed_times(curvature * along)
        length = square / float(direction @ bent)
        step, moved, residual = step + length * direction, moved + length * along, residual - length * bent
        new = float(residual @ residual)
        if new <= 1e-4 * first:
            break
        direction = residual + (new / square) * direction
        square = new
    return step, moved


def _share(weights: Floats, margins: Floats, step: Floats, moved: Floats, signs: Floats, costs: Floats) -> float:
    """The largest of 1, 1/2, 1/4 ... of the step that lowers the loss."""

    def loss(share: float) -> float:
        at = weights + share * step
        return float(at @ at) / 2 + float(costs @ np.logaddexp(0, -signs * (margins + share * moved)))

    now, share = loss(0), 1.0
    while loss(share) > now and share > 1e-6:
        share /= 2
    return share
