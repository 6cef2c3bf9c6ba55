"""The console as routes of an HTTP application."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from bio_mcp.doors.console import (
    connecting,
    corpora,
    evaluation,
    exports,
    feed,
    news,
    papers,
    projects,
    search,
    static,
    syncs,
)
from bio_mcp.doors.console.console import Answer, Console
from bio_mcp.doors.console.pages import Page
from bio_mcp.doors.mcp.server import Invoke, Running

PAGES = (
    papers.PAGE,
    corpora.PAGE,
    news.PAGE,
    syncs.PAGE,
    syncs.ONE,
    projects.PAGE,
    projects.ONE,
    evaluation.PAGE,
)  # in the order of the menu
Guard = Callable[[ASGIApp], ASGIApp]


def routes(invoke: Invoke, guard: Guard, *, resource: str = "", pages: Sequence[Page] = PAGES) -> list[BaseRoute]:
    """The pages, each behind `guard`, which puts the caller into the request; and, behind none, their files.

    `resource` is the endpoint's public URL, if it has one. The last route answers every other path with 404, behind no
    guard: clients look for metadata at well-known paths, and a way to sign in would be none. So these routes come after
    any others.
    """
    menu = (("/", "Search"), *((each.path, each.menu) for each in pages if each.menu), ("/connect", "Connect"))
    console = Console(Running(invoke), menu)
    answers: list[tuple[str, str, Answer]] = [
        ("/", "GET", search.results(console)),
        ("/answer", "POST", search.answer(console)),
        *((each.path, "GET", _showing(console, each)) for each in pages),
        ("/evaluation/reports/{name}", "GET", evaluation.report(console)),
        ("/exports/{id}", "GET", exports.download(console)),
        ("/connect", "GET", connecting.page(console, resource)),
    ]
    behind = [Middleware(guard)]
    read = Route(
        feed.PATH, feed.feed(console, resource), methods=["GET"], middleware=[Middleware(feed.ByPassword), *behind]
    )
    guarded = [Route(path, each, methods=[method], middleware=behind) for path, method, each in answers]
    files = Route("/static/{name}", static.serve, methods=["GET"])
    return [files, *guarded, read, Route("/{path:path}", _missing(console), methods=["GET"])]


def _showing(console: Console, page: Page) -> Answer:
    async def show(request: Request) -> Response:
        given = {**request.path_params, **_named(request.query_params, page.takes)}
        outcome = await console.ask(page.reads, given, request)
        if outcome.failed:
            return console.failure(request, outcome)
        return console.page(request, page.template, data=outcome.body)

    return show


def _named(query: Mapping[str, str], names: Iterable[str]) -> dict[str, Any]:
    return {name: query[name] for name in names if query.get(name)}


def _missing(console: Console) -> Answer:
    async def missing(request: Request) -> Response:
        return console.page(request, "missing.html", 404)

    return missing
