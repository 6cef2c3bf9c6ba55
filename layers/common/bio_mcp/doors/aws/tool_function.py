"""Serves the tools and resources of one module as one Lambda function.

An event is `{"tool": name, "arguments": {...}}` or `{"resource": uri}`. Optional: `correlation_id` ties it to the call
that caused it, `caller` says whom it is for, and `timeout_s` is how long that one waits. The answer is the
tool's body or an error envelope; with `outcome` it is `{"body", "audit", "budgets"}`. An SQS queue delivers several
such events at once: see `bio_mcp.doors.aws.queues`.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from bio_mcp import tracing, wiring
from bio_mcp.call import Outcome, call, envelope, read
from bio_mcp.deadline import Deadline
from bio_mcp.doors.aws.queues import Event, QueuedCalls, left_s, parse, records_of
from bio_mcp.doors.logs import names_caller
from bio_mcp.errors import BudgetSpent, Failure, InvalidInput, Misconfigured, NotFound
from bio_mcp.lazy import Lazy
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings
from bio_mcp.tool import Resource, Tool, by_any_name, resources_in, tools_in
from bio_mcp.untrusted import excerpt

SERVICE = "bio_mcp"
Call = Callable[..., Outcome]


def recorded(namespace: str, **values: tuple[MetricUnit, float]) -> None:
    """Record one value of each metric in `namespace`."""
    metrics = Metrics(namespace=namespace, service=SERVICE)
    for name, (unit, value) in values.items():
        metrics.add_metric(name, unit, value)
    metrics.flush_metrics()


def measured(namespace: Callable[[], str], run: Call = call) -> Call:
    """`run`, with metrics by tool: how long each call took, whether it failed and not by the caller's fault, and
    whether it was refused for want of budget.

    Nothing is measured where there is no namespace.
    """

    def running(tool: Tool, *arguments: Any, **options: Any) -> Outcome:
        started = time.perf_counter()
        outcome = run(tool, *arguments, **options)
        if where := namespace():
            metrics = Metrics(namespace=where, service=SERVICE)
            metrics.add_dimension("tool", tool.name)
            metrics.add_metric("Latency", MetricUnit.Milliseconds, (time.perf_counter() - started) * 1000)
            if isinstance(outcome.failure, BudgetSpent):
                metrics.add_metric("Refused", MetricUnit.Count, 1)
            elif outcome.failed and not isinstance(outcome.failure, InvalidInput | NotFound):
                metrics.add_metric("Failures", MetricUnit.Count, 1)
            metrics.flush_metrics()
        return outcome

    return running


Handler = Callable[[Any, Any], dict[str, Any]]


def trace_calls() -> None:
    """Record the calls of this function and their requests in X-Ray, where the settings say so."""
    with suppress(Misconfigured):  # the first call says that
        settings = Settings.from_env()
        if settings.trace_calls == "on" and settings.xray_daemon:
            from bio_mcp.doors.aws.xray import XRay

            tracing.record(XRay(settings.xray_daemon, settings.trace_header))


def log_as_json(level: str = "info") -> Logger:
    """Write the product's log as one JSON object per line, with the invocation's request id and function name."""
    logger = Logger(service=SERVICE, level=level.upper(), use_rfc3339=True)  # above every logger of the product
    for handler in logger.handlers:
        handler.addFilter(names_caller)
    return logger


def handler_for(module: ModuleType, backends: Callable[[], Backends] = wiring.backends) -> Handler:
    """A Lambda handler for what `module` declares and nothing else. `backends` is called at each invocation."""
    tools, resources = by_any_name(tools_in(module).values()), resources_in(module)
    dialect = next(iter(tools.values())).family.dialect
    trace_calls()
    logger, call = log_as_json(), measured(Lazy(lambda: Settings.from_env().metrics))

    @logger.inject_lambda_context
    def handler(event: Any, context: Any) -> dict[str, Any]:
        if records := records_of(event):
            return QueuedCalls(tools, backends, context.get_remaining_time_in_millis, call).answer(records)
        try:
            parsed = parse(event)
            outcome = _answer(parsed, tools, resources, backends(), context.get_remaining_time_in_millis, call)
        except Failure as failure:
            return envelope(failure, dialect)
        if parsed.outcome:
            return {"body": outcome.body, "audit": outcome.audit, "budgets": dict(outcome.budgets)}
        return outcome.body

    return handler


def _answer(
    event: Event,
    tools: Mapping[str, Tool],
    resources: Mapping[str, Resource],
    backends: Backends,
    remaining_ms: Callable[[], int],
    call: Call,
) -> Outcome:
    if event.resource is not None:
        for resource in resources.values():
            if (parameters := resource.match(event.resource)) is not None:
                return read(
                    resource, parameters, backends, correlation_id=event.correlation_id, caller=event.on_behalf_of
                )
        raise NotFound(f"this function has no such resource; it serves {', '.join(resources) or 'none'}")
    if (tool := tools.get(event.tool or "")) is None:
        names = ", ".join(dict.fromkeys(known_tool.name for known_tool in tools.values()))
        raise NotFound(f"this function has no tool {excerpt(event.tool or '')}; it serves {names}")
    left = left_s(remaining_ms)
    deadline = Deadline(min(left, event.timeout_s or left))
    return call(
        tool,
        event.arguments,
        backends,
        deadline=deadline,
        correlation_id=event.correlation_id,
        caller=event.on_behalf_of,
    )
