"""The official conformance suite in both protocol eras: the Lambda handler, tasks, and the authorization server."""

import os
import re
import shutil
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from mangum import Mangum

from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import in_process
from tests.all.conformance_tasks import TOOLS, job, served
from tests.all.node import NODE, PROGRAMS, run
from tests.all.team import free_port, team
from tests.doors.auth.server.team import hidden
from tests.doors.conftest import NO_BACKENDS
from tests.doors.lambda_bridge import bridge
from tests.doors.serving import running

HERE = Path(__file__).parent
SUITE = "@modelcontextprotocol/conformance/dist/index.js"
VERSIONS = ["2026-07-28", "2025-11-25"]
with_fixtures = pytest.mark.parametrize("url", [True], indirect=True, ids=["with-fixtures"])


def judged(url, version, expected, home):
    options = ["--suite", "all", "--spec-version", version, "--timeout", "20000", "--expected-failures", str(expected)]
    return run(SUITE, "server", "--url", url, *options, home=home)


@with_fixtures
@pytest.mark.parametrize("version", VERSIONS)
def test_the_suite_passes_but_for_what_is_not_offered(url, version, tmp_path):
    done = judged(url, version, HERE / f"expected.{version}.yml", tmp_path)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]


@with_fixtures
@pytest.mark.parametrize("version", VERSIONS)
def test_a_failure_that_is_not_expected_fails_the_run(url, version, tmp_path):
    lines = (HERE / f"expected.{version}.yml").read_text().splitlines(keepends=True)
    expected = tmp_path / "one-missing.yml"
    expected.write_text("".join(line for line in lines if line != lines[-1]))
    assert judged(url, version, expected, tmp_path).returncode != 0


@with_fixtures
@pytest.mark.parametrize("version", VERSIONS)
def test_an_expected_failure_that_passes_fails_the_run(url, version, tmp_path):
    expected = tmp_path / "one-stale.yml"
    shutil.copy(HERE / f"expected.{version}.yml", expected)
    expected.write_text(expected.read_text() + "  - tools-list\n")
    assert judged(url, version, expected, tmp_path).returncode != 0


@with_fixtures
@pytest.mark.parametrize("scenario", ["enumeration", "manifest"])
def test_the_skills_extension_passes(url, scenario, tmp_path):
    options = ["--scenario", f"sep-2640-skills-{scenario}", "--spec-version", VERSIONS[0], "--force"]
    done = run(SUITE, "server", "--url", url, *options, home=tmp_path)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert "0 failed" in done.stdout
    assert "SKIPPED" not in done.stdout


PASSING = [
    "tasks-capability-negotiation",
    "tasks-dispatch-and-envelope",
    "tasks-lifecycle",
    "tasks-request-headers",
    "tasks-request-state-removal",
    "tasks-wire-fields",
]
NOT_OFFERED = {  # what fails, since no tool needs a task or asks its caller back
    "tasks-mrtr-composition": "test_tool_with_task",
    "tasks-mrtr-input": "confirm_delete",
    "tasks-required-task-error": "TaskSupport=required",
}


@pytest.fixture(scope="module")
def tasks_url():
    app = mcp_http.serving(served(mcp_server.server(TOOLS, [job], in_process(NO_BACKENDS))))
    with bridge(lambda: Mangum(app, lifespan="off")) as bridged, running(bridged) as base:
        yield f"{base}/mcp"


def tried(url, scenario, home):
    return run(SUITE, "server", "--url", url, "--scenario", scenario, "--timeout", "20000", home=home)


@pytest.mark.parametrize("scenario", PASSING)
def test_a_scenario_of_tasks_passes(tasks_url, scenario, tmp_path):
    done = tried(tasks_url, scenario, tmp_path)
    assert done.returncode == 0, done.stdout[-4_000:]
    assert " 0 failed" in done.stdout


@pytest.mark.parametrize("scenario", NOT_OFFERED)
def test_a_scenario_of_what_is_not_offered_fails_for_that_alone(tasks_url, scenario, tmp_path):
    done = tried(tasks_url, scenario, tmp_path)
    assert done.returncode != 0
    assert NOT_OFFERED[scenario] in done.stdout


__all__ = ["team"]  # a fixture


def registered(team, port):
    """The id of a client that registered itself."""
    metadata = {"redirect_uris": [f"http://127.0.0.1:{port}/callback"], "token_endpoint_auth_method": "none"}
    return httpx.post(f"{team.base}/register", json=metadata).json()["client_id"]


def judging(team, client_id, port, version, home):
    """The suite as a process: what it prints comes line by line."""
    options = ["--url", team.base, "--client-id", client_id, "--port", str(port), "--spec-version", version]
    command = [NODE, PROGRAMS / SUITE, "authorization", *options, "--resource", f"{team.base}/mcp"]
    env = {"PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(home), "NO_COLOR": "1"}
    return subprocess.Popen(command, env=env, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def allow(team, address):
    """What a person does whom the suite sends to `address`."""
    with closing(team.signed_in()) as person:
        page = person.get(address)
        decided = {**hidden(page), "decision": "allow", "scope": ["read"]}
        assert person.post("/consent", data=decided).is_success


@pytest.mark.parametrize("version", VERSIONS)
def test_the_suite_passes_against_the_authorization_server(team, version, tmp_path):
    port = free_port()
    with judging(team, registered(team, port), port, version, tmp_path) as suite:
        overdue = threading.Timer(60, suite.kill)
        overdue.start()
        printed = []
        for line in suite.stdout:
            printed.append(line)
            if found := re.match(rf"({re.escape(team.base)}/authorize\?\S+)", line):
                allow(team, found[1])
        overdue.cancel()
    said = "".join(printed)
    assert (suite.returncode, "authorization-code-grant" in said, "FAILURE" in said) == (0, True, False), said
