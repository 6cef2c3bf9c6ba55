"""Tools and resources that functions of their own run: the front door's `Invoke` where it holds no data itself."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bio_mcp.call import Outcome, failed_outcome
from bio_mcp.deadline import Deadline
from bio_mcp.doors.mcp.server import Invoke
from bio_mcp.errors import Failure, FunctionBroke
from bio_mcp.tool import Context, Resource, Tool

log = logging.getLogger("bio_mcp.invoking")


class Functions(Protocol):
    """Whoever carries an event to a function and brings its answer. Raises a `Failure`, or `FunctionBroke`."""

    def invoke(self, function: str, event: Mapping[str, Any], deadline: Deadline, *, repeatable: bool) -> Any: ...
    def prepare(self, patience_s: float) -> None: ...


def over_functions(functions: Functions, function_of: Callable[[str], str]) -> Invoke:
    """Run what a module declares in the function that `function_of` names for it. The answer, its audit record
    included, is the function's own; what never got there is accounted for here.

    The correlation id goes along: it makes two events of one call the same call. Progress is not told.
    """

    def invoke(what: Tool | Resource, arguments: Mapping[str, Any], context: Context) -> Outcome:
        started = time.perf_counter()
        try:
            event = {**_event(what, arguments), "outcome": True, "correlation_id": context.correlation_id}
            event |= {} if context.caller is None else {"caller": context.caller}
            event["timeout_s"] = max(0.001, context.deadline.remaining)
            repeatable = isinstance(what, Resource) or what.read_only
            answer = functions.invoke(function_of(what.function), event, context.deadline, repeatable=repeatable)
            outcome = _outcome(answer)
        except (Failure, FunctionBroke) as problem:
            call_id, caller = context.correlation_id, context.caller
            return failed_outcome(what, arguments, problem, correlation_id=call_id, started=started, caller=caller)
        took = round((time.perf_counter() - started) * 1000)
        who = {} if context.caller is None else {"subject": context.caller}
        seen = who | {"tool": what.name, "status": outcome.audit.get("status"), "latency_ms": took}
        log.info("invoked", extra={**seen, "correlation_id": context.correlation_id})
        return outcome

    return invoke


def _event(what: Tool | Resource, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(what, Resource):
        return {"resource": what.uri.format(**arguments)}
    return {"tool": what.name, "arguments": dict(arguments)}


def _outcome(answer: Any) -> Outcome:
    if isinstance(answer, dict) and isinstance(answer.get("body"), dict) and isinstance(answer.get("audit"), dict):
        return Outcome(answer["body"], answer["audit"])
    raise FunctionBroke("an answer without body and audit")
