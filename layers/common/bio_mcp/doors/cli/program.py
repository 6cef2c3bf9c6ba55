"""The program: finds the command, runs it, and turns every outcome into an exit code and at most one error message."""

import errno
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from importlib import import_module
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any

import click

from bio_mcp import __version__
from bio_mcp.call import envelope
from bio_mcp.dialects import BIO_MCP
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.interrupts import interrupts
from bio_mcp.doors.cli.log import log_to_file
from bio_mcp.doors.cli.session import Failed, MakeBackends, Session, configured
from bio_mcp.errors import Failure, InvalidInput
from bio_mcp.settings import Settings

UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
FAILED, USAGE, INTERRUPTED = 1, 2, 130

COMMANDS = {
    "setup": ("setup", "Build the embedding model."),
    "mcp-config": ("mcp_config", "Tell a client of this server."),
    "serve": ("serving", "Serve MCP over HTTP on this machine."),
    "skill": ("skills", "Install the skills: procedures for the agent of your client."),
    "token": ("token", "Make an access token for a client."),
    "invite": ("people", "Make a link that signs a person in."),
    "people": ("people", "List who was invited; end what is open in their name."),
    "stdio": ("serving", "Serve MCP to the program that starts this."),
    "import": ("importing", "Import PubMed XML files."),
    "load": ("loading", "Load all of PubMed into a stack on AWS."),
    "sync": ("syncing", "Bring the corpus up to date with PubMed for a query."),
    "retractions": ("syncing", "Flag papers of the corpus that have since been retracted."),
    "withdrawals": ("syncing", "Delete papers of the corpus that PubMed has withdrawn."),
    "search": ("reading", "Search the corpus."),
    "get": ("reading", "Show papers of the corpus."),
    "answer": ("answering", "Answer a question by sentences of the corpus."),
    "news": ("news", "Show what became of the papers of a followed query."),
    "export": ("exporting", "Write papers to a file for a reference manager or a spreadsheet."),
    "pubmed": ("pubmed", "Search PubMed itself; show, relate and cite its records."),
    "check-refs": ("checking_references", "Check the references of a manuscript: wrong, invented, retracted."),
    "lookup": ("lookup", "Look up headings, ids, references, full text and books at NCBI."),
    "ingest": ("ingesting", "Read documents into a project."),
    "projects": ("projects", "Make, list, search and delete libraries of your own documents."),
    "locate": ("locating", "Find where a quoted sentence is from."),
    "kg": ("graph", "Import, show and walk the graph of herbs."),
    "parse": ("parsing", "Show how a file is read: its sections, headings and pages."),
    "eval": ("evaluating", "Measure how good search and answers are."),
    "queries": ("queries", "List the followed queries; stop or remove one."),
    "checkpoint": ("checkpoint", "Show or set how far a query has been synced."),
    "reindex": ("reindexing", "Rebuild the search index from the stored papers."),
    "models": ("models", "List, add and measure embedding models."),
    "cost": ("cost", "Estimate what a corpus costs on AWS."),
    "replay": ("replaying", "Repeat a recorded call, and say which of its inputs moved."),
    "doctor": ("doctor", "Check this installation and its corpus."),
    "tools": ("listing", "List the tools and resources that clients see."),
    "call": ("calling", "Call any tool by its name, with JSON."),
}


class Commands(click.Group):
    """Imports a command when it runs, not when it is listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """The commands in the order of the help page."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module of a command; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"bio_mcp.doors.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the help page's list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bio-mcp", message="%(prog)s %(version)s")
def bio_mcp() -> None:
    """Biomedical literature for AI agents and researchers.

    Settings come from the environment (docs/settings.md). Every command that answers takes --json.
    """


def run(
    argv: Sequence[str], *, configure: Callable[[], Settings] = Settings.from_env, wire: MakeBackends = configured
) -> int:
    """Run one command line. Never raises, except for a bug in the command line itself."""
    as_json = "--json" in argv
    closed = _replace_closed_streams()
    pressed: list[int] = []
    try:
        settings = configure()
        log_to_file(settings)
        with interrupts(pressed), closing(Session(settings, wire, as_json, pressed)) as session:
            bio_mcp.main(args=list(argv), prog_name="bio-mcp", obj=session, standalone_mode=False)
        sys.stdout.flush()
        _check_written(closed)
    except (KeyboardInterrupt, click.Abort):
        return _stopped()
    except Exception as error:
        code = _stopped() if pressed else _reported(error, as_json)
        if code is not None:
            return code
        raise
    return session.code


def _reported(error: Exception, as_json: bool) -> int | None:
    """Report what ended a command. Returns its exit code, None for a bug."""
    match error:
        case click.UsageError():
            return _misused(error, as_json)
        case Failed():
            _failed(error.body, as_json)
            return USAGE if error.misused else FAILED
        case Failure():
            return _failed(envelope(error, BIO_MCP), as_json)
        case click.ClickException():
            return _failed(envelope(InvalidInput(error.format_message()), BIO_MCP), as_json)
        case OSError():
            return _unwritten(error)
        case _:
            return None


def _stopped() -> int:
    terminal.err().show("stopped")
    return INTERRUPTED


class _Closed(FileIO):
    """The null device in place of a closed standard output; notes whether anything was to be written."""

    written = False

    def write(self, data: Any, /) -> int:
        self.written = True
        return super().write(data)


def _replace_closed_streams() -> _Closed | None:
    """Replace each standard stream that the caller closed; returns what stands for standard output."""
    closed = None
    if sys.stdout is None:
        closed = _Closed(os.devnull, "w")
        sys.stdout = TextIOWrapper(BufferedWriter(closed), encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  for as long as the process runs
    return closed


def _check_written(closed: _Closed | None) -> None:
    if closed and closed.written:
        raise OSError(errno.EBADF, "standard output is closed")


def _unwritten(error: OSError) -> int | None:
    """Report that the answer could not be written, unless the reader has gone away. Returns None for other errors."""
    if not isinstance(error, BrokenPipeError):
        if error.errno not in UNWRITABLE:
            return None
        terminal.fail(f"The answer could not be written: {error.strerror}.")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try again at its end
    return FAILED


def _misused(misuse: click.UsageError, as_json: bool) -> int:
    if isinstance(misuse, click.exceptions.NoArgsIsHelpError):
        misuse.show()
        return USAGE
    sentence = misuse.format_message()
    command = misuse.ctx.command_path if misuse.ctx else "bio-mcp"
    if as_json:
        terminal.print_json(envelope(InvalidInput(sentence), BIO_MCP))
    else:
        terminal.fail(f"{sentence} See `{command} --help`.")
    return USAGE


def _failed(body: dict[str, Any], as_json: bool) -> int:
    if as_json:
        terminal.print_json(body)
    else:
        terminal.fail(body["error"]["message"])
    return FAILED
