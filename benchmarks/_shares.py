"""What share of the turns at NCBI a caller gets beside one who asks with everything that is to be had."""

import multiprocessing
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TypeAlias

from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.adapters.aws.rate_limit import DynamoRateLimiter
from bio_mcp.adapters.embedded.rate_limit import SqliteRateLimiter
from bio_mcp.adapters.rate_limit import LocalRateLimiter, fleet_gap_s, gap_s
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded
from bio_mcp.ports.ncbi import RateLimiter

GREEDY, SECONDS = 7, 20.0
THREADS = 5  # of each process of the greedy caller
CONTEXT = multiprocessing.get_context("spawn")
Make = Callable[[], RateLimiter]
Found: TypeAlias = "multiprocessing.Queue[tuple[int, list[float]]]"


def sqlite_pacer(home: Path) -> RateLimiter:
    """The rate limiter of a process of a laptop, with a key."""
    return SqliteRateLimiter(home, "benchmark", fleet_gap_s(True), LocalRateLimiter(gap_s(True)))


def dynamo_pacer(endpoint: str, table: str, budget: str) -> RateLimiter:
    """The rate limiter of a process of a stack, with a key."""
    return DynamoRateLimiter(Clients().make("dynamodb", endpoint=endpoint), table, budget, fleet_gap_s(True))


def _ask(pacer: RateLimiter, share: str, seconds: float, waits: list[float]) -> None:
    """Ask for one turn after the other until the time is over; notes how long each took."""
    deadline = Deadline(seconds)
    while deadline.remaining:
        began = time.monotonic()
        with suppress(DeadlineExceeded):
            pacer.wait(deadline, share)
            waits.append(time.monotonic() - began)


def _process(make: Make, share: str, threads: int, seconds: float, start: Barrier, found: Found) -> None:
    pacer, waits = make(), list[float]()
    start.wait()
    asking = [threading.Thread(target=_ask, args=(pacer, share, seconds, waits)) for _ in range(threads)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    found.put((threads, waits))


def race(make: Make, greedy: str, modest: str, seconds: float = SECONDS) -> tuple[int, list[float]]:
    """How many turns there were, and how long the modest caller waited for each of its own."""
    found: Found = CONTEXT.Queue()
    start = CONTEXT.Barrier(GREEDY + 1)
    asked = [(greedy, THREADS)] * GREEDY + [(modest, 1)]
    processes = [CONTEXT.Process(target=_process, args=(make, *each, seconds, start, found)) for each in asked]
    for each in processes:
        each.start()
    answers = [found.get(timeout=seconds + 60) for _ in processes]
    for each in processes:
        each.join()
    [of_modest] = [waits for threads, waits in answers if threads == 1]
    return sum(len(waits) for _, waits in answers), of_modest


def measured(name: str, make: Make, greedy: str, modest: str) -> str:
    """A row of the table."""
    turns, waits = race(make, greedy, modest)
    p95 = statistics.quantiles(waits, n=20)[-1] if len(waits) > 1 else SECONDS
    return f"| {name} | {turns} | {len(waits) / turns:.0%} | {p95:.2f} s |"


def table(endpoint: str, pace_table: str) -> list[str]:
    """Both engines, each with and without shares."""
    rows = [
        f"{GREEDY} processes of {THREADS} threads for one caller, one thread for another, {SECONDS:.0f} seconds, "
        "9 turns a second",
        "",
        "| engine | turns | of the other caller | its p95 |",
        "|---|---|---|---|",
    ]
    for kind, (greedy, modest) in {"one share": ("", ""), "a share each": ("ada", "bob")}.items():
        with tempfile.TemporaryDirectory(prefix="bio-mcp-shares-") as home:
            rows.append(measured(f"laptop, {kind}", partial(sqlite_pacer, Path(home)), greedy, modest))
        rows.append(measured(f"DynamoDB, {kind}", partial(dynamo_pacer, endpoint, pace_table, kind), greedy, modest))
    return rows
