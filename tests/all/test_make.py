"""`make` commands of the README, as a reader would run them."""

import os
import re
import signal
import subprocess
import time

import httpx
import pytest

from scripts.docs import ROOT


@pytest.fixture
def served(tmp_path):
    """`make run` in a data directory of its own, on a free port; gives the URL that it prints."""
    given = {**os.environ, "BIO_MCP_HOME": str(tmp_path / "home"), "MCP_HTTP_PORT": "0", "PYTHONUNBUFFERED": "1"}
    with (tmp_path / "out").open("w+") as out:
        started = subprocess.Popen(["make", "run"], cwd=ROOT, env=given, stdout=out, start_new_session=True)
        try:
            while not (found := re.search(r"http://\S+/mcp", (tmp_path / "out").read_text())):
                assert started.poll() is None
                time.sleep(0.2)
            yield found.group()
        finally:
            os.killpg(started.pid, signal.SIGINT)
            started.wait(30)


@pytest.mark.timeout(300)
def test_make_run_serves_the_sample_and_the_searches_of_the_readme_find_what_they_ask_for(served):
    assert best(served, "does acupuncture help against migraine?") == "pmid:34093119"
    assert best(served, "vitamin D and COVID-19", year_from=2020) == "pmid:34097036"
    severe = best(served, "risk factors of severe COVID-19", publication_types=["meta-analysis"])
    assert severe == "pmid:33406518"


def best(url, query, **filters):
    """The best hit."""
    called = {"name": "rag_search", "arguments": {"query": query, "top_k": 1, "filters": filters}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    headers = {"accept": "application/json, text/event-stream"}
    answer = httpx.post(url, json=message, headers=headers, timeout=60).json()["result"]
    assert not answer["isError"]
    return answer["structuredContent"]["results"][0]["doc_id"]


def test_make_test_is_what_ci_runs():
    assert "\nmake test\n" in (ROOT / ".ci/run").read_text()
    subprocess.run(["make", "--dry-run", "test"], cwd=ROOT, check=True, capture_output=True)
