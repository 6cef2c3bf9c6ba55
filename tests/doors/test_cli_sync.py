"""`bio-mcp sync` and `bio-mcp checkpoint`, against the local NCBI."""

import os
import signal
import subprocess
import sys
import time

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors.cli.noticing import render_notices
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.syncing.delta import lease_name, sync_delta
from bio_mcp.syncing.planning import KIND
from tests.retracting import plain_papers, retract

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


def test_a_sync_ends_with_a_summary(online):
    ran = online("sync", "covid", TERM)
    assert (ran.code, ran.err) == (0, "")
    for word in ("state", "complete", "inserted", "processed", "job"):
        assert word in ran.out


def test_a_sync_that_is_too_large_says_how_large_and_which_option_confirms_it(online):
    ran = online("sync", "covid", TERM, "--max-records", "3")
    assert ran.code == 2
    assert "records for this sync, and more than 3 take a confirmation: pass --max-records=" in " ".join(
        ran.err.split()
    )


def test_a_sync_that_waits_is_stopped(online):
    with online.corpus() as corpus:
        job_id = sync_delta("big", "cancer", 5, corpus, Deadline(0), lambda *_: None).job_id
    assert f"{job_id} is cancelled" in online("sync", "big", "--stop").out
    with online.corpus() as corpus:
        assert corpus.jobs.get(job_id).state == "cancelled"
    assert online("sync", "--stop", "big", "--json").json == {"query_key": "big", "cancelled": []}


def test_a_sync_without_a_term_is_told_what_is_missing(online):
    ran = online("sync", "big")
    assert ran.code == 2
    assert "TERM" in ran.err


def test_a_second_sync_brings_nothing(online):
    first, second = online("sync", "covid", TERM, "--json").json, online("sync", "covid", TERM, "--json").json
    assert first["inserted"] == first["pmids_processed"] > 20
    assert (second["inserted"], second["updated"], second["state"]) == (0, 0, "complete")


def test_the_checkpoint_stands_where_the_sync_ended(online):
    assert online("checkpoint", "get", "covid").out == "covid has never been synced.\n"
    newest = online("sync", "covid", TERM, "--json").json["max_edat_seen"]
    assert online("checkpoint", "get", "covid").out == f"covid is synced up to {newest}.\n"


def test_a_checkpoint_can_be_moved_back(online):
    online("sync", "covid", TERM)
    assert online("checkpoint", "set", "covid", "2021-01-01").out == "covid is now at 2021-01-01.\n"
    assert online("checkpoint", "get", "covid", "--json").json["last_edat"] == "2021-01-01T00:00:00Z"


def test_a_term_that_pubmed_drops_is_a_warning(online):
    ran = online("sync", "odd", f"{TERM} OR zzyzzyva")
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


def test_records_that_could_not_be_fetched_leave_the_sync_incomplete(online, ncbi):
    with online.corpus() as corpus:
        bad = corpus.entrez.esearch(TERM).ids[0]
    ncbi.control.fault(endpoint="efetch", pmid=int(bad), times=100, recorded="500_diagnostic.html")
    ran = online("sync", "covid", TERM)
    assert ran.code == 1
    assert "incomplete: the watermark stays where it was" in ran.out
    assert "could not be fetched; the next run asks again" in " ".join(ran.err.split())
    ncbi.control.reset()
    assert online("sync", "covid", TERM, "--json").json["state"] == "complete"


def test_records_that_are_listed_and_not_delivered_leave_the_sync_incomplete(online, ncbi):
    ncbi.control.withhold(ncbi.control.pmids())
    ran = online("sync", "covid", TERM)
    assert ran.code == 1
    assert "incomplete: the watermark stays where it was" in ran.out
    assert "listed by PubMed but not delivered; the next run asks again" in " ".join(ran.err.split())


def test_a_sync_that_another_process_runs_is_not_started_twice(online):
    online("sync", "covid", TERM)
    with online.corpus() as corpus:
        corpus.leases.acquire(lease_name("covid"), "somebody", 60)
        job = corpus.jobs.latest("sync", "covid")
        job.state = "running"
        corpus.jobs.put(job)
        ran = online("sync", "covid", TERM)
    assert ran.code == 1
    assert "another process is running this sync" in " ".join(ran.out.split())


def test_a_bar_counts_records_on_a_terminal(online, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "syncing" in online("sync", "covid", TERM).err


def test_what_was_retracted_is_flagged_also_where_it_came_from_a_file(online, ncbi, tmp_path):
    [pmid] = plain_papers(ncbi, 1)
    (tmp_path / "paper.xml").write_text(f"<PubmedArticleSet>{ncbi.control.record(int(pmid))}</PubmedArticleSet>")
    assert online("import", str(tmp_path / "paper.xml")).code == 0
    retract(ncbi, pmid)
    ran = online("retractions")
    assert (ran.code, online("retractions", "--json").json["updated"]) == (0, 0)
    assert "complete" in ran.out
    assert "RETRACTED" in online("get", f"pmid:{pmid}").out


def test_documents_without_a_pmid_are_flagged_by_retraction_watchs_file(cli, tmp_path):
    corpus = cli.corpus()
    work = Work("doi:10.1000/a", title="A paper", citekey="doe2019", doi="10.1000/a")
    corpus.projects.put(Project("lab", "proj-lab", "model"))
    corpus.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id})))
    corpus.close()
    rows = tmp_path / "retraction_watch.csv"
    rows.write_text("OriginalPaperDOI,RetractionNature,RetractionDate\n10.1000/a,Retraction,7/26/2019 0:00\n")
    ran = cli("retractions", "--retraction-watch", str(rows))
    assert ran.code == 0
    assert "lab: 1 document without a PMID, 1 with a notice" in ran.out
    assert "retracted  doe2019: Retraction 2019-07-26 (retraction-watch)" in ran.out
    again = cli("retractions", "--retraction-watch", str(rows), "--json").json
    assert again["projects"][0]["works"][0]["retraction"] == "retracted"
    rows.write_text("something else")
    assert "not Retraction Watch's file" in cli("retractions", "--retraction-watch", str(rows)).err


@pytest.mark.parametrize(("by_crossref", "more"), [(True, ", 3 not at Crossref"), (False, "")])
def test_documents_that_crossref_does_not_have_are_counted(by_crossref, more, capsys):
    body = {"projects": [{"project": "lab", "checked": 4, "unknown": 3, "works": []}]}
    render_notices(body, by_crossref=by_crossref)
    assert capsys.readouterr().out == f"lab: 4 documents without a PMID, 0 with a notice{more}\n"


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
