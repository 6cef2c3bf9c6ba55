"""The pages for people as a Lambda function.

It reads what its pages show and may change nothing of it but files that are sent: searches, answers, syncs and ingests
are calls of the functions that serve them, what a page alone reads is read here. A snapshot (SnapStart) has clients and
templates, no connection and no secret: keys are read when a request needs them.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bio_mcp import wiring
from bio_mcp.call import Outcome
from bio_mcp.doors.auth.access import access_if_complete
from bio_mcp.doors.auth.bearer import NOT_CONFIGURED
from bio_mcp.doors.auth.sessions import Sessions, SignedIn
from bio_mcp.doors.aws.gateway import behind_gateway
from bio_mcp.doors.aws.remote import SNAPSHOT, over_functions, prepare
from bio_mcp.doors.aws.tool_function import Handler
from bio_mcp.doors.console.console import CONSOLE
from bio_mcp.doors.console.rendering import compile_templates
from bio_mcp.doors.console.routes import Guard, routes
from bio_mcp.doors.running import Invoke, in_process
from bio_mcp.doors.web import pages_alone
from bio_mcp.lazy import Lazy
from bio_mcp.ports import Backends
from bio_mcp.ports.messages import Functions
from bio_mcp.settings import Settings
from bio_mcp.tool import Context, Resource, Tool

LARGEST_EVENT = 4 << 20  # bytes of a request or an answer: Lambda's event has 6 MB, and files in it are base64


def console_handler(
    backends: Callable[[], Any] = wiring.backends, functions: Callable[[], Functions] = wiring.functions
) -> Handler:
    """The handler for the console. Without access tokens nobody can sign in, and every page answers 503."""
    settings = Settings.from_env()
    authorizations, called = Lazy(lambda: backends().authorizations), Lazy(functions)
    access = access_if_complete(settings, authorizations)
    sessions = Sessions(authorizations, https=True)
    if settings.initialization == SNAPSHOT:
        _prepare(authorizations, called)
    invoke = _invoking(settings, backends, called)
    guard: Guard = partial(SignedIn, access=access, sessions=sessions) if access else lambda _app: NOT_CONFIGURED
    pages = routes(invoke, guard, resource=settings.resource_url, largest=LARGEST_EVENT)
    return behind_gateway(pages_alone(settings, pages), settings)


def _prepare(authorizations: Callable[[], Any], functions: Callable[[], Functions]) -> None:
    """Make what most pages take, for a snapshot to have it; nothing is called or read."""
    from bio_mcp.catalog import RESOURCES, TOOLS

    prepare(functions, [*TOOLS.values(), *RESOURCES.values()])
    compile_templates()
    authorizations()


def _invoking(settings: Settings, backends: Callable[[], Backends], functions: Callable[[], Functions]) -> Invoke:
    """Run in its function what a function serves, and here what a page alone reads."""
    there = over_functions(functions, settings.function)

    def invoke(what: Tool | Resource, arguments: Mapping[str, Any], context: Context) -> Outcome:
        run = in_process(backends()) if what.family is CONSOLE else there
        return run(what, arguments, context)

    return invoke
