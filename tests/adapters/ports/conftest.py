"""One suite per port; every adapter joins by adding its factory to `ADAPTERS`."""

import pytest

from bio_mcp.adapters.embedded.audit import SqliteAudit
from bio_mcp.adapters.embedded.checkpoints import SqliteCheckpoints
from bio_mcp.adapters.embedded.continuations import SqliteContinuations
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.adapters.embedded.jobs import SqliteJobs
from bio_mcp.adapters.embedded.leases import SqliteLeases
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.literature import serial


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


class EmbeddedPorts:
    """Every port over one new corpus file."""

    def __init__(self, directory, clock):
        self.database = Database(directory)
        self.documents = SqliteDocuments(self.database, serial)
        self.passages = SqlitePassages(self.database)
        self.checkpoints = SqliteCheckpoints(self.database)
        self.jobs = SqliteJobs(self.database)
        self.leases = SqliteLeases(self.database, clock)
        self.continuations = SqliteContinuations(self.database, clock, max_attempts=3)
        self.audit = SqliteAudit(self.database)

    def close(self):
        self.database.close()


ADAPTERS = {"embedded": EmbeddedPorts}


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=ADAPTERS)
def ports(request, tmp_path, clock):
    made = ADAPTERS[request.param](tmp_path, clock)
    yield made
    made.close()


@pytest.fixture
def documents(ports):
    return ports.documents


@pytest.fixture
def passages(ports):
    return ports.passages


@pytest.fixture
def checkpoints(ports):
    return ports.checkpoints


@pytest.fixture
def jobs(ports):
    return ports.jobs


@pytest.fixture
def leases(ports):
    return ports.leases


@pytest.fixture
def continuations(ports):
    return ports.continuations


@pytest.fixture
def audit(ports):
    return ports.audit
