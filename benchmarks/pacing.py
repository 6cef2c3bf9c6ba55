"""How much of NCBI's budget a fleet uses, that it never uses more, and that callers have equal shares of it:
`python -m benchmarks.pacing [ENDPOINT]`.

Eight processes ask for turns as fast as they get them, for twelve seconds, over one DynamoDB table: moto's server in
a thread of this process, or the emulator at ENDPOINT. A request starts when its process is told so.
"""

import os
import sys
from contextlib import nullcontext

from benchmarks import _shares
from bio_mcp.adapters.rate_limit import fleet_gap_s
from tests.adapters.aws.pacing import most_in_a_second, starts_of
from tests.support import moto_server
from tests.support.aws_ports import NOBODY, AwsPorts

PROCESSES, SECONDS = 8, 12


def measured(endpoint: str, keyed: bool) -> str:
    """A row of the table: what was allowed, and what was used."""
    limit = 10 if keyed else 3
    table = AwsPorts(endpoint=endpoint).pace_table
    starts = starts_of(endpoint, table, "benchmark", fleet_gap_s(keyed), PROCESSES, SECONDS)
    every = sorted(start for each in starts for start in each)
    rate = (len(every) - 1) / (every[-1] - every[0])
    most = most_in_a_second(every)
    assert most <= limit
    counts = sorted(len(each) for each in starts)
    return f"| {limit} | {rate:.2f} | {rate / limit:.1%} | {most} | {counts[0]} to {counts[-1]} |"


def main(endpoint: str | None = None) -> None:
    os.environ.update(NOBODY)
    print(f"{PROCESSES} processes, {SECONDS} seconds\n")
    print("| allowed in a second | used | share | most in any second | starts of a process |")
    print("|---|---|---|---|---|")
    for keyed in (True, False):
        if endpoint:
            print(measured(endpoint, keyed))
        else:
            with moto_server.running() as own:
                print(measured(own, keyed))
    print()
    with nullcontext(endpoint) if endpoint else moto_server.running() as own:
        print("\n".join(_shares.table(own, AwsPorts(endpoint=own).pace_table)))


if __name__ == "__main__":
    main(*sys.argv[1:2])
