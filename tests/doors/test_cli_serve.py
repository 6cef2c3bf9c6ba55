"""`bio-mcp serve`, `stdio` and `tools`: the console script in a process of its own, as people run it."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from importlib.resources import files
from itertools import count
from pathlib import Path

import httpx
import pytest

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.cli.serving import command_on_socket, listing
from bio_mcp.settings import Settings

PROGRAM = Path(sys.executable).with_name("bio-mcp")
CALL_IDS = count(1)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A corpus with a few papers."""
    made = tmp_path_factory.mktemp("serve")
    sample = files("bio_mcp") / "samples/pubmed.xml.gz"
    few = made / "few.xml"
    subprocess.run(["bash", "-c", f"zcat {sample} | head -c 120000 > {few}"], check=True)
    ran = subprocess.run(
        [PROGRAM, "import", few, "--json"], env=given(made), capture_output=True, text=True, check=False
    )
    assert json.loads(ran.stdout)["documents"] > 5
    return made


def run(home, *argv, asking=None, **more):
    """One run of the console script to its end."""
    command, environment = [PROGRAM, *argv], given(home, **more)
    return subprocess.run(command, env=environment, input=asking, capture_output=True, text=True, check=False)


def given(home, **more):
    return {
        "PATH": os.environ["PATH"],
        "BIO_MCP_HOME": str(home),
        "PYTHONUNBUFFERED": "1",
        "MCP_HTTP_WORKERS": "1",
        **more,
    }


@contextmanager
def serving(home, *options):
    """`bio-mcp serve` on a free port: its URL, and the process."""
    command = [PROGRAM, "serve", "--port", "0", *options]
    with subprocess.Popen(
        command, env=given(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        try:
            output_text = started.stdout.readline()
            yield re.search(r"http://\S+/mcp", output_text).group(), started
        finally:
            started.send_signal(signal.SIGTERM)
            assert "Fatal Python error" not in started.communicate(timeout=30)[1]


@pytest.fixture(scope="module")
def url(home):
    """A server that more than one test asks."""
    with serving(home) as (url, _):
        yield url


def asked(method, **params):
    return {"jsonrpc": "2.0", "id": next(CALL_IDS), "method": method, "params": params}


def post(url, message):
    headers = {"accept": "application/json, text/event-stream"}
    return httpx.post(url, json=message, headers=headers, timeout=60).json()["result"]


def test_a_further_process_answers_while_the_first_cannot(home):
    with serving(home, "--workers", "2") as (url, started):
        started.send_signal(signal.SIGSTOP)
        try:
            found = post(url, asked("tools/call", name="rag_search", arguments={"query": "lung cancer"}))
        finally:
            started.send_signal(signal.SIGCONT)
        assert found["structuredContent"]["results"]
    assert started.returncode == 0


def test_it_serves_says_where_stops_when_told_and_a_restart_keeps_everything(home):
    answers = []
    for _ in range(2):
        with serving(home) as (url, started):
            call = asked("tools/call", name="rag_search", arguments={"query": "lung cancer"})
            answers.append(post(url, call)["structuredContent"])
        assert started.returncode == 0
    assert answers[0] == answers[1]
    assert answers[0]["results"]


def test_a_server_sees_what_a_command_changes(home, url):
    assert run(home, "admin", "checkpoint", "set", "mine", "2021-06-01").returncode == 0
    state = post(url, asked("tools/call", name="corpus_checkpoint_get", arguments={"query_key": "mine"}))
    assert state["structuredContent"]["last_edat"] == "2021-06-01T00:00:00Z"


def test_it_serves_this_machine_only_without_access_tokens(cli):
    ran = cli("serve", "--host", "0.0.0.0", "--port", "0")  # noqa: S104  it must be refused
    assert ran.code == 1
    assert ran.err.startswith("error: 0.0.0.0 is not a loopback address and there are no access tokens")
    assert "Set MCP_AUTH_SECRET_KEY" in ran.err


def test_a_family_that_does_not_exist_ends_the_start(cli):
    for ran in (cli("serve", "--port", "0", "--tools", "sonnets"), cli("stdio", "--tools", "rag,sonnets")):
        assert ran.code == 1
        assert "there is no tool or family 'sonnets'" in ran.err
        assert "Traceback" not in ran.err


def test_the_option_of_serve_and_stdio_goes_before_the_setting_and_on_to_further_processes():
    settings = Settings(listed_tools=("all",))
    assert listing(settings, None) == settings
    assert listing(settings, "rag, getFullText").listed_tools == ("rag", "getFullText")
    assert command_on_socket("127.0.0.1", ("rag", "getFullText"), 7)[-4:] == [
        "--tools",
        "rag,getFullText",
        "--along",
        "7",
    ]


def test_the_list_of_tools_is_the_catalogue(cli):
    body = cli("admin", "tools", "--json").json
    assert [each["name"] for each in body["tools"]] == list(TOOLS)
    assert [each["uri"] for each in body["resources"]] == list(RESOURCES)


@pytest.mark.parametrize("terminal", [False, True])
def test_one_interrupt_ends_stdio_while_its_input_is_open(home, terminal):
    ours, theirs = pty.openpty() if terminal else reversed(os.pipe())
    command = [PROGRAM, "stdio"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=given(home), stdin=theirs, text=True, **pipes) as started:
        os.write(ours, json.dumps(asked("ping")).encode() + b"\n")
        assert json.loads(started.stdout.readline())["jsonrpc"] == "2.0"
        started.send_signal(signal.SIGINT)
        output_text = started.communicate(timeout=30)[1]
    assert started.returncode == 0
    assert ("speaks MCP here with the program that starts it" in output_text) == terminal
    os.close(ours)
    os.close(theirs)


def test_tools_are_shown_by_the_names_that_clients_see_on_any_terminal(cli, terminal):
    terminal(40)
    shown = cli("admin", "tools").shown.splitlines()
    assert all(any(line.startswith(f"{each.portable_name} ") for line in shown) for each in TOOLS.values())
    assert all(uri in shown or any(line.startswith(f"{uri} ") for line in shown) for uri in RESOURCES)
    assert max(map(len, shown)) <= 40
