"""When what is kept still counts."""

CLOCKS_APART_S = 60.0  # that two machines' clocks may differ


def age_s(stored: float, ends: float, now: float) -> float | None:
    """Age in seconds of a value kept from `stored` until before `ends`; None when it no longer counts, or was put in
    what is the future by this clock, which somebody has set."""
    return max(0.0, now - stored) if stored - CLOCKS_APART_S <= now < ends else None
