"""The contract suites of the ports that AWS keeps, and the NCBI budget, over the emulator's stores."""

from collections.abc import Iterator

import pytest

from bio_mcp.adapters.rate_limit import fleet_gap_s
from tests.adapters.aws.pacing import most_in_a_second, starts_of
from tests.adapters.ports.conftest import (  # noqa: F401  the fixtures of the suites
    announcements,
    audit,
    blobs,
    checkpoints,
    clock,
    continuations,
    documents,
    jobs,
    leases,
    project_documents,
    projects,
)
from tests.adapters.ports.test_announcements import *  # noqa: F403  the very same tests
from tests.adapters.ports.test_audit import *  # noqa: F403
from tests.adapters.ports.test_blobs import *  # noqa: F403
from tests.adapters.ports.test_checkpoints import *  # noqa: F403
from tests.adapters.ports.test_continuations import *  # noqa: F403
from tests.adapters.ports.test_documents import *  # noqa: F403
from tests.adapters.ports.test_jobs import *  # noqa: F403
from tests.adapters.ports.test_leases import *  # noqa: F403
from tests.adapters.ports.test_project_documents import *  # noqa: F403
from tests.adapters.ports.test_projects import *  # noqa: F403
from tests.adapters.ports.test_resolve import *  # noqa: F403
from tests.aws_ports import NOBODY, AwsPorts
from tests.emulated.emulator import emulator

PROCESSES, SECONDS = 8, 12


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The emulator; one that cannot be had or started fails the tests."""
    with emulator(AUTH="false") as running:
        yield running.url


@pytest.fixture
def ports(endpoint, clock, monkeypatch):  # noqa: F811
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
    return AwsPorts(clock, endpoint)


@pytest.mark.parametrize(("keyed", "limit"), [(True, 10), (False, 3)])
def test_eight_processes_keep_to_the_budget_and_use_most_of_it(ports, endpoint, keyed, limit, record_property):
    starts = starts_of(endpoint, ports.pace_table, "fleet", fleet_gap_s(keyed), PROCESSES, SECONDS)
    every = sorted(start for each in starts for start in each)
    used = (len(every) - 1) / (every[-1] - every[0]) / limit
    record_property("used", used)
    print(f"{limit} a second allowed: {used:.1%} used, at most {most_in_a_second(every)} in any second")
    assert most_in_a_second(every) <= limit
    assert all(starts), "a process never had a turn"
