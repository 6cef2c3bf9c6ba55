"""`make` commands of the README, as a reader would run them."""

import os
import re
import signal
import subprocess
import time

import httpx
import pytest

from bio_mcp.doors.docs import ROOT


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
def test_make_run_serves_the_sample(served):
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    asked["params"] = {"name": "rag_search", "arguments": {"query": "acupuncture for migraine", "top_k": 1}}
    headers = {"accept": "application/json, text/event-stream"}
    answer = httpx.post(served, json=asked, headers=headers, timeout=60).json()["result"]
    assert not answer["isError"]
    assert "Migraine" in answer["structuredContent"]["results"][0]["title"]


def test_make_test_is_what_ci_runs():
    assert "\nmake test\n" in (ROOT / ".ci/run").read_text()
    subprocess.run(["make", "--dry-run", "test"], cwd=ROOT, check=True, capture_output=True)
