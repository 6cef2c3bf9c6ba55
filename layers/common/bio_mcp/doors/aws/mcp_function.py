"""MCP over HTTP as a Lambda function.

If `BIO_MCP_FUNCTIONS` names the functions that serve the tools, this one calls them and needs no other permission. It
opens no connection while it starts: a snapshot (SnapStart) would contain one that is dead when it is restored.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from mangum import Mangum

from bio_mcp import wiring
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors.auth.access import access_if_complete
from bio_mcp.doors.aws.remote import Functions, over_functions
from bio_mcp.doors.aws.tool_function import Handler, log_as_json
from bio_mcp.doors.mcp.http import application
from bio_mcp.doors.mcp.server import Invoke, in_process
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings
from bio_mcp.tool import Resource, Tool

SNAPSHOT = "snap-start"


def http_handler(
    backends: Callable[[], Backends] = wiring.backends, functions: Callable[[], Functions] = wiring.functions
) -> Handler:
    """The handler for API Gateway's HTTP and REST APIs, function URLs and ALB, over `/mcp` and `/health`.

    It accepts access tokens only: if none are configured, or incompletely, `/mcp` answers 503.
    """
    settings = Settings.from_env()
    logger = log_as_json(settings.log_level)
    invoke = invoking(settings, LazyFunctions(functions)) if settings.functions else in_process(backends())
    served = Mangum(application(settings, invoke, access_if_complete(settings), public=True), lifespan="off")

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        gateway = event.get("requestContext", {})
        logger.append_keys(gateway_request_id=gateway.get("requestId"))  # as in the access log
        return served(event, context)

    wrapped: Handler = logger.inject_lambda_context(handler)
    return wrapped


class LazyFunctions:
    """Lambda functions whose client is made at the first call: boto3 takes a while to load, and a request that is
    rejected or only lists tools needs none."""

    def __init__(self, connect: Callable[[], Functions]) -> None:
        self._functions = cache(connect)

    def invoke(self, function: str, event: Mapping[str, Any], deadline: Deadline, *, repeatable: bool) -> Any:
        return self._functions().invoke(function, event, deadline, repeatable=repeatable)

    def prepare(self, timeout_s: float) -> None:
        self._functions().prepare(timeout_s)


def invoking(settings: Settings, functions: Functions) -> Invoke:
    """Run each tool and resource in the function that the settings name for its module."""
    served: list[Tool | Resource] = [*TOOLS.values(), *RESOURCES.values()]
    for module in dict.fromkeys(declared.function for declared in served):
        settings.function(module)
    if settings.initialization == SNAPSHOT:
        for seconds in {declared.timeout for declared in served}:
            functions.prepare(seconds)
    return over_functions(functions, settings.function)
