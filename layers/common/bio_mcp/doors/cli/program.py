"""The program: finds the command, runs it, and turns every outcome into an exit code and at most one error message."""

import errno
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

import click

from bio_mcp import __version__
from bio_mcp.call import envelope
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import in_words_of_the_command
from bio_mcp.doors.cli.session import Failed, MakeBackends, Session, configured, warn_of_addressing
from bio_mcp.doors.logs import ReadableFormatter
from bio_mcp.errors import BIO_MCP, Failure, InvalidInput
from bio_mcp.settings import Settings
from bio_mcp.untrusted import sanitized

UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
FAILED, USAGE, INTERRUPTED = 1, 2, 130
LOG_BYTES = 1 << 20  # then the file is rotated; one earlier file is retained

Sections = Mapping[str, Mapping[str, tuple[str, str]]]
"""By title: the module of each command, and what a person gets from it."""

MENU: Sections = {
    "Ask": {
        "search": ("asking", "Papers of your corpus that fit a question, best evidence first."),
        "get": ("asking", "Papers of your corpus in full."),
        "answer": ("asking", "An answer in sentences quoted from papers, or why there is none."),
        "pubmed": ("pubmed", "PubMed itself, live: papers, citations, headings, ids, full text."),
        "kg": ("graph", "What herbs contain, act on and are used for, each with its source."),
    },
    "Collect": {
        "sync": ("collecting", "A corpus that follows a PubMed query."),
        "import": ("collecting", "A corpus from PubMed's own files, or from a bundled sample."),
        "news": ("asking", "What is new, changed or retracted among the papers of a followed query."),
    },
    "Your own papers": {
        "projects": ("library", "Libraries of your own documents: made, listed, searched, deleted."),
        "ingest": ("library", "Your PDFs, scans, pages and Zotero library in a project."),
    },
    "Write and review": {
        "check-refs": ("writing", "Which references of a manuscript are wrong, invented or retracted."),
        "review": ("reviewing", "A systematic review: collected, screened by one or more, resolved and reported."),
        "export": ("writing", "Papers as a file for Zotero, EndNote, ASReview or a spreadsheet."),
    },
    "Connect": {
        "mcp-config": ("connecting", "A client, such as Claude or Cursor, that knows this server."),
        "skill": ("connecting", "Procedures for the agent of your client."),
        "stdio": ("serving", "MCP for the program that starts this."),
        "token": ("access", "An access token for a program."),
    },
    "Run it": {
        "setup": ("connecting", "An embedding model that is ready before the first search."),
        "serve": ("serving", "MCP over HTTP, and a console in the browser."),
        "doctor": ("inspecting", "What is wrong with this installation and its corpus, and what helps."),
        "eval": ("measuring", "How good search and answers are, in figures."),
        "admin": ("program", "Indexes, models, people, followed queries, tools by name."),
    },
}
ADMIN: Sections = {
    "Corpus": {
        "queries": ("collecting", "The followed queries; remove one."),
        "checkpoint": ("collecting", "How far a query has been synced; move it."),
        "retractions": ("collecting", "Retractions flagged in the whole corpus, and in projects."),
        "withdrawals": ("collecting", "Papers deleted that PubMed has withdrawn."),
        "load": ("collecting", "All of PubMed in a stack on AWS."),
        "letters": ("letters", "Queued calls that were given up: why, and made again."),
    },
    "Index and models": {
        "reindex": ("measuring", "A search index made anew, also by another model, with a way back."),
        "models": ("measuring", "The embedding models of this machine, and how well they find papers."),
    },
    "People": {
        "invite": ("access", "A link that signs a person in."),
        "people": ("access", "Who was invited; end what is open in their name."),
        "client": ("access", "A program's id and secret, for sign-in by an identity provider."),
    },
    "Tools": {
        "tools": ("inspecting", "The tools and resources that clients see."),
        "call": ("inspecting", "Any tool's answer, by its name and with JSON."),
        "replay": ("inspecting", "Whether a recorded call answers the same today, and what moved."),
    },
}


class Menu(click.Group):
    """Commands in titled sections. A command is imported when it runs, not when it is listed."""

    def __init__(self, sections: Sections, **options: Any) -> None:
        super().__init__(**options)
        self.sections = sections
        self.modules = {name: module for each in sections.values() for name, (module, _) in each.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.modules:
            return None
        module = import_module(f"bio_mcp.doors.cli.{self.modules[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            if self is bio_mcp and error.command_name in admin_command.modules:
                raise click.UsageError(f"It is `bio-mcp admin {error.command_name}`.", ctx) from None
            raise click.NoSuchCommand(error.command_name, possibilities=self.modules, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, self.modules))
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in commands.items()])


bio_mcp = Menu(
    MENU,
    name="bio-mcp",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Biomedical literature for AI agents and researchers.

    Settings come from the environment (docs/settings.md). Every command that answers takes --json.
    """,
)
click.version_option(__version__, prog_name="bio-mcp", message="%(prog)s %(version)s")(bio_mcp)
admin_command = Menu(ADMIN, name="admin", help="Look after the corpus, its index, the people and the tools.")


def run(
    argv: Sequence[str], *, configure: Callable[[], Settings] = Settings.from_env, wire: MakeBackends = configured
) -> int:
    """Run one command line. Never raises, except for a bug in the command line itself."""
    _replace_closed_streams()
    try:
        code = _ran(argv, configure, wire)
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # as of a reader that has gone away
            if error.errno not in UNWRITABLE:
                raise
            why = "standard output is closed" if error.errno == errno.EBADF else error.strerror
            terminal.fail(f"The answer could not be written: {why}.")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try again at its end
        return FAILED
    return code


def _ran(argv: Sequence[str], configure: Callable[[], Settings], wire: MakeBackends) -> int:
    as_json = "--json" in argv
    pressed: list[int] = []
    try:
        settings = configure()
        _log_to_file(settings)
        with interrupts(pressed), closing(Session(settings, wire, as_json, pressed)) as session:
            bio_mcp.main(args=list(argv), prog_name="bio-mcp", obj=session, standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        code = _reported(error, as_json, interrupted=bool(pressed))
        if code is not None:
            return code
        raise
    return session.code


def _reported(error: BaseException, as_json: bool, *, interrupted: bool) -> int | None:
    """Report what ended a command. Returns its exit code, None for a bug and for an answer that cannot be written."""
    match error:
        case _ if interrupted or isinstance(error, KeyboardInterrupt | click.Abort):
            terminal.err().show("stopped")
            return INTERRUPTED
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return USAGE
        case click.UsageError():
            sentence, command = error.format_message(), error.ctx.command_path if error.ctx else "bio-mcp"
            body, code = envelope(InvalidInput(sentence), BIO_MCP), USAGE
            sentence += f" See `{command} --help`."
        case Failed():
            body, sentence, code = error.body, str(error), USAGE if error.misused else FAILED
        case Failure():
            body, code = envelope(error, BIO_MCP), FAILED
            sentence = in_words_of_the_command(body["error"], None)
        case _:
            return None
    body = sanitized(body)
    if as_json:
        terminal.print_json(body)
    else:
        terminal.fail(sentence)
    warn_of_addressing(body)
    return code


def _replace_closed_streams() -> None:
    """Replace each standard stream that the caller closed, so that writing to it is an error of that write alone."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            setattr(sys, name, os.fdopen(os.open(os.devnull, mode), "w", encoding="utf-8"))


@contextmanager
def interrupts(pressed: list[int]) -> Iterator[None]:
    """Add each Ctrl-C to `pressed`, and raise KeyboardInterrupt as without this: a library may swallow that, as one
    that is being loaded does, or SQLite where it calls a function of Python.

    Does nothing outside the main thread, and where the process has a handler of its own.
    """

    def note(number: int, _frame: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _LogFile(RotatingFileHandler):
    """Creates the data directory and the file only when there is something to log, accessible to this user alone."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_WRONLY, 0o600))
        return super()._open()


def _log_to_file(settings: Settings) -> None:
    """Log to the data directory, so that the terminal shows only the answer; if it is not writable, nothing is
    logged."""
    logging.raiseExceptions = False  # a full disk must not print the log's troubles into the answer
    path = settings.home.expanduser() / "bio-mcp.log"
    handler = _LogFile(path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(ReadableFormatter())
    root = logging.getLogger()
    for old in root.handlers:
        if isinstance(old, _LogFile):
            old.close()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("bio_mcp").setLevel(settings.log_level.upper())
