"""ASGI applications behind API Gateway: the endpoint and the pages for people."""

from typing import Any

from mangum import Mangum

from bio_mcp.doors.aws.tool_function import Handler, log_as_json, trace_calls
from bio_mcp.settings import Settings


def behind_gateway(app: Any, settings: Settings) -> Handler:
    """The ASGI application as a handler whose log has the gateway's request id, as the access log does."""
    trace_calls()
    logger, served = log_as_json(settings.log_level), Mangum(app, lifespan="off")

    @logger.inject_lambda_context
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        gateway = event.get("requestContext", {})
        logger.append_keys(gateway_request_id=gateway.get("requestId"))
        return served(event, context)

    return handler
