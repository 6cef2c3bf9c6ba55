"""How long recorded calls took."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from bio_mcp.ports.calls import CallRecord
from bio_mcp.tool import Response

BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)  # milliseconds


class ToolLatency(Response):
    """Calls of a tool, and the milliseconds within which half of them, 95 % and all were answered."""

    tool: str
    calls: int
    half_ms: int
    most_ms: int
    all_ms: int


class Latencies(Response):
    """How long calls took, in all and by tool. `counts` has those up to each of `BOUNDS`, and those above the last.

    `since` is the time of the oldest of them.
    """

    calls: int
    since: str | None
    counts: list[int]
    tools: list[ToolLatency]


def latencies(calls: Iterable[CallRecord]) -> Latencies:
    """Sum up calls, of which those without a latency count for nothing."""
    timed = [(each.tool, each.latency_ms, each.at) for each in calls if each.latency_ms is not None]
    counts = [0] * (len(BOUNDS) + 1)
    by_tool: dict[str, list[int]] = {}
    for tool, taken, _ in timed:
        counts[bisect_left(BOUNDS, taken)] += 1
        by_tool.setdefault(tool, []).append(taken)
    since = min((at for *_, at in timed), default=None)
    return Latencies(
        calls=len(timed),
        since=since.isoformat() if since else None,
        counts=counts,
        tools=[_of_tool(tool, sorted(taken)) for tool, taken in sorted(by_tool.items())],
    )


def _of_tool(tool: str, taken: Sequence[int]) -> ToolLatency:
    return ToolLatency(
        tool=tool,
        calls=len(taken),
        half_ms=_within(taken, 50),
        most_ms=_within(taken, 95),
        all_ms=taken[-1],
    )


def _within(taken: Sequence[int], percent: int) -> int:
    """The least that `percent` of the sorted values do not exceed."""
    return taken[-(-len(taken) * percent // 100) - 1]
