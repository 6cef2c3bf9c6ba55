"""One run of the command line: its settings, its backends, and how it prints answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol

from bio_mcp import tenants
from bio_mcp.call import call
from bio_mcp.callers import Caller
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.waiting import Waiting
from bio_mcp.doors.cli.wording import for_commands
from bio_mcp.doors.model_building import build_if_missing
from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.ports import Backends
from bio_mcp.ports.authorizations import Authorizations
from bio_mcp.ports.loading import LoadFiles, LoadRuns
from bio_mcp.progress import Progress, silent
from bio_mcp.settings import Settings
from bio_mcp.tool import Tool
from bio_mcp.untrusted import addressing_a_model, note

Render = Callable[[Mapping[str, Any]], None]


class OpenBackends(Backends, Protocol):
    """Backends that this process opened and closes at its end."""

    @property
    def authorizations(self) -> Authorizations:
        """Who is signed in, and what clients were granted: for doors alone."""
        ...

    @property
    def load_files(self) -> LoadFiles:
        """The files of bulk loads. Raises `Misconfigured` where there are none."""
        ...

    @property
    def load_runs(self) -> LoadRuns:
        """The runs of bulk loads. Raises `Misconfigured` where there are none."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...

    prepare_model: Callable[[], None]
    """Called before the embedding model is first opened."""


MakeBackends = Callable[[Settings], OpenBackends]


class Failed(Exception):
    """A tool answered with an error envelope. `misused` says whether its arguments are at fault."""

    def __init__(self, body: Mapping[str, Any], *, misused: bool) -> None:
        super().__init__(body["error"]["message"])
        self.body, self.misused = dict(body), misused


def configured(settings: Settings) -> OpenBackends:
    """The backends of the configured mode: the data directory's, or a stack's on AWS."""
    from bio_mcp.wiring import MODES

    return MODES[settings.mode](settings)


@dataclass
class Session:
    """`as_json` makes stdout one JSON document and nothing else. `wire` makes the backends on first use. `interrupts`
    are those that came so far. `tenant` is whose projects are meant. `builds_model`: a missing embedding model is built
    when it is first used."""

    settings: Settings
    wire: MakeBackends = configured
    as_json: bool = False
    interrupts: Sequence[int] = ()
    code: int = field(default=0)
    tenant: str = ""
    builds_model: bool = True

    @cached_property
    def backends(self) -> OpenBackends:
        """The backends, made on first use."""
        opened = self.wire(self.settings)
        if self.builds_model:
            opened.prepare_model = partial(build_if_missing, self.settings)
        return opened

    @property
    def caller(self) -> Caller | None:
        """Whoever works for a tenant; None for the user of this machine."""
        return Caller("operator", tenant=self.tenant) if self.tenant else None

    @property
    def own(self) -> Backends:
        """The backends as the tenant sees them."""
        return tenants.view(self.backends, self.caller, local=True)

    def close(self) -> None:
        """Close the backends if they were made."""
        if "backends" in vars(self):
            self.backends.close()

    def ask(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        deadline: Deadline = NEVER,
        progress: Progress | None = None,
        worded: bool = True,
    ) -> dict[str, Any]:
        """Call `tool` and return the body of its answer, worded for the command line. Raises `Failed`.

        With `worded=False` it names tools and arguments as clients do, for `bio-mcp call`. A tool that asks NCBI and
        reports no progress has its own time-out, and a notice shows that it is waiting. An interrupt that did not end
        the tool, as a library swallowed it, ends it at its next progress or failure: KeyboardInterrupt is raised.
        """
        live = tool.open_world and progress is None
        waiting = Waiting(self.settings.ncbi_base_url)
        with waiting.shown(soon=live):
            deadline = Deadline(tool.timeout) if live and deadline is NEVER else deadline
            outcome = call(
                tool,
                arguments,
                self.backends,
                deadline=deadline,
                progress=self._interruptible(progress or silent),
                caller=self.caller,
                local=True,
            )
        body = for_commands(outcome.body) if worded else outcome.body
        if outcome.failed:
            self._check_interrupts()
            raise Failed(waiting.explained(body), misused=isinstance(outcome.failure, InvalidInput | Misconfigured))
        return body

    def _interruptible(self, progress: Progress) -> Progress:
        def report(done: int, total: int | None, note: str) -> None:
            self._check_interrupts()
            progress(done, total, note)

        return report

    def _check_interrupts(self) -> None:
        if self.interrupts:
            raise KeyboardInterrupt

    def ask_to_the_end(
        self, tool: Tool, arguments: Mapping[str, Any], make_progress: Callable[[], Progress]
    ) -> dict[str, Any]:
        """Ask as `ask` does, again while the job continues, and once more after the report of one that ended before."""
        body = self.ask(tool, arguments, progress=make_progress())
        while body["state"] == "continues" or "ended" in body:
            body = self.ask(tool, arguments, progress=make_progress())
        return body

    def answer(self, body: Mapping[str, Any], render: Render) -> None:
        """Print the answer: as JSON if requested, else by `render`."""
        if self.as_json:
            terminal.print_json(body)
        else:
            render(body)
        if places := addressing_a_model(body):
            terminal.warn(note(places))

    def ask_all(self, tool: Tool, arguments: Mapping[str, Any], field: str) -> dict[str, Any]:
        """Ask `tool` until its list `field` ends, and return its last answer with the whole list."""
        listed: list[Any] = []
        body: dict[str, Any] = {"next_cursor": None}
        while "next_cursor" in body:
            further = {"cursor": body["next_cursor"]} if body["next_cursor"] else {}
            body = self.ask(tool, {**arguments, **further})
            listed += body[field]
        return {**body, field: listed, **({"count": len(listed)} if "count" in body else {})}

    def answer_each(self, name: str, ids: Sequence[str], ask: Callable[[str], dict[str, Any]], render: Render) -> None:
        """Print what `ask` returns for each id. Of several, failed ones are reported and the others printed.

        As JSON, several are a list under `name`, with the error envelope of each failed one in its place.
        """
        if len(ids) == 1:
            self.answer(ask(ids[0]), render)
            return
        bodies = [self._ask_one(id_, ask) for id_ in ids]
        self.answer({name: bodies}, lambda _: self._render_each(bodies, render))

    def _ask_one(self, id_: str, ask: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        try:
            return ask(id_)
        except Failed as failed:
            self.code = 1
            return failed.body

    def _render_each(self, bodies: Sequence[dict[str, Any]], render: Render) -> None:
        succeeded = [each for each in bodies if "error" not in each]
        for position, body in enumerate(succeeded):
            if position:
                terminal.say("")
            render(body)
        for body in bodies:
            if "error" in body:
                terminal.fail(body["error"]["message"])
