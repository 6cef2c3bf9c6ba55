"""Which calls are recorded, and that recording never disturbs one."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event
from types import SimpleNamespace

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.errors import NotFound, StoreFailed
from bio_mcp.ports.state import CallRecord
from bio_mcp.recording import WAITING, CallRecorder, Reads, dumps, loads
from bio_mcp.settings import Settings
from bio_mcp.tenants import CallBackends
from bio_mcp.wiring.embedded import Embedded
from tests.replaying.backends import GINGER, RecordedCorpus
from tests.support.hooked import raising

SEARCH, GET = TOOLS["rag.search"], TOOLS["rag.get"]
ASKED = {"query": "ginger against nausea"}
RECORD = CallRecord("c1", "t", {}, "", "", "ok", datetime(2026, 1, 1, tzinfo=UTC))
READ = Reads(papers={"1": None})


@pytest.fixture
def corpus(tmp_path):
    return RecordedCorpus(tmp_path, *GINGER)


def recorded(corpus):
    return [each.correlation_id for each in corpus.calls.latest(99)]


def test_a_call_is_recorded_with_its_hashes_and_the_inputs_that_it_had(corpus):
    outcome = call(SEARCH, ASKED, corpus, correlation_id="c1")
    record = corpus.calls.get("c1")
    assert (record.tool, record.arguments, record.status) == ("rag.search", ASKED, "ok")
    assert (record.in_hash, record.out_hash) == (outcome.audit["in_hash"], outcome.audit["out_hash"])
    assert record.latency_ms == outcome.audit["latency_ms"]
    assert record.inputs.keys() == {"code", "rules", "model", "reranker"}
    assert {each.pmid for _, found in loads(record.read).searches for each in found} == {"1", "2", "3", "4"}


def test_a_recorded_call_has_the_answer_that_it_would_have_had(corpus):
    watched = call(SEARCH, ASKED, corpus)
    corpus.recorder = None
    assert call(SEARCH, ASKED, corpus).body == watched.body


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (SEARCH, {"query": ""}),
        (GET, {"doc_id": "pmid:99"}),
        (TOOLS["corpus.checkpoint.set"], {"query_key": "q", "last_edat": "2025-01-01"}),
    ],
)
def test_errors_and_writes_are_not_recorded(corpus, tool, arguments):
    call(tool, arguments, corpus)
    assert recorded(corpus) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [StoreFailed, RuntimeError], ids=["a full disk", "a bug"])
@pytest.mark.parametrize("background", [True, False])
def test_a_log_that_fails_fails_no_call(corpus, background, error):
    broken = SimpleNamespace(record=raising(error, "full"))
    corpus.recorder = CallRecorder(lambda: broken, background=background)
    for _ in range(2):
        assert not call(SEARCH, ASKED, corpus).failed
        corpus.recorder.close()


def test_a_graph_whose_state_cannot_be_had_fails_no_call_by_being_watched(corpus):
    corpus.graph = SimpleNamespace(revision=raising(StoreFailed, "away"))
    watched = CallBackends(corpus, None, trace=Reads())
    assert watched.graph is corpus.graph
    assert watched.trace.elsewhere == {"graph"}


def test_in_the_background_calls_are_stored_after_the_answer_and_all_by_the_close(corpus):
    corpus.recorder = CallRecorder(lambda: corpus.calls)
    for number in range(5):
        call(SEARCH, ASKED, corpus, correlation_id=f"c{number}")
    corpus.recorder.close()
    assert sorted(recorded(corpus)) == ["c0", "c1", "c2", "c3", "c4"]
    call(SEARCH, ASKED, corpus, correlation_id="after")
    corpus.recorder.close()
    assert "after" in recorded(corpus)


def test_calls_that_come_faster_than_they_are_stored_are_dropped_and_not_waited_for(corpus):
    go = Event()
    recorder = CallRecorder(lambda: corpus.calls)
    for number in range(WAITING + 50):
        recorder.record(lambda number=number: go.wait(10) and replace(RECORD, correlation_id=str(number)), READ, corpus)
    go.set()
    recorder.close()
    assert WAITING <= len(corpus.calls.latest(999)) <= WAITING + 1


def test_what_is_read_survives_being_bytes(corpus):
    watched = CallBackends(corpus, None, trace=Reads())
    call(SEARCH, ASKED | {"group_by_doc": False, "include_weak": True}, watched)
    call(GET, {"doc_id": "pmid:1"}, watched)
    reads = watched.trace
    assert reads.papers.keys() == {"1", "2", "3", "4"}
    assert len(reads.searches) == 2
    assert loads(dumps(reads)) == reads


def test_a_laptop_records_calls_unless_its_user_does_not_want_it(tmp_path):
    with closing(Embedded(Settings(home=tmp_path, calls_days=0))) as backends:
        assert backends.recorder is None
    with closing(Embedded(Settings(home=tmp_path, calls_days=3))) as backends:
        backends.recorder.record(lambda: RECORD, READ, backends)
    with closing(Embedded(Settings(home=tmp_path, calls_days=3))) as backends:
        assert [each.correlation_id for each in backends.calls.latest(2)] == ["c1"]
        with pytest.raises(NotFound, match="3 days"):
            backends.calls.get("c2")


def test_a_call_that_read_nothing_is_not_recorded(corpus):
    corpus.recorder.record(lambda: RECORD, Reads(day="2025-01-01"), corpus)
    assert recorded(corpus) == []
    corpus.recorder.record(lambda: RECORD, READ, corpus)
    assert recorded(corpus) == ["c1"]
