"""Processes that share one NCBI budget, and when they start.

python -m tests.adapters.aws.pacing ENDPOINT TABLE BUDGET GAP PROCESSES SECONDS STARTS

prints a list per process of the moments at which it may start a request, as its pacer saw them. A process ends after
SECONDS or STARTS. All are forked from one that has imported everything.
"""

import json
import os
import subprocess
import sys
import time

from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.adapters.aws.rate_limit import DynamoRateLimiter
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded
from tests.support.aws_ports import NOBODY


class Watched:
    def __init__(self):
        self.message = 0.0

    def __call__(self):
        self.message = time.time()
        return self.message


def starts_of(endpoint, table, budget, gap, processes, seconds, starts=10**6):
    """The same from Python: when each process started, in seconds since 1970."""
    given = [endpoint, table, budget, gap, processes, seconds, starts]
    command = [sys.executable, "-m", "tests.adapters.aws.pacing", *map(str, given)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **NOBODY})
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def most_in_a_second(starts):
    times = sorted(starts)
    return max(sum(first <= each < first + 1.0 for each in times[at : at + 100]) for at, first in enumerate(times))


def _start(endpoint, table, budget, gap, seconds, starts):
    clock, found, deadline = Watched(), [], Deadline(seconds)
    pacer = DynamoRateLimiter(Clients().make("dynamodb", endpoint=endpoint), table, budget, gap, clock)
    while len(found) < starts:
        try:
            pacer.wait(deadline)
        except DeadlineExceeded:
            break
        found.append(clock.message)
    return found


def main(endpoint, table, budget, gap, processes, seconds, starts):
    pipes = []
    for _ in range(int(processes)):
        reading, writing = os.pipe()
        if os.fork() == 0:
            with os.fdopen(writing, "w") as out:
                json.dump(_start(endpoint, table, budget, float(gap), float(seconds), int(starts)), out)
            os._exit(0)
        os.close(writing)
        pipes.append(reading)
    json.dump([json.loads(os.fdopen(pipe).read()) for pipe in pipes], sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
