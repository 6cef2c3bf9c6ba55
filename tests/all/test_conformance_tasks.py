"""The conformance suite's scenarios of tasks (SEP-2663), which it runs by name alone."""

from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from mangum import Mangum

from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from tests.all.conformance_tasks import TOOLS, job, served
from tests.all.node import run
from tests.all.test_conformance import SUITE
from tests.doors.conftest import NO_BACKENDS
from tests.doors.lambda_bridge import bridge
from tests.doors.serving import running

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
def tasks_url() -> Iterator[str]:
    app = mcp_http.serving(served(mcp_server.server(TOOLS, [job], mcp_server.in_process(NO_BACKENDS))))
    with bridge(lambda: Mangum(app, lifespan="off")) as bridged, running(bridged) as base:
        yield f"{base}/mcp"


def judged(url: str, scenario: str, home: Path) -> "CompletedProcess[str]":
    return run(SUITE, "server", "--url", url, "--scenario", scenario, "--timeout", "20000", home=home)


@pytest.mark.parametrize("scenario", PASSING)
def test_a_scenario_of_tasks_passes(tasks_url, scenario, tmp_path):
    done = judged(tasks_url, scenario, tmp_path)
    assert done.returncode == 0, done.stdout[-4_000:]
    assert " 0 failed" in done.stdout


@pytest.mark.parametrize("scenario", NOT_OFFERED)
def test_a_scenario_of_what_is_not_offered_fails_for_that_alone(tasks_url, scenario, tmp_path):
    done = judged(tasks_url, scenario, tmp_path)
    assert done.returncode != 0
    assert NOT_OFFERED[scenario] in done.stdout
