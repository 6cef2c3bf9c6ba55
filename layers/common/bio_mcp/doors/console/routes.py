"""The routes of the console, and the page that says how to connect a client to this server."""

import base64
import json
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from urllib.parse import quote

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from bio_mcp.doors.auth.sessions import OwnForms
from bio_mcp.doors.console import feed, library, references, rendering, reviews, search, topics
from bio_mcp.doors.console.console import LARGEST_REQUEST, Answer, Console, Page
from bio_mcp.doors.console.graph import graph_page
from bio_mcp.doors.console.pages import PAGES, report
from bio_mcp.doors.running import Invoke, Running
from bio_mcp.doors.web import endpoint_of

NAME = "bio-mcp"
ADMIN, CONNECT, PEOPLE, GRAPH = "/admin/", "/admin/connect", "/admin/people", "/graph"


async def page(console: Console, resource: str, request: Request) -> Response:
    """The page with the endpoint's address, and what to do with it in each client."""
    endpoint = endpoint_of(request, resource)
    by_http = {"type": "http", "url": endpoint}
    code = quote(json.dumps({"name": NAME, **by_http}), safe="")
    cursor = quote(base64.b64encode(json.dumps({"url": endpoint}).encode()).decode(), safe="")
    clients = {  # a command, a configuration, or the address of a button that installs it
        "claude_code": f"claude mcp add --transport http {NAME} {endpoint}",
        "codex": f"codex mcp add {NAME} --url {endpoint}",
        "gemini": f"gemini mcp add --transport http {NAME} {endpoint}",
        "vscode": f"vscode:mcp/install?{code}",
        "vscode_file": json.dumps({"servers": {NAME: by_http}}, indent=2),
        "cursor": f"cursor://anysphere.cursor-deeplink/mcp/install?name={NAME}&config={cursor}",
    }
    return console.page(request, "connect.html", endpoint=endpoint, clients=clients)


Guard = Callable[[ASGIApp], ASGIApp]


def routes(invoke: Invoke, guard: Guard, *, resource: str = "", largest: int = LARGEST_REQUEST) -> list[BaseRoute]:
    """The pages, each behind `guard`, which puts the caller into the request; and, behind none, their files.

    `resource` is the endpoint's public URL, if it has one, `largest` what a request may have in bytes. The last route
    answers every other path with 404, behind no guard: clients look for metadata at well-known paths, and a way to sign
    in would be none. So these routes come after any others.
    """
    console = Console(Running(invoke), largest)
    answers: list[tuple[str, str, Answer]] = [
        ("/", "GET", partial(search.results, console)),
        ("/answers", "POST", partial(search.answer, console)),
        ("/answers/{answer_id}", "GET", partial(search.answered, console)),
        ("/cite", "GET", partial(search.cited, console)),
        ("/exports", "POST", partial(search.export, console)),
        ("/exports/{id}", "GET", partial(search.download, console)),
        (references.PATH, "GET", partial(references.empty, console)),
        (references.PATH, "POST", partial(references.check, console)),
        (f"{references.PATH}/{{job_id}}", "GET", partial(references.progress, console)),
        *reviews.routes(console),
        (GRAPH, "GET", partial(_graph, console)),
        *topics.routes(console, resource),
        *library.routes(console),
        *((each.path, "GET", partial(_shown, console, each)) for each in PAGES),
        (f"{ADMIN}evaluation/reports/{{name}}", "GET", partial(report, console)),
        (CONNECT, "GET", partial(page, console, resource)),
        (PEOPLE, "GET", partial(_fixed, console, "nobody.html")),  # without sign-in; else `people.routes` has it
        (ADMIN.rstrip("/"), "GET", partial(_fixed, console, "admin.html")),
    ]
    behind = [Middleware(guard)]
    read = Route(
        feed.PATH,
        partial(feed.feed, console, resource),
        methods=["GET"],
        middleware=[Middleware(feed.ByPassword), *behind],
    )
    own = [Middleware(OwnForms), *behind]
    guarded = [Route(path, each, methods=[method], middleware=own) for path, method, each in answers]
    missing = partial(_fixed, console, "missing.html", status=HTTPStatus.NOT_FOUND)
    files = Route("/static/{name}", rendering.serve, methods=["GET"])
    return [files, *guarded, read, Route("/{path:path}", missing, methods=["GET"])]


async def _shown(console: Console, page: Page, request: Request) -> Response:
    query = request.query_params
    given = {**request.path_params, **{name: query[name] for name in page.takes if query.get(name)}}
    outcome = await console.ask(page.reads, given, request)
    if outcome.failed:
        return console.failure(request, outcome)
    return console.page(request, page.template, data=outcome.body)


async def _graph(console: Console, request: Request) -> Response:
    asked = request.query_params.get("q", "").strip()
    if not asked:
        return console.page(request, "graph.html", asked="", error=None, data={})
    outcome = await console.ask(graph_page, {"name": asked}, request)
    error = outcome.body["error"] if outcome.failed else None
    return console.page(request, "graph.html", asked=asked, error=error, data=outcome.body)


async def _fixed(console: Console, template: str, request: Request, status: int = 200) -> Response:
    """A page that shows no data."""
    return console.page(request, template, status)
