"""`bio-mcp sync`, and under `admin` queries, checkpoints, retractions and loads, against the local NCBI."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from io import StringIO

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors.cli.program import run
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.state import Run
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.settings import Settings
from bio_mcp.syncing.delta import KIND, sync_delta
from tests.doors.command_line import Ran
from tests.support.folder_files import FolderFiles

TERM = "COVID-19"
# A process that a shell started in the background ignores Ctrl-C, and so do its children.
INTERRUPTIBLE = """
import signal, sys
from bio_mcp.doors.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""


@pytest.fixture
def online(cli, ncbi):
    cli.ncbi = ncbi.base_url
    return cli


def test_a_sync_that_is_too_large_says_how_large_and_which_option_confirms_it(online):
    ran = online("sync", "covid", TERM, "--max-records", "3")
    assert ran.code == 2
    assert "records for this sync. More than 3 take a confirmation: give " in ran.said


def begin(cli):
    """A sync that has begun and waits to go on."""
    with cli.corpus() as corpus:
        return sync_delta("big", "cancer", 5, corpus, Deadline(0), lambda *_: None).job_id


def test_a_sync_that_waits_is_stopped(online):
    job_id = begin(online)
    assert f"{job_id} is cancelled" in online("sync", "big", "--stop").out
    assert online("admin", "queries", "list", "big", "--json").json["queries"][0]["last_sync"]["state"] == "cancelled"
    assert online("sync", "--stop", "big", "--json").json == {"query_key": "big", "cancelled": []}


def test_the_checkpoint_stands_where_the_sync_ended_and_can_be_moved_back(online):
    newest = online("sync", "covid", TERM, "--json").json["max_edat_seen"]
    assert online("admin", "checkpoint", "get", "covid").out == f"covid is synced up to {newest}.\n"
    assert online("admin", "checkpoint", "set", "covid", "2021-01-01").out == "covid is now at 2021-01-01.\n"
    assert online("admin", "checkpoint", "get", "covid", "--json").json["last_edat"] == "2021-01-01T00:00:00Z"


def test_a_key_that_nothing_follows_is_an_error_for_news_and_checkpoints_alike(online):
    online("sync", "covid", TERM)
    news, checkpoint = online("news", "knees"), online("admin", "checkpoint", "get", "knees")
    assert news.code == checkpoint.code == 1
    assert news.err == checkpoint.err
    assert "No query 'knees' is followed. Followed queries: covid. `bio-mcp sync` begins one." in news.err
    assert online("admin", "checkpoint", "get", "knees", "--json").json["error"]["code"] == "NOT_FOUND"


def test_a_watermark_for_a_first_sync_says_that_it_is_of_no_query(online):
    ran = online("admin", "checkpoint", "set", "knees", "2021-01-01")
    assert ran.code == 0
    assert "No query 'knees' is followed yet" in ran.err
    assert "No query is followed" in online("admin", "queries", "list").out


def test_what_may_be_a_typing_error_is_refused_in_a_script_and_names_the_option(online):
    ran = online("sync", "odd", f"{TERM} OR zzyzzyva")
    assert ran.code == 2
    assert ran.said.endswith("PubMed does not know 'zzyzzyva'. Correct the term, or give --yes to follow it.")
    assert online("admin", "queries", "list", "--json").json["queries"] == []
    online("sync", "covid", TERM)
    ran = online("sync", "covid", "knee")
    assert f"'covid' follows another term: {TERM}. Choose another key, or give --yes" in ran.said
    called = online("admin", "call", "pubmed_sync_delta", json.dumps({"query_key": "covid", "term": "knee"}))
    assert "Choose another key, or give confirm: true" in called.said


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)], ids=["yes", "no", "neither"])
def test_what_may_be_a_typing_error_is_a_question_on_a_terminal(online, monkeypatch, typed, code):
    class Terminal(StringIO):
        def isatty(self):
            return True

    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stderr", shown)
    assert online("sync", "odd", f"{TERM} OR zzyzzyva").code == code
    assert "PubMed does not know 'zzyzzyva'. Go on all the same? [y/N]" in " ".join(shown.getvalue().split())


def test_a_term_that_pubmed_drops_is_a_warning(online):
    ran = online("sync", "odd", f"{TERM} OR zzyzzyva", "--yes")
    assert ran.code == 0
    assert "warning: " in ran.err
    assert "zzyzzyva" in ran.err


def test_a_command_syncs_again_although_a_sync_that_went_on_by_itself_has_just_ended(online):
    with online.corpus() as corpus:
        began = sync_delta("covid", TERM, 5, corpus, Deadline(0), lambda *_: None)
        assert work_once(corpus.continuations, TOOLS, corpus)
    ran = online("sync", "covid", TERM, "--json")
    assert ran.json["state"] == "complete"
    assert ran.json["job_id"] != began.job_id
    assert "ended" not in ran.json


def test_an_outage_is_an_error_and_the_next_run_goes_on(online, ncbi):
    ncbi.control.fault(endpoint="esearch", times=100, recorded="500_diagnostic.html")
    ran = online("sync", "covid", TERM)
    assert (ran.code, ran.out) == (1, "")
    at = ncbi.base_url.split("/")[2]
    waiting, *_, error = ran.err.splitlines()
    assert waiting == f"waiting for NCBI at {at}, try 2 of 6"
    assert error.startswith("error: ")
    assert error.endswith(f"(6 tries at {at}).")
    ncbi.control.reset()
    assert online("sync", "covid", TERM, "--json").json["state"] == "complete"


def test_without_a_network_a_command_says_so_soon_and_what_works_without(cli):
    for command in (("sync", "covid", TERM), ("pubmed", "search", "asthma")):
        ran = cli(*command)
        assert (ran.code, ran.out) == (1, "")
        waiting, error = ran.err.splitlines()
        assert waiting.endswith("try 2 of 2")
        assert error.startswith("error: PubMed cannot be reached at 127.0.0.1:9. ")
        assert "`make demo-ncbi`" in error


def test_records_that_could_not_be_fetched_leave_the_sync_incomplete(online, ncbi):
    with online.corpus() as corpus:
        bad = corpus.entrez.esearch(TERM).ids[0]
    ncbi.control.fault(endpoint="efetch", pmid=int(bad), times=100, recorded="500_diagnostic.html")
    ran = online("sync", "covid", TERM)
    assert ran.code == 1
    assert "watermark stays where it was" in ran.out
    assert "could not be fetched; the next run asks again" in ran.said
    ncbi.control.reset()
    assert online("sync", "covid", TERM, "--json").json["state"] == "complete"


def test_documents_without_a_pmid_are_flagged_by_retraction_watchs_file(cli, tmp_path):
    corpus = cli.corpus()
    work = Work("doi:10.1000/a", title="A paper", citekey="doe2019", doi="10.1000/a")
    corpus.projects.put(Project("lab", "proj-lab", "model"))
    corpus.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id})))
    corpus.close()
    rows = tmp_path / "retraction_watch.csv"
    rows.write_text("OriginalPaperDOI,RetractionNature,RetractionDate\n10.1000/a,Retraction,7/26/2019 0:00\n")
    ran = cli("admin", "retractions", "--retraction-watch", str(rows))
    assert ran.code == 0
    assert "lab with a notice: " in ran.said
    assert "A paper, doe2019, DOI 10.1000/a, is retracted, notices" in ran.said
    assert "Retraction, date 2019-07-26, by retraction-watch documents without a PMID 1" in ran.said
    again = cli("admin", "retractions", "--retraction-watch", str(rows), "--json").json
    assert again["projects"][0]["works"][0]["retraction"] == "retracted"
    rows.write_text("something else")
    assert "not Retraction Watch's file" in cli("admin", "retractions", "--retraction-watch", str(rows)).err


def test_ctrl_c_says_how_to_go_on_and_the_next_run_does(cli, ncbi, tmp_path):
    home = tmp_path / "interrupted"
    environment = {
        "PATH": os.environ["PATH"],
        "BIO_MCP_HOME": str(home),
        "NCBI_BASE_URL": ncbi.base_url,
        "NCBI_REQUEST_DELAY_MS": "1",
    }
    command = [sys.executable, "-c", INTERRUPTIBLE, "sync", "covid", TERM]
    ncbi.control.fault(endpoint="efetch", nth=1, times=1, stall=60)
    started = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not ncbi.control.requests("efetch"):
        assert started.poll() is None
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (130, "")
    assert "Run the same command again" in err
    assert "Traceback" not in err
    cli.home, cli.ncbi = home, ncbi.base_url
    with cli.corpus() as corpus:
        job = corpus.jobs.latest(KIND, "covid")
    again = cli("sync", "covid", TERM, "--json").json
    assert (again["job_id"], again["state"]) == (job.job_id, "complete")


def test_a_query_is_forgotten_only_when_told_twice(online):
    online("sync", "covid", "COVID-19")
    papers = online("admin", "queries", "list", "--json").json["papers"]
    ran = online("admin", "queries", "remove", "covid")
    assert ran.code == 1
    assert "would be removed" in ran.out
    ran = online("admin", "queries", "remove", "covid", "--yes")
    assert ran.code == 0
    assert "is removed; its papers stay" in ran.out
    left = online("admin", "queries", "list", "--json").json
    assert (left["queries"], left["papers"]) == ([], papers)
    assert "is not followed" in online("admin", "queries", "remove", "covid").out


def test_a_query_that_is_being_synced_is_not_forgotten(online):
    begin(online)
    with online.corpus() as corpus:
        corpus.leases.acquire("sync:big", "somebody", 60)
        ran = online("admin", "queries", "remove", "big", "--yes")
    assert ran.code == 1
    assert "stop it first" in ran.err


BEGAN = datetime(2026, 12, 15, 9, tzinfo=UTC)


class Stack:
    """What the commands ask of a stack."""

    def __init__(self, home):
        self.load_files, self.load_runs = FolderFiles(home), self
        self.runs = []

    def start(self, given):
        self.runs.append(Run(f"run{len(self.runs)}", "running", BEGAN, given=given))
        return self.runs[-1].name

    def get(self, name):
        return next((each for each in reversed(self.runs) if name in ("", each.name)), None)

    def close(self):
        """Nothing is open."""


@pytest.fixture
def stack(tmp_path):
    return Stack(tmp_path / "load")


@pytest.fixture
def load(stack, tmp_path, capsys):
    def command(*argv):
        code = run(["admin", "load", *argv], configure=lambda: Settings(home=tmp_path), wire=lambda _: stack)
        return Ran(code, *capsys.readouterr())

    return command


def test_a_load_is_begun_with_what_was_asked(load, stack):
    ran = load("status")
    assert (ran.code, "bio-mcp admin load start begins one" in ran.err) == (1, True)
    assert load("start").code == 0
    assert "The load run1 began" in load("start", "--fetch", "--again").out
    assert [dict(each.given) for each in stack.runs] == [dict.fromkeys(("fetch", "again"), on) for on in (False, True)]


def test_a_load_on_its_way_says_what_each_stage_has_to_do(load, stack):
    load("start")
    items = [{"name": f"f{number}"} for number in range(3)]
    stack.load_files.put("runs/run0/fetch", json.dumps(items).encode())
    stack.load_files.put("runs/run0/load", json.dumps(items).encode())
    stack.load_files.put("runs/run0/loaded/f0", b"{}")
    ran = load("status")
    assert ran.code == 0
    for line in ("run0: running", "3 files to fetch from NCBI", "3 files to load", "1 loaded, 2 left, 0 failed"):
        assert line in ran.out
    assert json.loads(load("status", "--json").out)["left"] == ["f1", "f2"]


def test_files_that_failed_are_named_and_the_command_fails(load, stack):
    load("start")
    for number in range(52):
        note = {"file": f"f{number:02}", "stage": "list", "reason": "It is cut short."}
        stack.load_files.put(f"runs/run0/failed/f{number:02}", json.dumps(note).encode())
    ran = load("status", "run0")
    assert ran.code == 1
    assert "f00 (list): It is cut short." in ran.err
    assert "f49" in ran.err
    assert "f50" not in ran.err
    assert "and 2 more" in ran.err


@pytest.mark.parametrize("command", ["start", "status"])
def test_on_one_machine_the_command_says_what_to_do_there(command, cli):
    ran = cli("admin", "load", command)
    assert ran.code == 1
    assert "bio-mcp import" in ran.err


def test_what_the_installation_follows_for_itself_is_listed_with_what_it_is_for(online):
    online("admin", "retractions")
    assert "bio-mcp/retractions looks for retractions of any paper" in online("admin", "queries", "list").said
    assert "retractions of any paper" in online("news", "bio-mcp/retractions").err


def test_what_is_followed_is_listed(online):
    assert "No query is followed" in online("admin", "queries", "list").out
    online("sync", "covid", "COVID-19 OR zzyzzyva", "--yes")
    ran = online("admin", "queries", "list")
    assert ran.code == 0
    for word in ("covid", "COVID-19 OR zzyzzyva", "complete", "papers in the corpus 4"):
        assert word in ran.said
    assert "zzyzzyva" in ran.err
    assert online("admin", "queries", "list", "none", "--json").json["queries"] == []
