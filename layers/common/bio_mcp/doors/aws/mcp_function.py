"""MCP over HTTP as a Lambda function.

If `BIO_MCP_FUNCTIONS` names the functions that serve the tools, this one calls them, and reads nothing itself but
whether somebody ended a listed token. It opens no connection while it starts: a snapshot (SnapStart) would contain one
that is dead when it is restored.
"""

from collections.abc import Callable
from typing import Any

from bio_mcp import wiring
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.auth.access import access_if_complete
from bio_mcp.doors.aws.gateway import behind_gateway
from bio_mcp.doors.aws.remote import SNAPSHOT, over_functions, prepare
from bio_mcp.doors.aws.tool_function import Handler
from bio_mcp.doors.mcp.http import application
from bio_mcp.doors.readiness import parts_of
from bio_mcp.doors.running import Invoke, in_process
from bio_mcp.lazy import Lazy
from bio_mcp.ports.messages import Functions
from bio_mcp.settings import Settings
from bio_mcp.tool import Resource, Tool


def http_handler(
    backends: Callable[[], Any] = wiring.backends, functions: Callable[[], Functions] = wiring.functions
) -> Handler:
    """The handler for API Gateway's HTTP and REST APIs, function URLs and ALB, over `/mcp`, `/health` and
    `/ready`.

    It accepts access tokens only: if none are configured, or incompletely, `/mcp` answers 503.
    """
    settings = Settings.from_env()
    invoke = invoking(settings, Lazy(functions)) if settings.functions else in_process(backends())
    parts = None if settings.functions else parts_of(backends())
    access = access_if_complete(settings, Lazy(lambda: backends().authorizations))
    return behind_gateway(application(settings, invoke, access, public=True, parts=parts), settings)


def invoking(settings: Settings, functions: Callable[[], Functions]) -> Invoke:
    """Run every tool and resource in the function that the settings name for its module.

    `functions` is called at the first call: boto3 takes a while to load, and a request that is rejected or only lists
    tools needs none.
    """
    served: list[Tool | Resource] = [*TOOLS.values(), *RESOURCES.values()]
    for module in dict.fromkeys(declared.lambda_module for declared in served):
        settings.function(module)
    if settings.initialization == SNAPSHOT:
        prepare(functions, served)
    return over_functions(functions, settings.function)
