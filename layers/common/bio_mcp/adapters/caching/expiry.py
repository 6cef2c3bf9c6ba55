"""Expiry of cached values, allowing for clock skew."""

MAX_SKEW_S = 60.0  # by which the clocks of two machines may differ


def age_s(stored: float, expires: float, now: float) -> float | None:
    """Age in seconds of a value stored at `stored` that expires at `expires`; None once it has expired.

    Also None for a value stored more than `MAX_SKEW_S` in the future: somebody has set the clock back.
    """
    return max(0.0, now - stored) if stored - MAX_SKEW_S <= now < expires else None
