"""Runs tools and resources in Lambda functions of their own, for an MCP function that has no access to data."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bio_mcp.call import Outcome, failed_outcome
from bio_mcp.callers import as_json, who
from bio_mcp.doors.running import Invoke
from bio_mcp.errors import Failure, FunctionBroke
from bio_mcp.ports.messages import Functions
from bio_mcp.tool import Context, Resource, Tool
from bio_mcp.tracing import call_span

log = logging.getLogger("bio_mcp.invoking")

SNAPSHOT = "snap-start"
"""How a function is initialized that starts from a snapshot (SnapStart)."""


def prepare(functions: Callable[[], Functions], declared: Iterable[Tool | Resource]) -> None:
    """Make the clients that calls of what is `declared` take, for a snapshot to have them. No connection is opened: it
    would be dead when the snapshot is restored."""
    for seconds in {each.timeout for each in declared}:
        functions().prepare(seconds)


def over_functions(functions: Callable[[], Functions], function_of: Callable[[str], str]) -> Invoke:
    """Run what a module declares in the function that `function_of` names for it.

    The answer and its audit record are the function's own; a call that did not reach it is logged and audited here. The
    correlation id is sent along: two events with the same one are the same call. Progress is not reported.
    """

    def invoke(what: Tool | Resource, arguments: Mapping[str, Any], context: Context) -> Outcome:
        started = time.perf_counter()
        try:
            event: dict[str, Any] = {"outcome": True, "correlation_id": context.correlation_id}
            if isinstance(what, Resource):
                event["resource"] = what.uri.format(**arguments)
            else:
                event |= {"tool": what.name, "arguments": dict(arguments)}
            event |= {} if context.caller is None else {"caller": as_json(context.caller)}
            event["timeout_s"] = max(0.001, context.deadline.remaining)
            repeatable = isinstance(what, Resource) or what.read_only
            with call_span(what.name, context.correlation_id):
                function = function_of(what.lambda_module)
                answer = functions().invoke(function, event, context.deadline, repeatable=repeatable)
            body, audit = (answer.get("body"), answer.get("audit")) if isinstance(answer, dict) else (None, None)
            if not (isinstance(body, dict) and isinstance(audit, dict)):
                raise FunctionBroke("an answer without body and audit")
            outcome = Outcome(body, audit, budgets=answer.get("budgets") or {})
        except (Failure, FunctionBroke) as failure:
            return failed_outcome(what, arguments, failure, context, started)
        latency_ms = round((time.perf_counter() - started) * 1000)
        fields = {"tool": what.name, "status": outcome.audit.get("status"), "latency_ms": latency_ms}
        log.info("invoked", extra={**who(context.caller), **fields, "correlation_id": context.correlation_id})
        return outcome

    return invoke
