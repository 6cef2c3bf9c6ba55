"""One run of the command line: its settings, its backends, how it asks tools and prints their answers."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import click

from bio_mcp.call import call
from bio_mcp.callers import Caller
from bio_mcp.deadline import NEVER, Deadline, Progress, silent
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import in_words_of_the_command, warning_of_the_command
from bio_mcp.doors.cli.render import PLAIN, View, render
from bio_mcp.errors import InvalidInput, Misconfigured, NcbiUnreachable
from bio_mcp.ports import Backends, OpenBackends
from bio_mcp.settings import Settings
from bio_mcp.tenants import CallBackends
from bio_mcp.tool import Context, Request, Response, Tool, tool
from bio_mcp.tools.fields import BIO_MCP
from bio_mcp.untrusted import notes, sanitized

SILENT_S = 3.0  # without any output, before a notice of waiting is shown
WEEK_S = 7 * 24 * 3600
WITHOUT_NETWORK = (
    "Is this machine online? Without a network `bio-mcp search` finds what the corpus has, and `make demo-ncbi` in a "
    "clone of bio-mcp serves a PubMed of test records."
)

Show = View | str | Callable[[Mapping[str, Any]], View | None]
Work = Callable[[Backends, Context], Mapping[str, Any]]
MakeBackends = Callable[[Settings], OpenBackends]


def warn_of_addressing(body: Mapping[str, Any]) -> None:
    """Warn of text in the body of an answer or error that addresses a model."""
    for sentence in notes(body):
        terminal.warn(sentence)


class Failed(Exception):
    """A tool answered with an error envelope; the message names its fields as the command does. `misused` says whether
    its arguments are at fault."""

    def __init__(self, message: str, body: Mapping[str, Any], *, misused: bool) -> None:
        super().__init__(message)
        self.body, self.misused = dict(body), misused

    def show(self) -> None:
        """Say it on standard error."""
        terminal.fail(str(self))
        warn_of_addressing(self.body)


class _Anything(Response, extra="allow"):
    """What the function of a command returned."""


def configured(settings: Settings) -> OpenBackends:
    """The backends of the configured mode: the data directory's, or a stack's on AWS."""
    from bio_mcp.wiring import MODES

    return MODES[settings.mode](settings)


@dataclass
class Session:
    """`as_json` makes stdout one JSON document and nothing else. `wire` makes the backends on first use. `interrupts`
    are those that came so far. `tenant` is whose projects are meant."""

    settings: Settings
    wire: MakeBackends = configured
    as_json: bool = False
    interrupts: Sequence[int] = ()
    code: int = field(default=0)
    tenant: str = ""

    @cached_property
    def backends(self) -> OpenBackends:
        """The backends, made on first use."""
        return self.wire(self.settings)

    @property
    def caller(self) -> Caller | None:
        """Whoever works for a tenant; None for the user of this machine."""
        return Caller("operator", tenant=self.tenant) if self.tenant else None

    @property
    def own(self) -> Backends:
        """The backends as the tenant sees them."""
        return CallBackends(self.backends, self.caller, local=True)

    def close(self) -> None:
        """Close the backends if they were made."""
        if "backends" in vars(self):
            self.backends.close()

    def ask(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Call `tool` and return the body of its answer. Raises `Failed`.

        A tool that asks NCBI and reports no progress has its own time-out, and a notice shows that it is waiting. An
        interrupt that did not end the tool, as a library swallowed it, ends it at its next progress or failure:
        KeyboardInterrupt is raised.
        """
        live = tool.open_world and progress is None
        waiting = Waiting(self.settings.ncbi_base_url)

        def report(done: int, total: int | None, note: str) -> None:
            if self.interrupts:
                raise KeyboardInterrupt
            (progress or silent)(done, total, note)

        with waiting.shown(soon=live):
            deadline = Deadline(tool.timeout) if live else NEVER
            backends, caller = self.backends, self.caller
            outcome = call(tool, arguments, backends, deadline=deadline, progress=report, caller=caller, local=True)
        if outcome.failed:
            if self.interrupts:
                raise KeyboardInterrupt
            body = waiting.explained(outcome.body, isinstance(outcome.failure, NcbiUnreachable))
            sentence = in_words_of_the_command(body["error"], click.get_current_context(silent=True))
            raise Failed(sentence, body, misused=isinstance(outcome.failure, InvalidInput | Misconfigured))
        return outcome.body if self.as_json else self._worded(outcome.body)

    def _worded(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer with its warnings and reasons in words of the command."""
        context = click.get_current_context(silent=True)
        said = {name: body[name] for name in ("warnings", "reasons") if body.get(name)}
        return body | {name: [warning_of_the_command(each, context) for each in said[name]] for name in said}

    def do(self, name: str, work: Work, progress: Progress | None = None) -> dict[str, Any]:
        """Do what no tool does, with the errors, log and interrupts of a tool's call. Raises `Failed`."""

        @tool(name, family=BIO_MCP, scope="admin", timeout=WEEK_S, read_only=False)
        def doing(request: Request, backends: Backends, context: Context) -> _Anything:  # noqa: ARG001  a tool's form
            return _Anything(**work(backends, context))

        return self.ask(doing, {}, progress)

    def ask_to_the_end(
        self, tool: Tool, arguments: Mapping[str, Any], doing: str, unit: str = "", *, of: bool = False
    ) -> dict[str, Any]:
        """Ask under a progress bar, again while the job continues, and once more after the report of one that ended
        before."""
        with terminal.progress(doing) as update:
            body: dict[str, Any] = {"state": "continues"}
            while body["state"] == "continues" or "ended" in body:
                body = self.ask(tool, arguments, counted(update, unit, of=of))
        return body

    def ask_all(self, tool: Tool, arguments: Mapping[str, Any], field: str) -> dict[str, Any]:
        """Ask `tool` until its list `field` ends, and return its last answer with the whole list."""
        listed: list[Any] = []
        body: dict[str, Any] = {"next_cursor": None}
        while "next_cursor" in body:
            further = {"cursor": body["next_cursor"]} if body["next_cursor"] else {}
            body = self.ask(tool, {**arguments, **further})
            listed += body[field]
        return {**body, field: listed, **({"count": len(listed)} if "count" in body else {})}

    def agrees(self, question: str) -> bool:
        """Whether the person at the terminal says yes; no where there is none."""
        at_terminal = not self.as_json and sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
        return at_terminal and click.confirm(terminal.without_controls(question), err=True)

    def answer(self, body: Mapping[str, Any], show: Show = PLAIN, query: str = "") -> None:
        """Print the answer: as JSON if requested, else as a sentence or a view says it, or a function, which prints it
        or returns a view. Words of `query` are marked. Its warnings are said, as JSON those of text that addresses a
        model."""
        body = sanitized(dict(body))
        if self.as_json:
            terminal.print_json(body)
            warn_of_addressing(body)
        elif isinstance(how := show(body) if callable(show) else show, View):
            render(body, how, query)
        else:
            if how:
                terminal.show(how)
            for sentence in body.get("warnings", ()):
                terminal.warn(sentence)

    def answer_each(self, name: str, ids: Sequence[str], ask: Callable[[str], dict[str, Any]], show: Show) -> None:
        """Print what `ask` returns for each id. Of several, failed ones are reported and the others printed.

        As JSON, several are a list under `name`, with the error envelope of each failed one in its place.
        """
        if len(ids) == 1:
            self.answer(ask(ids[0]), show)
            return
        bodies: list[dict[str, Any]] = []
        failures: list[Failed] = []
        for given in ids:
            try:
                bodies.append(ask(given))
            except Failed as failed:
                self.code = 1
                bodies.append(failed.body)
                failures.append(failed)
        if self.as_json:
            self.answer({name: bodies})
            return
        for position, body in enumerate(found for found in bodies if "error" not in found):
            if position:
                terminal.show("")
            self.answer(body, show)
        for each in failures:
            each.show()


@contextmanager
def refused(what: str) -> Iterator[None]:
    """Report an error of the block with a file as a failure: "The file cannot be written: no space left on device"."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{what}: {(error.strerror or 'no reason given').lower()}.") from None


def counted(update: Progress, unit: str, *, of: bool = False) -> Progress:
    """Progress that says `120/300 records, 9/s`; without a unit, what the work itself says."""
    rate = terminal.rate()

    def progress(done: int, total: int | None, note: str) -> None:
        shown = f"{done:,}/{total:,}" if total and of else f"{done:,}"
        update(done, total or None, f"{shown} {unit}, {rate(done):,.0f}/s" if unit else note)

    return progress


class Waiting(logging.Handler):
    """The waiting of one call for NCBI, at the host of `url`; shows what the client of NCBI logs meanwhile."""

    def __init__(self, url: str, silent_s: float = SILENT_S) -> None:
        super().__init__()
        self._address = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        self._first = threading.Timer(silent_s, terminal.notice, [f"waiting for NCBI at {self._address}"])
        self._first.daemon = True

    def emit(self, record: logging.LogRecord) -> None:
        self._first.cancel()
        self._address = getattr(record, "address", self._address)
        terminal.notice(record.getMessage())

    @contextmanager
    def shown(self, *, soon: bool) -> Iterator[None]:
        """Show it while the block runs; with `soon`, also before the first try has failed."""
        log = logging.getLogger("bio_mcp.ncbi")
        level = log.level
        log.addHandler(self)
        log.setLevel(logging.INFO)
        if soon:
            self._first.start()
        try:
            yield
        finally:
            self._first.cancel()
            log.removeHandler(self)
            log.setLevel(level)

    def explained(self, body: dict[str, Any], away: bool) -> dict[str, Any]:
        """The error envelope; after failed tries at NCBI its message has their number and the address, or, where NCBI
        is `away`, what works without it."""
        error: Mapping[str, Any] = body["error"]
        if away:
            message = f"PubMed cannot be reached at {self._address}. {WITHOUT_NETWORK}"
            return {**body, "error": {**error, "message": message}}
        if not (tries := error["details"].get("tries")):
            return body
        times = f"{tries} tries" if tries > 1 else "one try"
        message = f"{error['message'].rstrip('.')} ({times} at {self._address})"
        return {**body, "error": {**error, "message": message}}
