"""One run of the command line: its configuration, its ports, and how it answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from bio_mcp.call import Progress, call
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.doors import console
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings
from bio_mcp.tool import Tool

Render = Callable[[Mapping[str, Any]], None]


class OpenBackends(Backends, Protocol):
    """Ports that this process opened, and closes at its end."""

    def close(self) -> None: ...


Wire = Callable[[Settings], OpenBackends]


class Failed(Exception):
    """A tool answered with an error envelope."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(body["error"]["message"])
        self.body = dict(body)


def configured(settings: Settings) -> OpenBackends:
    """The ports of the mode that is set: the data directory's, or a stack's on AWS."""
    from bio_mcp.wiring import MODES

    return MODES[settings.mode](settings)


@dataclass
class Session:
    """`as_json`: stdout gets one JSON document and nothing else. `wire` is asked for the ports on first use."""

    settings: Settings
    wire: Wire = configured
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
    ) -> dict[str, Any]:
        """Call `tool` as every door does; the body of its answer. Raises `Failed`."""
        outcome = call(tool, arguments, self.backends, deadline=deadline, progress=progress)
        if outcome.failed:
            raise Failed(outcome.body)
        return outcome.body

    def answer(self, body: Mapping[str, Any], render: Render) -> None:
        """Print the answer: as JSON where that was asked for, else as `render` does."""
        if self.as_json:
            console.print_json(body)
        else:
            render(body)
