"""What commands show while they wait for NCBI, for how long they do, and what Ctrl-C makes of it."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors import terminal
from bio_mcp.doors.cli import inspecting
from bio_mcp.doors.cli.program import interrupts, run
from bio_mcp.doors.cli.session import Failed, Session, Waiting
from bio_mcp.errors import NcbiFailed, StoreFailed
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.fields import BIO_MCP, PUBMED

ADDRESS = "https://user:secret@eutils.example.org:8443/entrez/eutils/"


class Seconds(Response):
    left: float


def live(run, timeout=26):
    """A tool that asks NCBI as `run` does, which is given the call's context."""

    @tool("ask", family=PUBMED, scope="read", timeout=timeout, open_world=True)
    def ask(request: Request, backends: object, context: Context) -> Seconds:
        """Ask."""
        return Seconds(left=run(context))

    return ask


@pytest.fixture(autouse=True)
def interruptible():
    """SIGINT as a terminal's programs have it, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def session():
    return Session(Settings(ncbi_base_url=ADDRESS), wire=lambda _: object())


def test_a_command_that_asks_ncbi_has_the_time_that_its_help_promises(session):
    assert 0 < session.ask(live(lambda context: context.deadline.remaining), {})["left"] <= 26
    for name, each in TOOLS.items():
        assert not each.open_world or each.timeout <= 27, name
    assert inspecting.NCBI_S < 10


def test_a_command_that_sees_nothing_for_a_while_says_whom_it_waits_for(capsys):
    shown = []
    with Waiting(ADDRESS, silent_s=0).shown(soon=True):
        while not shown:
            shown = capsys.readouterr().err.splitlines()
    assert shown == ["waiting for NCBI at eutils.example.org:8443"]


def test_an_error_names_the_address_and_the_tries_and_nothing_else_of_the_url(session):
    def fail(_context):
        raise NcbiFailed("NCBI could not be reached; try again in a minute", tries=4)

    with pytest.raises(Failed) as failed:
        session.ask(live(fail), {})
    message = failed.value.body["error"]["message"]
    assert message == "NCBI could not be reached; try again in a minute (4 tries at eutils.example.org:8443)"


def test_a_bar_says_that_ncbi_is_waited_for(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with terminal.progress("syncing"):
        terminal.notice("waiting for NCBI at here, try 2 of 6")
    assert "waiting for NCBI at here, try 2 of 6" in capsys.readouterr().err
    monkeypatch.delenv("FORCE_COLOR")
    terminal.notice("waiting for NCBI at here, try 3 of 6")
    assert capsys.readouterr().err == "waiting for NCBI at here, try 3 of 6\n"


STARTING = """
import sys

class Interrupted:
    def find_spec(self, name, *_):
        if name == "bio_mcp.doors.cli.program":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from bio_mcp.doors.cli import main
sys.exit(main(["admin", "tools"]))
"""


def interrupted(error):
    """Ctrl-C in a library that raises its own error for it."""
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    raise error


class Broken:
    """Backends whose store of checkpoints fails to load."""

    def __init__(self, error):
        self.error = error

    @property
    def checkpoints(self):
        interrupted(self.error)

    def close(self):
        pass


def failing_in_a_tool(error):
    return lambda _settings: Broken(error)


def failing_while_wiring(error):
    return lambda _settings: interrupted(error)


@tool("test.count", family=BIO_MCP, scope="read", timeout=60, beyond="a test")
def counts(request: Request, backends: Backends, context: Context) -> Response:
    """Count to three, and meet an interrupt at the second, which SQLite swallows."""
    for number in range(1, 4):
        context.progress(number, 3, "counting")
        if number == 2:
            with closing(sqlite3.connect(":memory:")) as connection, suppress(sqlite3.OperationalError):
                connection.create_function("interrupted", 0, lambda: signal.raise_signal(signal.SIGINT))
                connection.execute("SELECT interrupted()")
    return Response()


@pytest.mark.parametrize("failing", [failing_in_a_tool, failing_while_wiring])
@pytest.mark.parametrize("error", [ImportError("numpy"), StoreFailed("The corpus cannot be read.")], ids=type)
def test_a_failure_after_an_interrupt_is_the_interrupt(capsys, tmp_path, failing, error):
    wire = failing(error)
    assert run(["admin", "checkpoint", "get", "x"], configure=lambda: Settings(home=tmp_path), wire=wire) == 130
    assert capsys.readouterr().err.strip() == "stopped"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_was_swallowed_ends_a_tool_at_its_next_progress():
    pressed, reported = [], []
    session = Session(Settings(), lambda _: object(), interrupts=pressed)
    with pytest.raises(KeyboardInterrupt), interrupts(pressed):
        session.ask(counts, {}, progress=lambda done, _total, _note: reported.append(done))
    assert reported == [1, 2]


def test_an_interrupt_while_the_program_is_loaded_shows_no_trace():
    ran = subprocess.run([sys.executable, "-c", STARTING], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "stopped\n")
