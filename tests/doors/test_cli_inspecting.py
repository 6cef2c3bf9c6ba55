"""`bio-mcp admin call` and `replay`, and `bio-mcp doctor`: every check, well and unwell."""

import io
import sqlite3
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from bio_mcp.adapters.embedded import integrity
from bio_mcp.adapters.embedded.database import FILE
from bio_mcp.call import call
from bio_mcp.callers import SCOPES, Caller
from bio_mcp.catalog import TOOLS
from bio_mcp.doors.cli import inspecting
from bio_mcp.health import FAIL, OK, WARN, Finding, examine
from bio_mcp.ports.state import Job
from tests.support.corpus import Corpus, HashedWords
from tests.syncing.stored import gone


def test_all_is_well_with_a_filled_corpus(cli):
    cli.fill(20)
    ran = cli("doctor", "--json")
    assert (ran.code, ran.json["ok"]) == (0, True)
    assert {state for state, _ in ran.checks.values()} == {OK}
    assert "20 papers, 20 of them indexed" in ran.checks["corpus"][1]
    assert cli("doctor").out.rstrip().endswith("Everything is in order.")


def test_an_empty_corpus_is_a_warning_that_says_how_to_fill_it(cli):
    state, message = cli("doctor", "--json").checks["corpus"]
    assert state == WARN
    assert "bio-mcp import --sample" in message


def test_a_damaged_corpus_file_fails_and_is_left_alone(cli):
    cli.fill(20)
    (cli.home / FILE).write_bytes(b"SQLite format 3\0" + b"torn" * 1000)
    before = (cli.home / FILE).read_bytes()
    ran = cli("doctor", "--json")
    assert (ran.code, ran.json["ok"]) == (1, False)
    assert ran.checks["database"][0] == FAIL
    assert (cli.home / FILE).read_bytes() == before


def change(cli, sql):
    with closing(sqlite3.connect(cli.home / FILE)) as connection, connection:
        connection.execute(sql)


@pytest.mark.parametrize(
    ("sql", "check", "reported"),
    [
        ("DELETE FROM articles WHERE pmid = 27602157", "database", "1 heads without an article"),
        ("DROP TABLE heads", "database", "the table heads is missing"),
        ("DELETE FROM settings", "database", "3 settings of the index"),
        ("UPDATE settings SET value = 'another-model' WHERE name = 'model'", "corpus", "another-model"),
    ],
)
def test_what_a_corpus_lost_fails_by_name_and_the_rest_is_examined(cli, sql, check, reported):
    cli.fill(20)
    change(cli, sql)
    ran = cli("doctor", "--json")
    assert ran.code == 1
    state, message = ran.checks[check]
    assert (state, reported in message) == (FAIL, True)
    assert ran.checks["embedding model"][0] == OK


def test_damaged_passages_fail_with_the_command_that_mends_them(cli):
    cli.fill(20)
    change(cli, "UPDATE vectors SET vectors = zeroblob(length(vectors)) WHERE pmid = 27602157")
    state, message = cli("doctor", "--json").checks["database"]
    assert state == FAIL
    assert "damaged passages of PMID 27602157" in message
    assert message.endswith("Run `bio-mcp admin reindex`.")
    cli("admin", "reindex")
    assert cli("doctor", "--json").json["ok"]


def test_a_check_that_breaks_down_is_a_finding(caplog):
    def breaks():
        raise KeyError("a mistake of ours")

    assert examine("disk", breaks).state == FAIL
    assert "KeyError" in examine("disk", breaks).found
    assert "a mistake of ours" in caplog.text


def test_a_second_index_and_settings_that_name_another_model_are_warnings(cli):
    cli.fill(20)
    cli.other_models = [HashedWords("-2")]
    cli("admin", "reindex", "start", "--model", "hashed-words-2")
    state, message = cli("doctor", "--json").checks["corpus"]
    assert (state, "a next index beside it" in message) == (WARN, True)
    cli("admin", "reindex", "switch", "--unchecked")
    state, message = cli("doctor", "--json").checks["embedding model"]
    assert (state, "the settings name hashed-words" in message) == (WARN, True)
    cli("admin", "reindex", "remove")
    assert cli("doctor", "--json").checks["corpus"][0] == OK


def test_a_watermark_in_the_future_is_a_warning_that_names_the_query(cli):
    cli.fill(20)
    with cli.corpus() as corpus:
        corpus.checkpoints.advance("statins", "statins[ti]", "2025-08-17T00:00:00Z", {"edat": "2999-12-25"})
    ran = cli("doctor", "--json")
    state, message = ran.checks["queries"]
    assert (ran.code, state) == (0, WARN)
    assert "statins: " in message
    assert "2999-12-25" in message
    shown = cli("admin", "checkpoint", "get", "statins")
    assert "2999-12-25" in shown.out + shown.err


def test_a_model_of_the_wrong_size_fails(cli):
    with cli.corpus() as corpus:
        corpus.model.dim = 3
        assert inspecting.model(corpus).state == FAIL


def test_it_says_whether_probabilities_of_relevance_were_fitted_to_the_model(cli):
    with cli.corpus() as corpus:
        corpus.model.fingerprint = "bge-small/http/384"
        assert "fitted to another" in inspecting.model(corpus).found
        corpus.model.fingerprint = "bge-small-en-v1.5/http/384"
        assert inspecting.model(corpus) == Finding(OK, "bge-small-en-v1.5/http/384")


def test_a_data_directory_that_is_a_file_fails(tmp_path):
    (tmp_path / "taken").write_text("")
    finding = integrity.data_directory(tmp_path / "taken" / "home")
    assert finding.state == FAIL
    assert "BIO_MCP_HOME" in finding.remedy


@pytest.mark.parametrize(("free", "state"), [(2 << 30, OK), (1 << 29, WARN), (1 << 20, FAIL)])
def test_a_full_disk_is_reported_before_it_hurts(tmp_path, free, state):
    assert integrity.space(tmp_path, free).state == state


def test_ncbi_is_asked_only_when_told_to(cli, ncbi):
    cli.ncbi = ncbi.base_url
    assert cli("doctor", "--json").checks["ncbi"] == (OK, "not asked; `bio-mcp doctor --ncbi` asks it ")
    assert ncbi.control.requests() == []
    state, message = cli("doctor", "--ncbi", "--json").checks["ncbi"]
    assert state == OK
    assert "PubMed holds 591 records" in message


def test_the_services_outside_are_asked_only_when_told_to(cli, ncbi):
    cli.ncbi = ncbi.base_url
    assert "NCBI's ID converter" not in cli("doctor", "--json").checks
    assert ncbi.control.requests() == []
    cli.corpus = lambda: Corpus(cli.home, cli.ncbi, literature_sources=())
    asked = cli("doctor", "--upstreams", "--json").checks
    once = len(ncbi.control.requests())
    cli("doctor", "--upstreams", "--json")
    assert len(ncbi.control.requests()) == 2 * once  # past the cache
    assert asked["ncbi"][0] == OK
    assert asked["NCBI's ID converter"][0] == OK
    assert {"language model", "issuer's keys", "OpenTelemetry collector"} & asked.keys() == set()


def test_a_sync_that_the_queue_has_given_up_is_a_warning_until_it_is_taken_up(cli):
    cli.fill(20)
    event = {"tool": "pubmed.sync_delta", "arguments": {"query_key": "mine", "term": "x", "job_id": "sync_1"}}
    with cli.corpus() as corpus:
        job = Job("sync_1", "sync", "stalled", corpus.now(), corpus.now(), {"query_key": "mine", "term": "x"})
        corpus.jobs.put(job)
        corpus.continuations.send(event)
        receipt, _ = corpus.continuations.receive(60)
        corpus.continuations.fail(receipt, "NCBI could not be reached", retryable=False)
    state, message = cli("doctor", "--json").checks["queue"]
    assert state == WARN
    assert "mine: NCBI could not be reached" in message
    assert "Run the sync again" in message
    with cli.corpus() as corpus:
        job.state = "succeeded"
        corpus.jobs.put(job)
    assert cli("doctor", "--json").checks["queue"][0] == OK


READ = '{"doc_id": "pmid:27602157"}'


@pytest.fixture
def typed(monkeypatch):
    """What comes in by standard input."""
    return lambda given: monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given)))


def test_arguments_come_from_a_file_or_standard_input(cli, tmp_path, typed):
    cli.fill()
    (tmp_path / "read.json").write_text(READ)
    typed(READ.encode())
    given = (("rag_get", f"@{tmp_path}/read.json"), ("rag.get", "-"))
    asked = [cli("admin", "call", *each).json for each in given]
    assert asked[0] == asked[1]
    assert asked[0]["doc_id"] == "pmid:27602157"


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["rag_serch"], "There is no tool 'rag_serch'; did you mean rag_search? See `bio-mcp admin call --help`."),
        (["x"], "There is no tool 'x'; `bio-mcp admin tools` lists them. See"),
        (["rag_get", "pmid:1"], "JSON cannot be read: Expecting value at line 1, column 1."),
        (["rag_get", "7"], 'JSON is not an object of arguments, such as {"query": "migraine"}.'),
        (["rag_get", "@nowhere.json"], "nowhere.json cannot be read: No such file or directory."),
        (["rag_get", "[" * 100_000], "JSON is nested too deep."),
        (["rag_get", '{"pmid": "1"}'], "pmid: This is not a parameter of rag_get."),
    ],
)
def test_what_cannot_be_called_is_one_sentence_and_exit_code_two(cli, argv, sentence):
    ran = cli("admin", "call", *argv)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err


def test_arguments_that_are_no_text_are_refused(cli, typed):
    typed(b"\xff")
    ran = cli("admin", "call", "rag_get", "-")
    assert (ran.code, ran.err.startswith("error: JSON is not UTF-8.")) == (2, True)


def newest(cli):
    return cli("admin", "replay", "--json").json["calls"][0]["correlation_id"]


def test_a_search_is_recorded_and_equal_until_the_corpus_moves(cli):
    cli.fill(20)
    assert cli("admin", "replay").out.strip().endswith("No call is recorded yet.")
    cli("search", "cells")
    recorded = newest(cli)
    equal = cli("admin", "replay", recorded)
    assert (equal.code, equal.out.splitlines()[-1]) == (0, "Equal.")
    corpus = cli.corpus()
    stored = corpus.documents.pmids()
    pmids = [next(stored) for _ in range(15)]
    corpus.passages.delete(pmids)
    corpus.documents.delete(gone(*pmids))
    corpus.close()
    moved = cli("admin", "replay", recorded, "--json")
    assert (moved.code, moved.json["moved"], moved.json["as_then"]) == (1, ["corpus"], None)
    assert set(moved.json["papers"]["gone"]) <= set(pmids)
    assert "found then only " in cli("admin", "replay", recorded).out
    assert newest(cli) == recorded


def test_a_call_that_is_not_in_the_log_is_a_failure(cli):
    failed = cli("admin", "replay", "nothing")
    assert failed.code == 1
    assert "30 days" in failed.err


def test_a_tenants_calls_are_replayed_over_what_the_tenant_sees_and_in_no_other_name(cli):
    cli.fill(20)
    ann = Caller("ann", frozenset(SCOPES), "lab-a")
    with cli.corpus() as corpus:
        answer = call(TOOLS["rag.search"], {"query": "cells"}, corpus, caller=ann)
    recorded = answer.audit["correlation_id"]
    listed = cli("admin", "replay", "--tenant", "lab-a", "--json").json["calls"]
    assert [(each["correlation_id"], each["tool"]) for each in listed] == [(recorded, "rag.search")]
    assert cli("admin", "replay", "--json").json["calls"] == []
    assert cli("admin", "replay", recorded, "--tenant", "lab-a").out.endswith("Equal.\n")
    for others in ([], ["--tenant", "lab-b"]):
        assert "30 days" in cli("admin", "replay", recorded, *others).err
