"""What commands show while they wait for NCBI, and for how long they do."""

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors import terminal
from bio_mcp.doors.cli import inspecting
from bio_mcp.doors.cli.session import Failed, Session, Waiting
from bio_mcp.errors import NcbiFailed
from bio_mcp.settings import Settings
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.fields import PUBMED

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
