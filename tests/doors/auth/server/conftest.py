"""A team with its authorization server."""

import pytest
from anyio.from_thread import start_blocking_portal

from bio_mcp.adapters.embedded.side_files import SqliteAuthorizations
from tests.doors.auth.server.team import Asking, Team


@pytest.fixture
def store(tmp_path, closed):
    return closed(SqliteAuthorizations(tmp_path))


@pytest.fixture(scope="session")
def portal():
    """A thread with an event loop."""
    with start_blocking_portal() as made:
        yield made


@pytest.fixture
def team(store, portal):
    return Team(store, portal)


@pytest.fixture
def client(team):
    return Asking(team)


@pytest.fixture
def ann(team):
    return team.person()
