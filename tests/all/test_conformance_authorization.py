"""The official conformance suite against the authorization server of `bio-mcp serve`, in both protocol eras."""

import os
import re
import subprocess
import threading
from contextlib import closing

import httpx
import pytest

from tests.all.node import NODE, PROGRAMS
from tests.all.team import free_port, team
from tests.all.test_conformance import SUITE, VERSIONS
from tests.doors.auth.server.team import hidden

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
def test_the_suite_passes(team, version, tmp_path):
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
