"""One run of the command line: its configuration, its ports, and how it answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from bio_mcp.call import call
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.doors import console
from bio_mcp.doors.cli.waiting import Waiting
from bio_mcp.doors.cli.wording import for_commands
from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.ports import Backends
from bio_mcp.progress import Progress
from bio_mcp.settings import Settings
from bio_mcp.tool import Tool

Render = Callable[[Mapping[str, Any]], None]


class OpenBackends(Backends, Protocol):
    """Ports that this process opened, and closes at its end."""

    def close(self) -> None: ...


MakeBackends = Callable[[Settings], OpenBackends]


class Failed(Exception):
    """A tool answered with an error envelope. `misused`: what it was asked is at fault."""

    def __init__(self, body: Mapping[str, Any], *, misused: bool) -> None:
        super().__init__(body["error"]["message"])
        self.body, self.misused = dict(body), misused


def configured(settings: Settings) -> OpenBackends:
    """The ports of the mode that is set: the data directory's, or a stack's on AWS."""
    from bio_mcp.wiring import MODES

    return MODES[settings.mode](settings)


@dataclass
class Session:
    """`as_json`: stdout gets one JSON document and nothing else. `wire` is asked for the ports on first use."""

    settings: Settings
    wire: MakeBackends = configured
    as_json: bool = False
    code: int = field(default=0)

    @cached_property
    def backends(self) -> OpenBackends:
        return self.wire(self.settings)

    def close(self) -> None:
        """Close what was opened."""
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
        """Call `tool` as every door does; the body of its answer, worded for the command line. Raises `Failed`.

        Not `worded`, it names tools and their arguments as they are called: by `bio-mcp call`.

        A tool that asks NCBI and tells no progress has its own time-out, and shows that it waits.
        """
        live = tool.open_world and progress is None
        waiting = Waiting(self.settings.ncbi_base_url)
        with waiting.shown(soon=live):
            deadline = Deadline(tool.timeout) if live and deadline is NEVER else deadline
            outcome = call(tool, arguments, self.backends, deadline=deadline, progress=progress)
        body = for_commands(outcome.body) if worded else outcome.body
        if outcome.failed:
            raise Failed(waiting.explained(body), misused=isinstance(outcome.failure, InvalidInput | Misconfigured))
        return body

    def answer(self, body: Mapping[str, Any], render: Render) -> None:
        """Print the answer: as JSON where that was asked for, else as `render` does."""
        if self.as_json:
            console.print_json(body)
        else:
            render(body)

    def answer_each(
        self, name: str, asked: Sequence[str], ask: Callable[[str], dict[str, Any]], render: Render
    ) -> None:
        """Print what `ask` gives for each; of several, those that fail are told and the others are printed.

        As JSON, several are a list under `name`, with the error envelope of each that failed in its place.
        """
        if len(asked) == 1:
            self.answer(ask(asked[0]), render)
            return
        bodies = [self._tried(each, ask) for each in asked]
        self.answer({name: bodies}, lambda _: self._render_each(bodies, render))

    def _tried(self, each: str, ask: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        try:
            return ask(each)
        except Failed as failed:
            self.code = 1
            return failed.body

    def _render_each(self, bodies: Sequence[dict[str, Any]], render: Render) -> None:
        whole = [each for each in bodies if "error" not in each]
        for place, body in enumerate(whole):
            if place:
                console.say("")
            render(body)
        for body in bodies:
            if "error" in body:
                console.fail(body["error"]["message"])
