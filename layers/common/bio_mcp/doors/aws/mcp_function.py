"""MCP over HTTP as a Lambda function.

Where `BIO_MCP_FUNCTIONS` names the functions that serve the tools, they are called, and this one needs no permission
but that. Nothing is connected while the function starts, so that a snapshot of it (SnapStart) holds no connection that
would be dead when it is restored.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from mangum import Mangum

from bio_mcp import wiring
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors.auth.access import access_if_whole
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
    """The handler for API Gateway's HTTP and REST APIs, Function URLs and ALB, over `/mcp` and `/health`.

    It answers to access tokens only: where none are configured, or only in part, `/mcp` is 503 for everybody. Raises
    `Misconfigured` when `BIO_MCP_FUNCTIONS` names some modules of tools and not all.
    """
    settings = Settings.from_env()
    logger = log_as_json(settings.log_level)
    invoke = invoking(settings, Later(functions)) if settings.functions else in_process(backends())
    served = Mangum(application(settings, invoke, access_if_whole(settings), public=True), lifespan="off")

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        request = event.get("requestContext", {})
        logger.append_keys(gateway_request_id=request.get("requestId"))  # by which the access log names it
        return served(event, context)

    wrapped: Handler = logger.inject_lambda_context(handler)
    return wrapped


class Later:
    """Functions that are reached for when the first is called: AWS's library takes a while to load, and a request that
    is refused, or asks only what there is, needs none."""

    def __init__(self, connect: Callable[[], Functions]) -> None:
        self._functions = cache(connect)

    def invoke(self, function: str, event: Mapping[str, Any], deadline: Deadline, *, repeatable: bool) -> Any:
        return self._functions().invoke(function, event, deadline, repeatable=repeatable)

    def prepare(self, patience_s: float) -> None:
        self._functions().prepare(patience_s)


def invoking(settings: Settings, functions: Functions) -> Invoke:
    """Run every tool and resource in the function that the settings name for its module."""
    served: list[Tool | Resource] = [*TOOLS.values(), *RESOURCES.values()]
    for module in dict.fromkeys(each.function for each in served):
        settings.function(module)
    if settings.initialization == SNAPSHOT:
        for seconds in {each.timeout for each in served}:
            functions.prepare(seconds)
    return over_functions(functions, settings.function)
