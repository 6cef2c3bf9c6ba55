import logging
import threading
import time
from contextlib import closing
from datetime import date

import pytest

from bio_mcp.adapters.embedded.side_files import SqliteBudgets
from bio_mcp.adapters.embedded.sync_state import SqliteContinuations
from bio_mcp.callers import Caller
from bio_mcp.catalog import TOOLS
from bio_mcp.doors.queue_worker import work_once, worker
from bio_mcp.errors import StoreFailed
from bio_mcp.scope import DAY, Limits, spend
from bio_mcp.tenants import CallBackends
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.fields import BIO_MCP
from tests.adapters.clocks import Clock
from tests.support.corpus import Corpus, Over


class Nothing(Response):
    pass


SYNC = {"tool": "pubmed.sync_delta", "arguments": {"query_key": "k", "term": "cancer"}}


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as it:
        yield it


def test_an_empty_queue_is_left_alone(corpus):
    assert not work_once(corpus.continuations, TOOLS, corpus)


def test_a_queued_call_is_made_once(corpus):
    corpus.continuations.send(SYNC)
    corpus.continuations.send(SYNC)
    assert work_once(corpus.continuations, TOOLS, corpus)
    assert corpus.documents.count() > 0
    assert not work_once(corpus.continuations, TOOLS, corpus)


def test_a_queued_call_is_made_for_whoever_queued_it(corpus, caplog):
    CallBackends(corpus, Caller("ann", tenant="north")).continuations.send({"tool": "list_projects", "arguments": {}})
    with caplog.at_level(logging.INFO, "bio_mcp.call"):
        assert work_once(corpus.continuations, TOOLS, corpus)
    assert [(each.subject, each.tenant) for each in caplog.records] == [("ann", "north")]


def test_a_call_that_keeps_failing_is_parked_and_the_queue_moves_on(corpus, ncbi):
    ncbi.control.fault(endpoint="esearch", status=503, times=10_000)
    corpus.continuations.send(SYNC)
    tries = 0
    while work_once(corpus.continuations, TOOLS, corpus):
        tries += 1
    assert 1 <= tries <= 10
    ncbi.control.clear_faults()
    assert not work_once(corpus.continuations, TOOLS, corpus)


def test_a_message_for_a_tool_that_does_not_exist_does_no_harm(corpus):
    corpus.continuations.send({"tool": "no.such", "arguments": {}})
    assert work_once(corpus.continuations, TOOLS, corpus)


def test_queued_work_is_charged_to_its_caller_and_waits_for_the_next_budget(corpus, tmp_path):
    @tool("embed", family=BIO_MCP, scope="ingest", timeout=1)
    def embed(request: Request, backends: object) -> Nothing:
        """Use what a document uses."""
        spend("embeddings", 3)
        return Nothing()

    clock = Clock(time.time())
    queue = SqliteContinuations(corpus.database, clock, max_attempts=1)
    with closing(SqliteBudgets(tmp_path, clock)) as budgets:
        limited = Over(corpus, limits=Limits(budgets, {"embeddings": 4}, {}, {}))
        ada = CallBackends(Over(limited, continuations=queue), Caller("ada"))

        def worked():
            return work_once(queue, {"embed": embed}, limited)

        for number in range(2):
            ada.continuations.send({"tool": "embed", "arguments": {}, "number": number})
        assert worked()
        assert worked()  # it is refused
        assert not worked()
        clock.now += DAY
        assert worked()
        assert not worked()
        assert corpus.dead_letters.all() == []


def test_the_worker_thread_empties_the_queue_and_stops(corpus):
    corpus.continuations.send(SYNC)
    empty = threading.Event()

    def receive(lease_s):
        return corpus.continuations.receive(lease_s) or empty.set()

    with worker(Over(corpus.continuations, receive=receive), TOOLS, corpus):
        assert empty.wait(60)
    assert corpus.checkpoints.get("k").last_edat is not None


class Failing:
    """A queue that fails in these ways, one at each look, and tells when it has."""

    def __init__(self, *reasons):
        self.reasons, self.done = iter(reasons), threading.Event()

    def receive(self, _lease_s):
        reason = next(self.reasons, None)
        if reason is not None:
            raise StoreFailed(reason)
        self.done.set()


def test_the_same_trouble_is_logged_once(corpus, caplog):
    queue = Failing("it is only read", "it is only read", "it is only read", "it is locked", "it is only read")
    with worker(queue, TOOLS, corpus, idle_s=0):
        assert queue.done.wait(timeout=10)
    reported = [record.getMessage() for record in caplog.records if record.name == "bio_mcp.worker"]
    assert reported == ["queue: it is only read", "queue: it is locked", "queue: it is only read"]


def test_a_worker_that_is_stopped_lets_its_call_come_to_an_end(corpus):
    begun = threading.Event()

    @tool("patient", family=BIO_MCP, scope="read", timeout=1)
    def patient(request: Request, backends: object, context: Context) -> Nothing:
        """Work until there is no time left."""
        begun.set()
        while context.deadline.remaining > 0:
            time.sleep(0.01)
        return Nothing()

    corpus.continuations.send({"tool": "patient", "arguments": {}})
    with worker(corpus.continuations, {"patient": patient}, corpus):
        assert begun.wait(60)
    with corpus.database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM continuations").fetchone() == (0,)
