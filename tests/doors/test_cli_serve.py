"""`bio-mcp serve`, `stdio` and `tools`: the console script in a process of its own, as people run it."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

import httpx
import pytest

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.cli.program import run
from bio_mcp.doors.cli.serving import command_on_socket, listing
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from bio_mcp.wiring.embedded import Embedded
from tests.doors.command_line import sample

PROGRAM = Path(sys.executable).with_name("bio-mcp")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A corpus with a few papers."""
    made = tmp_path_factory.mktemp("serve")
    with closing(Embedded(Settings(home=made))) as corpus:
        apply_records(islice(sample(), 8), corpus)
    return made


def given(home):
    return {"PATH": os.environ["PATH"], "BIO_MCP_HOME": str(home), "PYTHONUNBUFFERED": "1"}


@contextmanager
def serving(home):
    """`bio-mcp serve` on a free port: its URL, and the process."""
    command = [PROGRAM, "serve", "--port", "0", "--workers", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=given(home), text=True, **pipes) as started:
        try:
            yield re.search(r"http://\S+/mcp", started.stdout.readline()).group(), started
        finally:
            started.send_signal(signal.SIGTERM)
            assert "Fatal Python error" not in started.communicate(timeout=30)[1]
    assert started.returncode == 0


def asked(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def call(url, name, **arguments):
    headers = {"accept": "application/json, text/event-stream"}
    answer = httpx.post(url, json=asked("tools/call", name=name, arguments=arguments), headers=headers, timeout=60)
    return answer.json()["result"]["structuredContent"]


def test_it_serves_by_every_process_what_commands_store_and_stops_when_told(home):
    with serving(home) as (url, started):
        first = call(url, "rag_search", query="lung cancer")
        started.send_signal(signal.SIGSTOP)
        try:
            further = call(url, "rag_search", query="lung cancer")  # of the further process, as the first cannot
        finally:
            started.send_signal(signal.SIGCONT)
        assert first["results"]
        assert first == further
        given_here = ["admin", "checkpoint", "set", "mine", "2021-06-01"]
        assert run(given_here, configure=lambda: Settings(home=home)) == 0
        assert call(url, "corpus_checkpoint_get", query_key="mine")["last_edat"] == "2021-06-01T00:00:00Z"


def test_a_family_that_does_not_exist_ends_the_start(cli):
    for ran in (cli("serve", "--port", "0", "--tools", "sonnets"), cli("stdio", "--tools", "rag,sonnets")):
        assert ran.code == 1
        assert "there is no tool or family 'sonnets'" in ran.err
        assert "Traceback" not in ran.err


def test_the_option_of_serve_and_stdio_goes_before_the_setting_and_on_to_further_processes():
    settings = Settings(listed_tools=("all",))
    assert listing(settings, None) == settings
    assert listing(settings, "rag, getFullText").listed_tools == ("rag", "getFullText")
    further = command_on_socket("127.0.0.1", ("rag", "getFullText"), 7)
    assert further[-4:] == ["--tools", "rag,getFullText", "--along", "7"]


def test_the_list_of_tools_is_the_catalogue(cli):
    body = cli("admin", "tools", "--json").json
    assert [each["name"] for each in body["tools"]] == list(TOOLS)
    assert [each["uri"] for each in body["resources"]] == list(RESOURCES)


def test_one_interrupt_ends_stdio_while_its_input_is_open(home):
    ours, theirs = pty.openpty()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([PROGRAM, "stdio"], env=given(home), stdin=theirs, text=True, **pipes) as started:
        os.write(ours, json.dumps(asked("ping")).encode() + b"\n")
        assert json.loads(started.stdout.readline())["jsonrpc"] == "2.0"
        started.send_signal(signal.SIGINT)
        said = started.communicate(timeout=30)[1]
    assert started.returncode == 0
    assert "speaks MCP here with the program that starts it" in said
    os.close(ours)
    os.close(theirs)


def test_tools_are_shown_by_the_names_that_clients_see_on_any_terminal(cli, terminal):
    terminal(40)
    shown = cli("admin", "tools").shown.splitlines()
    assert {*RESOURCES, *(each.portable_name for each in TOOLS.values())} <= set(shown)
    assert max(map(len, shown)) <= 40
