"""What a page is, and the console that answers with pages."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from math import inf
from typing import Any
from uuid import uuid4

from starlette.datastructures import ImmutableMultiDict
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response as Http
from starlette.types import Message

from bio_mcp import errors
from bio_mcp.call import Outcome
from bio_mcp.callers import Caller, may
from bio_mcp.deadline import Deadline
from bio_mcp.doors.auth.tokens import caller_of
from bio_mcp.doors.console import plots
from bio_mcp.doors.console.rendering import ADMIN, MENU, PRIVATE, render
from bio_mcp.doors.running import Running
from bio_mcp.tool import MAX_ITEMS, MAX_TEXT, Context, Family, Resource, Response, Tool
from bio_mcp.untrusted import notes

CONSOLE = Family("console", errors.BIO_MCP)

Answer = Callable[[Request], Awaitable[Http]]
MAX_FORM = 16 * MAX_TEXT  # bytes: a character of a question may take four, each sent as three
MAX_FIELDS = MAX_ITEMS + 20  # as many papers as a call takes, and what else a form has


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file of a form: what its sender calls it, and its bytes."""

    name: str
    content: bytes


class Form(ImmutableMultiDict[str, str]):
    """The fields of a form by their names, and the files that were chosen in it."""

    files: tuple[SentFile, ...] = ()

    def text(self, name: str) -> str:
        """The field without the blanks around it; "" where there is none."""
        return self.get(name, "").strip()


class Shown(Response, extra="allow"):
    """What a page shows, under the names that its template uses. No client sees it."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)


@dataclass(frozen=True, slots=True)
class Page:
    """A page at `path` that shows what `reads` gives, as `data` in the template `template`.

    `reads` is given the path's `{parameters}` and those of the query that `takes` names, as strings.
    """

    path: str
    template: str
    reads: Resource
    takes: tuple[str, ...] = ()


STATUS = {
    "VALIDATION": HTTPStatus.BAD_REQUEST,
    "INVALID_ARG": HTTPStatus.BAD_REQUEST,
    "NOT_FOUND": HTTPStatus.NOT_FOUND,
    "INVALID_PROJECT": HTTPStatus.NOT_FOUND,
    "RATE_LIMIT": HTTPStatus.TOO_MANY_REQUESTS,
}  # by the code of a failure; any other is ours, and may pass


async def body_of(request: Request, most: int) -> bytes | None:
    """The body of a request; None where it is longer than `most` bytes."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            return None
    return bytes(body)


PLOTS = {
    "by_day": plots.by_day,
    "by_year": plots.by_year,
    "by_latency": plots.by_latency,
    "course": plots.course,
}
LARGEST_REQUEST = 64 << 20  # bytes of a form with files


@dataclass(frozen=True)
class Console:
    """The console over `running`, which calls tools and resources.

    A request has `largest` bytes at most.
    """

    running: Running
    largest: int = LARGEST_REQUEST

    async def ask(
        self,
        what: Tool | Resource,
        arguments: Mapping[str, Any],
        request: Request,
        *,
        seconds: float = inf,
        caller: Caller | None = None,
    ) -> Outcome:
        """Call a tool, or read a resource, for whoever sent `request`, or for `caller`; it has its time-out, or
        `seconds` if those are fewer."""
        deadline = Deadline(min(what.timeout, seconds))
        context = Context(uuid4().hex, deadline, caller=caller or caller_of(request))
        return await self.running.within(what, arguments, context)

    def page(self, request: Request, template: str, status: int = HTTPStatus.OK, **values: Any) -> Http:
        """The page that `template` makes of `values`, in the console's layout; with an `error` it has its status
        unless another is given."""
        caller = caller_of(request)
        shell: dict[str, Any] = {"menu": MENU, "admin": ADMIN, "path": request.url.path, "caller": caller}
        shell |= {"may": partial(may, caller), "plots": PLOTS}
        if status == HTTPStatus.OK and (error := values.get("error")):
            status = status_of(error)
        data = values.get("data") or {}
        shell["addresses_a_model"] = bool(said := notes(data))
        if said:  # by the layout, to people
            values["data"] = {**data, "warnings": [each for each in data["warnings"] if each not in said]}
        return HTMLResponse(render(template, **shell, **values), status, PRIVATE)

    async def form(self, request: Request, most: int = MAX_FORM, most_files: int = 1) -> Form:
        """The fields of a form, and its files; nothing of one that is longer than `most` bytes, or broken."""
        if (body := await body_of(request, most)) is None:
            return Form()

        async def read() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        limits = {"max_files": most_files, "max_fields": MAX_FIELDS, "max_part_size": most}
        fields, files = [], []
        try:
            async with Request(request.scope, read).form(**limits) as sent:
                for name, each in sent.multi_items():
                    if isinstance(each, str):
                        fields.append((name, each))
                    elif each.filename:  # or none was chosen
                        files.append(SentFile(each.filename, await each.read()))
        except HTTPException:  # it is no form, or has more fields
            return Form()
        form = Form(fields)
        form.files = tuple(files)
        return form

    def nothing_selected(self, request: Request) -> Http:
        """The page for a form in which no paper is ticked."""
        return self.refused(request, "No paper is selected. Go back, tick some, and press the button again.")

    def refused(self, request: Request, message: str) -> Http:
        """The page for a form that lacks something."""
        return self.page(request, "failure.html", error=form_error(message))

    def failure(self, request: Request, outcome: Outcome) -> Http:
        """The page that tells why `outcome` failed, and what to do."""
        return self.page(request, "failure.html", error=outcome.body["error"])


def see_other(address: str) -> Http:
    """The answer to a form that leads to a page."""
    return RedirectResponse(address, HTTPStatus.SEE_OTHER, PRIVATE)


def form_error(message: str) -> dict[str, Any]:
    """The envelope of a failure for a form that lacks something."""
    return {"code": "INVALID_ARG", "message": message, "details": {}}


def status_of(error: Mapping[str, Any]) -> HTTPStatus:
    """The status of a page that shows `error`, the envelope of a failure."""
    if "scope" in error["details"]:
        return HTTPStatus.FORBIDDEN
    return STATUS.get(error["code"], HTTPStatus.SERVICE_UNAVAILABLE)
