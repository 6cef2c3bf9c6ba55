"""What CloudWatch is told of calls, by Powertools: metrics, each a line of the log in CloudWatch's embedded format."""

import time
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit

from bio_mcp.call import Outcome, call
from bio_mcp.errors import BudgetSpent, InvalidInput, NotFound
from bio_mcp.tool import Tool

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
