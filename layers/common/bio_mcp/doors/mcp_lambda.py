"""MCP over HTTP as a Lambda function."""

from collections.abc import Callable

from mangum import Mangum

from bio_mcp import wiring
from bio_mcp.doors.auth.access import access_if_whole
from bio_mcp.doors.aws_lambda import log_as_json
from bio_mcp.doors.mcp import in_process
from bio_mcp.doors.mcp_http import application
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings


def http_handler(backends: Callable[[], Backends] = wiring.backends) -> Mangum:
    """The handler for API Gateway's HTTP and REST APIs, Function URLs and ALB, over `/mcp` and `/health`.

    It answers to access tokens only: where none are configured, or only in part, `/mcp` is 503 for everybody.
    """
    settings = Settings.from_env()
    log_as_json(settings.log_level)
    return Mangum(application(settings, in_process(backends()), access_if_whole(settings), public=True), lifespan="off")
