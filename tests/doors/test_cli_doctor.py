"""`bio-mcp doctor`: every check, well and unwell, and what it says to do."""

import sqlite3
from contextlib import closing

import pytest

from bio_mcp.adapters.embedded import inspection
from bio_mcp.adapters.embedded.database import FILE
from bio_mcp.doors.cli import checks
from bio_mcp.errors import StoreFailed
from bio_mcp.health import FAIL, OK, WARN, Finding, examine
from bio_mcp.ports.state import Job
from tests.corpus import HashedWords


def found(ran):
    """check -> (state, what was found and what to do)."""
    return {each["check"]: (each["state"], f"{each['found']} {each['remedy']}") for each in ran.json["checks"]}


def test_all_is_well_with_a_filled_corpus(cli):
    cli.fill(20)
    ran = cli("doctor", "--json")
    assert (ran.code, ran.json["ok"]) == (0, True)
    assert {state for state, _ in found(ran).values()} == {OK}
    assert "20 papers, 20 of them indexed" in found(ran)["corpus"][1]
    assert cli("doctor").out.rstrip().endswith("Everything is in order.")


def test_it_says_whether_scans_are_read(cli):
    assert "scanned pages are" in found(cli("doctor", "--json"))["text recognition"][1]


def test_it_says_whether_a_start_reads_the_saved_index(cli):
    assert found(cli("doctor", "--json"))["index file"] == (OK, "not needed: a corpus of this size is read as fast ")


def test_an_empty_corpus_is_a_warning_that_says_how_to_fill_it(cli):
    state, message = found(cli("doctor", "--json"))["corpus"]
    assert state == WARN
    assert "bio-mcp import --sample" in message


def test_papers_that_are_not_indexed_yet_are_a_warning(cli):
    cli.fill(20)
    with cli.corpus() as corpus:
        corpus.passages.delete(["27602157"])
    state, message = found(cli("doctor", "--json"))["corpus"]
    assert state == WARN
    assert "20 papers, 19 of them indexed" in message


def test_a_missing_address_is_a_warning(cli):
    cli.settings["ncbi_admin_email"] = ""
    ran = cli("doctor")
    assert ran.code == 0
    assert "NCBI_ADMIN_EMAIL" in ran.out
    assert "Nothing is broken" in ran.out


def test_a_damaged_corpus_file_fails_and_is_left_alone(cli):
    cli.fill(20)
    (cli.home / FILE).write_bytes(b"SQLite format 3\0" + b"torn" * 1000)
    before = (cli.home / FILE).read_bytes()
    ran = cli("doctor", "--json")
    assert (ran.code, ran.json["ok"]) == (1, False)
    assert found(ran)["database"][0] == FAIL
    assert (cli.home / FILE).read_bytes() == before


def test_a_corpus_file_that_lost_rows_fails_by_name(cli):
    cli.fill(20)
    with sqlite3.connect(cli.home / FILE) as connection:
        connection.execute("DELETE FROM articles WHERE pmid = 27602157")
    connection.close()
    state, message = found(cli("doctor", "--json"))["database"]
    assert state == FAIL
    assert "1 heads without an article" in message


def change(cli, sql):
    with closing(sqlite3.connect(cli.home / FILE)) as connection, connection:
        connection.execute(sql)


def test_damaged_passages_fail_with_the_command_that_mends_them(cli):
    cli.fill(20)
    change(cli, "UPDATE vectors SET vectors = zeroblob(length(vectors)) WHERE pmid = 27602157")
    state, message = found(cli("doctor", "--json"))["database"]
    assert state == FAIL
    assert "damaged passages of PMID 27602157" in message
    assert message.endswith("Run `bio-mcp reindex`.")
    cli("reindex")
    assert cli("doctor", "--json").json["ok"]


@pytest.mark.parametrize(
    ("sql", "reported"),
    [("DROP TABLE heads", "the table heads is missing"), ("DELETE FROM settings", "3 settings of the index")],
)
def test_a_corpus_that_lost_a_table_or_its_settings_is_examined_to_the_end(cli, sql, reported):
    cli.fill(20)
    change(cli, sql)
    ran = cli("doctor", "--json")
    assert ran.code == 1
    assert reported in found(ran)["database"][1]
    assert found(ran)["corpus"][0] == FAIL
    assert found(ran)["embedding model"][0] == OK


def test_a_check_that_breaks_down_is_a_finding(caplog):
    def breaks():
        raise KeyError("a mistake of ours")

    assert examine("disk", breaks).state == FAIL
    assert "KeyError" in examine("disk", breaks).found
    assert "a mistake of ours" in caplog.text


def test_an_index_of_another_model_fails_with_both_names(cli):
    cli.fill(20)
    with sqlite3.connect(cli.home / FILE) as connection:
        connection.execute("UPDATE settings SET value = 'another-model' WHERE name = 'model'")
    connection.close()
    state, message = found(cli("doctor", "--json"))["corpus"]
    assert state == FAIL
    assert "another-model" in message
    assert "hashed-words" in message


def test_a_second_index_and_settings_that_name_another_model_are_warnings(cli):
    cli.fill(20)
    cli.other_models = [HashedWords("-2")]
    cli("reindex", "start", "--model", "hashed-words-2")
    state, message = found(cli("doctor", "--json"))["corpus"]
    assert (state, "a next index beside it" in message) == (WARN, True)
    cli("reindex", "switch", "--unchecked")
    state, message = found(cli("doctor", "--json"))["embedding model"]
    assert (state, "the settings name hashed-words" in message) == (WARN, True)
    cli("reindex", "remove")
    assert found(cli("doctor", "--json"))["corpus"][0] == OK


def test_a_watermark_in_the_future_is_a_warning_that_names_the_query(cli):
    cli.fill(20)
    with cli.corpus() as corpus:
        corpus.checkpoints.advance("statins", "statins[ti]", "2025-08-17T00:00:00Z", {"edat": "2999-12-25"})
    ran = cli("doctor", "--json")
    state, message = found(ran)["queries"]
    assert (ran.code, state) == (0, WARN)
    assert "statins: " in message
    assert "2999-12-25" in message
    shown = cli("checkpoint", "get", "statins")
    assert "2999-12-25" in shown.out + shown.err


def test_a_model_of_the_wrong_size_fails(cli):
    with cli.corpus() as corpus:
        corpus.model.dim = 3
        assert checks.model(corpus.settings, corpus).state == FAIL


def test_it_says_whether_probabilities_of_relevance_were_fitted_to_the_model(cli):
    with cli.corpus() as corpus:
        corpus.model.fingerprint = "bge-small/http/384"
        assert "fitted to another" in checks.model(corpus.settings, corpus).found
        corpus.model.fingerprint = "all-MiniLM-L6-v2/http/384"
        assert checks.model(corpus.settings, corpus) == Finding(OK, "all-MiniLM-L6-v2/http/384")


def test_a_data_directory_that_is_a_file_fails(tmp_path):
    (tmp_path / "taken").write_text("")
    finding = inspection.data_directory(tmp_path / "taken" / "home")
    assert finding.state == FAIL
    assert "BIO_MCP_HOME" in finding.remedy


@pytest.mark.parametrize(("free", "state"), [(2 << 30, OK), (1 << 29, WARN), (1 << 20, FAIL)])
def test_a_full_disk_is_reported_before_it_hurts(tmp_path, free, state):
    assert inspection.space(tmp_path, free).state == state


def test_ncbi_is_asked_only_when_told_to(cli, ncbi):
    cli.ncbi = ncbi.base_url
    assert found(cli("doctor", "--json"))["ncbi"] == (OK, "not asked; `bio-mcp doctor --ncbi` asks it ")
    assert ncbi.control.requests() == []
    state, message = found(cli("doctor", "--ncbi", "--json"))["ncbi"]
    assert state == OK
    assert "PubMed holds 591 records" in message


def test_an_unreachable_ncbi_fails_and_the_rest_is_reported(cli):
    ran = cli("doctor", "--ncbi", "--json")
    assert ran.code == 1
    assert found(ran)["ncbi"][0] == FAIL
    assert found(ran)["versions"][0] == OK


def test_the_services_outside_are_asked_only_when_told_to(cli, ncbi):
    cli.ncbi = ncbi.base_url
    assert "NCBI's ID converter" not in found(cli("doctor", "--json"))
    assert ncbi.control.requests() == []
    asked = found(cli("doctor", "--upstreams", "--json"))
    assert asked["ncbi"][0] == OK
    assert asked["NCBI's ID converter"][0] == OK
    assert {"language model", "issuer's keys", "OpenTelemetry collector"} & asked.keys() == set()


def test_they_are_asked_past_the_cache(cli, ncbi):
    cli.ncbi = ncbi.base_url
    counts = []
    for _ in range(2):
        cli("doctor", "--upstreams", "--json")
        counts.append(len(ncbi.control.requests()))
    assert counts[1] == 2 * counts[0] > 0


def test_a_failure_of_a_port_is_a_finding():
    def fails():
        raise StoreFailed("the disk is gone; bring it back")

    assert examine("disk", fails) == Finding(FAIL, "the disk is gone; bring it back", check="disk")


def test_a_sync_that_the_queue_has_given_up_is_a_warning_until_it_is_taken_up(cli):
    cli.fill(20)
    event = {"tool": "pubmed.sync_delta", "arguments": {"query_key": "mine", "term": "x", "job_id": "sync_1"}}
    with cli.corpus() as corpus:
        job = Job("sync_1", "sync", "stalled", corpus.now(), corpus.now(), {"query_key": "mine", "term": "x"})
        corpus.jobs.put(job)
        corpus.continuations.send(event)
        receipt, _ = corpus.continuations.receive(60)
        corpus.continuations.fail(receipt, "NCBI could not be reached", retryable=False)
    state, message = found(cli("doctor", "--json"))["queue"]
    assert state == WARN
    assert "mine: NCBI could not be reached" in message
    assert "Run the sync again" in message
    with cli.corpus() as corpus:
        job.state = "succeeded"
        corpus.jobs.put(job)
    assert found(cli("doctor", "--json"))["queue"][0] == OK
