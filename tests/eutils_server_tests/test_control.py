"""The catalogue moves while the server runs, and the log tells what a client did."""

import subprocess
import sys
import time

import pytest
from lxml import etree

from tests.eutils_server.client import REPOSITORY, Control, running
from tests.eutils_server.fixtures import SAMPLE


def test_a_revision_moves_the_revision_date_and_the_text(ncbi, search, fetched):
    pmid = ncbi.control.pmids("crdt", "2021/06/07", "2021/06/07")[0]
    title = etree.fromstring(ncbi.control.record(pmid)).findtext(".//ArticleTitle")
    ncbi.control.revise(pmid, "2021/07/01", {title: "A new title."})
    assert search(term="2021/07/01[lr]")["idlist"] == [str(pmid)]
    assert search(term='2021/06/07[crdt] AND "A new title"[ti]')["idlist"] == [str(pmid)]
    assert fetched([pmid]) == [pmid]


def test_a_text_that_is_not_there_cannot_be_revised(ncbi):
    with pytest.raises(ValueError, match="does not hold"):
        ncbi.control.revise(ncbi.control.pmids()[0], "2021/07/01", {"no such text": "x"})


def test_a_new_record_is_found_and_a_deleted_one_is_not(ncbi, search, fetched):
    pmids = ncbi.control.pmids()
    xml = ncbi.control.record(pmids[0])
    ncbi.control.withdraw([pmids[0]])
    assert fetched([pmids[0]]) == []
    assert ncbi.control.add(f"<PubmedArticleSet>{xml}</PubmedArticleSet>") == [pmids[0]]
    assert fetched([pmids[0]]) == [pmids[0]]
    ncbi.control.add(f"<PubmedArticleSet><DeleteCitation><PMID>{pmids[1]}</PMID></DeleteCitation></PubmedArticleSet>")
    assert search(term=f"{pmids[1]}[uid]")["count"] == "0"


def test_an_older_version_does_not_displace_a_newer_unless_put(ncbi):
    pmid = ncbi.control.pmids()[0]
    xml = ncbi.control.record(pmid)
    older = xml.replace('<PMID Version="1">', '<PMID Version="0">', 1).replace(
        "<ArticleTitle>", "<ArticleTitle>Old ", 1
    )
    ncbi.control.add(f"<PubmedArticleSet>{older}</PubmedArticleSet>")
    assert ncbi.control.record(pmid) == xml
    ncbi.control.put(f"<PubmedArticleSet>{older}</PubmedArticleSet>")
    assert ncbi.control.record(pmid) == older


def test_copies_fill_the_days_in_turn(ncbi, search):
    made = ncbi.control.clone(31, ["2022/01/01", "2022/01/02"], first=80_000_000, revised="2022/01/05")
    assert made == list(range(80_000_000, 80_000_031))
    counts = [search(term=f"2022/01/0{day}[crdt]")["count"] for day in (1, 2)]
    assert counts == ["16", "15"]
    assert ncbi.control.pmids("mdat", "2022/01/05", "2022/01/05")


def test_a_reset_brings_back_the_files_and_forgets_the_rest(ncbi, search):
    before = ncbi.control.pmids()
    ncbi.control.withdraw(before[:100])
    ncbi.control.clone(3, "2022/01/01")
    ncbi.control.set_today("2000/01/01")
    ncbi.control.fault(status=500)
    ncbi.control.reset()
    assert ncbi.control.pmids() == before
    assert ncbi.control.faults_left() == []
    assert ncbi.control.requests() == []


def test_the_log_holds_parameters_times_and_statuses(ncbi, client):
    client.get("esearch.fcgi", params={"db": "pubmed", "term": "cancer", "tool": "bio-mcp"})
    client.post("efetch.fcgi", data={"id": "1,2"})
    first, second = ncbi.control.requests()
    assert [first["method"], first["endpoint"], first["params"]["tool"]] == ["GET", "esearch", "bio-mcp"]
    assert [second["method"], second["params"]["id"], second["status"]] == ["POST", "1,2", 200]
    assert first["time"] < second["time"]
    assert "httpx" in first["agent"]
    assert len(ncbi.control.requests("efetch")) == 1
    ncbi.control.clear_requests()
    assert ncbi.control.requests() == []


def test_a_path_that_ncbi_has_not_is_404(ncbi, client):
    assert client.get("enothing.fcgi").status_code == 404
    with pytest.raises(ValueError, match="is not YYYY/MM/DD"):
        ncbi.control.set_today("tomorrow")


def test_a_server_ends_when_its_test_run_is_killed():
    start = "from tests.eutils_server.client import running; import time\n"
    start += "with running() as ncbi:\n    print(ncbi.address, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", start], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as run:
        control = Control(run.stdout.readline().strip())
        assert control.pmids() == []
        run.kill()
    while still_there(control):
        time.sleep(0.01)


def still_there(control):
    try:
        control.pmids()
    except OSError:
        return False
    return True


def test_a_server_of_its_own_starts_with_a_day_and_ends_with_the_block():
    with running([SAMPLE], today="2021/06/06") as ncbi:
        assert ncbi.control.pmids("crdt", "2021/06/07", "3000/01/01") == []
        control = ncbi.control
    with pytest.raises(OSError, match="refused"):
        control.pmids()
