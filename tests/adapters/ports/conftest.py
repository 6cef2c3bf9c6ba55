"""One suite per port, `test_<port>.py`, over every adapter that gives the port.

An adapter joins by adding a class to `ADAPTERS`: made from a directory and a clock, with the ports as attributes,
their names in `gives`, and `close`.
"""

import json
import logging

import pytest

from bio_mcp.adapters.embedded.blobs import DirectoryBlobs
from bio_mcp.adapters.embedded.collections import SqliteCollections
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.adapters.embedded.graph import SqliteGraph
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedded.projects import SqliteAnswers, SqliteProjectDocuments, SqliteProjects, SqliteScreenings
from bio_mcp.adapters.embedded.side_files import SqliteAuthorizations, SqliteBudgets, SqliteCache, SqliteCalls
from bio_mcp.adapters.embedded.sync_state import (
    LoggedAnnouncements,
    SqliteAudit,
    SqliteCheckpoints,
    SqliteContinuations,
    SqliteDeadLetters,
    SqliteJobs,
    SqliteLeases,
    SqliteNews,
)
from bio_mcp.adapters.stored import entry_at
from tests.adapters.clocks import Clock
from tests.support.aws_ports import NOBODY, MotoPorts
from tests.support.published import PublishedPorts
from tests.support.reference_answers import ReferenceAnswers
from tests.support.reference_calls import ReferenceCalls
from tests.support.reference_graph import ReferenceGraph
from tests.support.reference_indexes import ReferenceCollections
from tests.support.reference_screenings import ReferenceScreenings

PORTS = tuple(
    """announcements documents resolve old_versions passages checkpoints news jobs leases continuations dead_letters
    audit authorizations budgets answers blobs projects collections project_documents cache calls graph
    screenings""".split()
)


class Ears(logging.Handler):
    """Hears what is logged."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


class EmbeddedPorts:
    """Every port over one new corpus file."""

    gives = frozenset(PORTS)
    many = 50_000  # PMIDs that are looked up at once in a test
    page = 1_000  # nodes of the graph that are read at once

    def __init__(self, directory, clock):
        self.database = Database(directory)
        self.documents = SqliteDocuments(self.database, clock)
        self.resolve = self.documents.resolve
        self.passages = SqlitePassages(self.database)
        self.checkpoints = SqliteCheckpoints(self.database)
        self.news = SqliteNews(self.database, clock)
        self.jobs = SqliteJobs(self.database)
        self.leases = SqliteLeases(self.database, clock)
        self.continuations = SqliteContinuations(self.database, clock, max_attempts=3)
        self.dead_letters = SqliteDeadLetters(self.database, clock)
        self.audit = SqliteAudit(self.database)
        self.answers = SqliteAnswers(self.database)
        self.blobs = DirectoryBlobs(directory / "blobs")
        self.projects = SqliteProjects(self.database)
        self.collections = SqliteCollections(self.database)
        self.project_documents = SqliteProjectDocuments(self.database)
        self.graph = SqliteGraph(self.database)
        self.screenings = SqliteScreenings(self.database)
        self.cache = SqliteCache(directory, 8, clock)
        self.calls = SqliteCalls(directory, 30, 8, clock)
        self.authorizations = SqliteAuthorizations(directory, clock)
        self.budgets = SqliteBudgets(directory, clock)
        self.announcements = LoggedAnnouncements()
        self.ears, self.log = Ears(), logging.getLogger(LoggedAnnouncements.__module__)
        self.level = self.log.level
        self.log.addHandler(self.ears)
        self.log.setLevel(logging.INFO)

    def heard(self):
        """(kind, PMID) of what was announced."""
        lines = [line.removeprefix("corpus.").split() for line in self.ears.lines]
        return [(kind, pmid) for kind, *pmids in lines for pmid in pmids]

    def put_news(self, query_key, position):
        """Enter news as an earlier version did."""
        entry = entry_at(position)
        row = (query_key, position, entry.kind.value, int(entry.pmid), entry.version)
        self.database.write("INSERT INTO news VALUES (?, ?, ?, ?, ?)", row)

    def dead(self):
        return [json.loads(each.body) for each in self.dead_letters.all()]

    def give_up(self, event):
        """Make a dead letter of `event`."""
        self.continuations.send(event)
        receipt, _ = self.continuations.receive(60)
        self.continuations.fail(receipt, "NCBI is away", retryable=False)

    def close(self):
        self.log.removeHandler(self.ears)
        self.log.setLevel(self.level)
        self.cache.close()
        self.calls.close()
        self.authorizations.close()
        self.budgets.close()
        self.database.close()


class Aws(MotoPorts):
    """What DynamoDB, S3 and SQS give, in memory."""

    def __init__(self, _directory, clock):
        super().__init__(clock)


class Plain:
    """What is tested with in the place of an engine."""

    gives = frozenset({"answers", "calls", "collections", "graph", "screenings"})

    page = 10

    def __init__(self, _directory, _clock):
        self.answers = ReferenceAnswers()
        self.calls = ReferenceCalls()
        self.collections = ReferenceCollections()
        self.graph = ReferenceGraph()
        self.screenings = ReferenceScreenings()

    def close(self):
        """Nothing is open."""


ADAPTERS = {"embedded": EmbeddedPorts, "aws": Aws, "s3": PublishedPorts, "plain": Plain}
INDEXES = {"papers": "passages", "chunks": "collections"}  # what is indexed -> its port


def pytest_generate_tests(metafunc):
    """Run each test over the adapters that give the port of its module, and the ports that it asks for."""
    if "contents" in metafunc.fixturenames:
        pairs = [
            (name, contents) for contents, port in INDEXES.items() for name in ADAPTERS if port in ADAPTERS[name].gives
        ]
        metafunc.parametrize(("ports", "contents"), pairs, indirect=["ports"])
    elif "ports" in metafunc.fixturenames:
        needed = {metafunc.module.__name__.rpartition(".test_")[2], *metafunc.fixturenames} & set(PORTS)
        elsewhere = {"s3"} if metafunc.module.__name__.endswith("test_sealing") else set()  # in tests/all/ports
        giving = [name for name, adapter in ADAPTERS.items() if needed <= adapter.gives and name not in elsewhere]
        metafunc.parametrize("ports", giving, indirect=True)


@pytest.fixture
def clock():
    return Clock(1_000_000.0)


@pytest.fixture
def ports(request, tmp_path, clock, monkeypatch):
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
    made = ADAPTERS[request.param](tmp_path, clock)
    yield made
    made.close()


def _port(name):
    @pytest.fixture(name=name)
    def port(ports):
        return getattr(ports, name)

    return port


GIVEN = {name: _port(name) for name in PORTS}  # a fixture for each
globals().update(GIVEN)
