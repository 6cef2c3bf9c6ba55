"""Calls tools for a page, and renders what they answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bio_mcp.call import Outcome
from bio_mcp.deadline import Deadline
from bio_mcp.doors.auth.permissions import caller_of
from bio_mcp.doors.console.headers import PRIVATE
from bio_mcp.doors.console.rendering import render
from bio_mcp.doors.mcp.server import Running
from bio_mcp.tool import Context, Resource, Tool
from bio_mcp.untrusted import addressing_a_model

Answer = Callable[[Request], Awaitable[Response]]

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

    def page(self, request: Request, template: str, status: int = HTTPStatus.OK, **values: Any) -> Response:
        """The page that `template` makes of `values`, in the console's layout."""
        shell: dict[str, Any] = {"menu": self.menu, "path": request.url.path, "caller": caller_of(request)}
        shell["addresses_a_model"] = bool(addressing_a_model(values.get("data")))
        return HTMLResponse(render(template, **shell, **values), status, PRIVATE)

    def failure(self, request: Request, outcome: Outcome) -> Response:
        """The page that tells why `outcome` failed, and what to do."""
        error = outcome.body["error"]
        return self.page(request, "failure.html", status_of(error), error=error)


def status_of(error: Mapping[str, Any]) -> HTTPStatus:
    """The status of a page that shows `error`, the envelope of a failure."""
    if "scope" in error["details"]:
        return HTTPStatus.FORBIDDEN
    return STATUS.get(error["code"], HTTPStatus.SERVICE_UNAVAILABLE)
