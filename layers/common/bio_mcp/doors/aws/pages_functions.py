"""The pages for people as a Lambda function of its own, which reads what they show and may change nothing of it.

Searches and answers are calls of the functions that serve them; what a page alone reads is read here.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mangum import Mangum

from bio_mcp import wiring
from bio_mcp.call import Outcome
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.auth.access import access_if_complete
from bio_mcp.doors.auth.bearer import NotConfigured
from bio_mcp.doors.auth.sessions import Sessions, SignedIn
from bio_mcp.doors.aws.remote import over_functions
from bio_mcp.doors.aws.tool_function import Handler, log_as_json
from bio_mcp.doors.console.routes import Guard, routes
from bio_mcp.doors.mcp.http import application
from bio_mcp.doors.mcp.server import Invoke, in_process
from bio_mcp.lazy import Lazy
from bio_mcp.ports import Backends
from bio_mcp.ports.functions import Functions
from bio_mcp.settings import Settings
from bio_mcp.tool import Context, Resource, Tool


def console_handler(
    backends: Callable[[], Any] = wiring.backends, functions: Callable[[], Functions] = wiring.functions
) -> Handler:
    """The handler for the console. Without access tokens nobody can sign in, and every page answers 503."""
    settings = Settings.from_env()
    access = access_if_complete(settings)
    sessions = Sessions(lambda: backends().authorizations, https=True)
    invoke = _invoking(settings, backends, Lazy(functions))
    guard: Guard = partial(SignedIn, access=access, sessions=sessions) if access else lambda _app: NotConfigured()
    pages = routes(invoke, guard, resource=settings.resource_url)
    return handler_of(settings, Mangum(application(settings, invoke, access, public=True, pages=pages), lifespan="off"))


def handler_of(settings: Settings, served: Mangum) -> Handler:
    """A handler whose log has the gateway's request id, as the access log does."""
    logger = log_as_json(settings.log_level)

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        gateway = event.get("requestContext", {})
        logger.append_keys(gateway_request_id=gateway.get("requestId"))
        return served(event, context)

    wrapped: Handler = logger.inject_lambda_context(handler)
    return wrapped


def _invoking(settings: Settings, backends: Callable[[], Backends], functions: Callable[[], Functions]) -> Invoke:
    """Run in its function what a function serves, and here what a page alone reads."""
    offered = [*TOOLS.values(), *RESOURCES.values()]
    there = over_functions(functions, settings.function)

    def invoke(what: Tool | Resource, arguments: Mapping[str, Any], context: Context) -> Outcome:
        run = there if what in offered else in_process(backends())
        return run(what, arguments, context)

    return invoke
