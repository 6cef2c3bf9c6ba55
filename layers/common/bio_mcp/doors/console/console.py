"""What a page is, and the console that answers with pages."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from starlette.datastructures import ImmutableMultiDict
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.responses import Response as Http
from starlette.types import Message

from bio_mcp import errors
from bio_mcp.call import Outcome
from bio_mcp.deadline import Deadline
from bio_mcp.doors.auth.tokens import caller_of
from bio_mcp.doors.console import plots
from bio_mcp.doors.console.rendering import PRIVATE, render
from bio_mcp.doors.running import Running
from bio_mcp.tool import MAX_TEXT, Context, Family, Resource, Response, Tool
from bio_mcp.untrusted import notes

CONSOLE = Family("console", errors.BIO_MCP)

Answer = Callable[[Request], Awaitable[Http]]
MAX_FORM = 16 * MAX_TEXT  # bytes: a character of a question may take four, each sent as three
MAX_FIELDS = 500
Form = ImmutableMultiDict[str, str | bytes]


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


STATUS = {
    "VALIDATION": HTTPStatus.BAD_REQUEST,
    "INVALID_ARG": HTTPStatus.BAD_REQUEST,
    "NOT_FOUND": HTTPStatus.NOT_FOUND,
    "INVALID_PROJECT": HTTPStatus.NOT_FOUND,
    "RATE_LIMIT": HTTPStatus.TOO_MANY_REQUESTS,
}  # by the code of a failure; any other is ours, and may pass


@dataclass(frozen=True)
class Console:
    """The console over `running`, which calls tools and resources.

    `menu` has the path and the name of the pages for everybody, `admin` those about the server.
    """

    running: Running
    menu: tuple[tuple[str, str], ...]
    admin: tuple[tuple[str, str], ...]

    async def ask(self, what: Tool | Resource, arguments: Mapping[str, Any], request: Request) -> Outcome:
        """Call a tool, or read a resource, for whoever sent `request`."""
        context = Context(uuid4().hex, Deadline(what.timeout), caller=caller_of(request))
        return await self.running.within(what, arguments, context)

    def page(self, request: Request, template: str, status: int = HTTPStatus.OK, **values: Any) -> Http:
        """The page that `template` makes of `values`, in the console's layout."""
        shell: dict[str, Any] = {"menu": self.menu, "admin": self.admin, "plots": plots}
        shell |= {"path": request.url.path, "caller": caller_of(request)}
        data = values.get("data") or {}
        shell["addresses_a_model"] = bool(said := notes(data))
        if said:  # by the layout, to people
            values["data"] = {**data, "warnings": [each for each in data["warnings"] if each not in said]}
        return HTMLResponse(render(template, **shell, **values), status, PRIVATE)

    async def form(self, request: Request, most: int = MAX_FORM) -> Form:
        """The fields of a form, a file as bytes; nothing of one that is longer than `most` bytes, or broken."""
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > most:
                return Form()

        async def read() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        limits = {"max_files": 1, "max_fields": MAX_FIELDS, "max_part_size": most}
        try:
            async with Request(request.scope, read).form(**limits) as form:
                fields = form.multi_items()
                return Form([(name, each if isinstance(each, str) else await each.read()) for name, each in fields])
        except HTTPException:  # it is no form, or has more fields
            return Form()

    def nothing_selected(self, request: Request) -> Http:
        """The page for a form in which no paper is ticked."""
        error = {"message": "No paper is selected. Go back, tick some, and press the button again.", "details": {}}
        return self.page(request, "failure.html", HTTPStatus.BAD_REQUEST, error=error)

    def failure(self, request: Request, outcome: Outcome) -> Http:
        """The page that tells why `outcome` failed, and what to do."""
        error = outcome.body["error"]
        return self.page(request, "failure.html", status_of(error), error=error)


def status_of(error: Mapping[str, Any]) -> HTTPStatus:
    """The status of a page that shows `error`, the envelope of a failure."""
    if "scope" in error["details"]:
        return HTTPStatus.FORBIDDEN
    return STATUS.get(error["code"], HTTPStatus.SERVICE_UNAVAILABLE)
