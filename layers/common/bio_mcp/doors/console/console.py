"""What a page is, and the console that answers with pages."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, TypeVar
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.responses import Response as Http

from bio_mcp import errors
from bio_mcp.call import Outcome
from bio_mcp.deadline import Deadline
from bio_mcp.doors.auth.tokens import caller_of
from bio_mcp.doors.console.rendering import PRIVATE, render
from bio_mcp.doors.mcp.server import Running
from bio_mcp.errors import Failure
from bio_mcp.jobs.runner import state_of
from bio_mcp.literature.clock import instant
from bio_mcp.ports.state import Job
from bio_mcp.tool import Context, Family, Resource, Response, Tool
from bio_mcp.untrusted import addressing_a_model

CONSOLE = Family("console", errors.BIO_MCP)
MOVING = {"running", "waiting"}  # states of which a page shows the progress

T = TypeVar("T")
Answer = Callable[[Request], Awaitable[Http]]


class Shown(Response, extra="allow"):
    """What a page shows, under the names that its template uses. No client sees it."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)


@dataclass(frozen=True, slots=True)
class Page:
    """A page at `path` that shows what `reads` gives, as `data` in the template `template`.

    `reads` is given the path's `{parameters}` and those of the query that `takes` names, as strings. `menu` is the
    page's name in the menu; "" leaves it out.
    """

    path: str
    template: str
    reads: Resource
    menu: str = ""
    takes: tuple[str, ...] = ()


class Reading:
    """Reads one part after the other; a part whose store fails is None, and the others are shown all the same."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def of(self, read: Callable[[], T]) -> T | None:
        """What `read` returns; None where it fails."""
        try:
            return read()
        except Failure as failure:
            self.problems = list(dict.fromkeys([*self.problems, str(failure)]))
            return None


def facts_of(job: Job, now: datetime) -> dict[str, Any]:
    """What pages show of a job of any kind."""
    state = state_of(job, now)
    return {
        "job_id": job.job_id,
        "state": state,
        "moving": state in MOVING,
        "started_at": instant(job.created),
        "updated_at": instant(job.updated),
        "error": job.progress.get("error"),
    }


STATUS = {
    "VALIDATION": HTTPStatus.BAD_REQUEST,
    "INVALID_ARG": HTTPStatus.BAD_REQUEST,
    "NOT_FOUND": HTTPStatus.NOT_FOUND,
    "INVALID_PROJECT": HTTPStatus.NOT_FOUND,
    "RATE_LIMIT": HTTPStatus.TOO_MANY_REQUESTS,
}  # by the code of a failure; any other is ours, and may pass


@dataclass(frozen=True)
class Console:
    """The console over `running`, which calls tools and resources. `menu` has the path and the name of its pages."""

    running: Running
    menu: tuple[tuple[str, str], ...]

    async def ask(self, what: Tool | Resource, arguments: Mapping[str, Any], request: Request) -> Outcome:
        """Call a tool, or read a resource, for whoever sent `request`."""
        context = Context(uuid4().hex, Deadline(what.timeout), caller=caller_of(request))
        return await self.running.within(what, arguments, context)

    def page(self, request: Request, template: str, status: int = HTTPStatus.OK, **values: Any) -> Http:
        """The page that `template` makes of `values`, in the console's layout."""
        shell: dict[str, Any] = {"menu": self.menu, "path": request.url.path, "caller": caller_of(request)}
        shell["addresses_a_model"] = bool(addressing_a_model(values.get("data")))
        return HTMLResponse(render(template, **shell, **values), status, PRIVATE)

    def failure(self, request: Request, outcome: Outcome) -> Http:
        """The page that tells why `outcome` failed, and what to do."""
        error = outcome.body["error"]
        return self.page(request, "failure.html", status_of(error), error=error)


def status_of(error: Mapping[str, Any]) -> HTTPStatus:
    """The status of a page that shows `error`, the envelope of a failure."""
    if "scope" in error["details"]:
        return HTTPStatus.FORBIDDEN
    return STATUS.get(error["code"], HTTPStatus.SERVICE_UNAVAILABLE)
