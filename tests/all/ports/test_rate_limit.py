"""The NCBI budget, over the emulator's stores."""

import pytest

from bio_mcp.adapters.rate_limit import fleet_gap_s
from tests.adapters.aws.pacing import most_in_a_second, starts_of

PROCESSES, SECONDS = 8, 12


@pytest.mark.parametrize(("keyed", "limit"), [(True, 10), (False, 3)])
def test_eight_processes_keep_to_the_budget_and_use_most_of_it(ports, endpoint, keyed, limit, record_property):
    starts = starts_of(endpoint, ports.pace_table, "fleet", fleet_gap_s(keyed), PROCESSES, SECONDS)
    every = sorted(start for each in starts for start in each)
    used = (len(every) - 1) / (every[-1] - every[0]) / limit
    record_property("used", used)
    print(f"{limit} a second allowed: {used:.1%} used, at most {most_in_a_second(every)} in any second")
    assert most_in_a_second(every) <= limit
    assert all(starts), "a process never had a turn"
