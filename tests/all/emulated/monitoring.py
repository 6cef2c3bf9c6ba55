"""What watches a deployed stack."""

from tests.emulated.clients import Connect
from tests.emulated.stack import resources

USERS_MISS = {
    f"{each}Alarm"
    for each in (*("ToolFailures", "ApiErrors", "McpHttpErrors", "Heartbeat", "DeadLetters", "RetractionsSyncAge"),)
}
"""The alarms of every stack with `Monitoring=basic`, by logical id."""


def watching(to: Connect, stack: str) -> tuple[set[str], set[str]]:
    """Its alarms by logical id, and its dashboards by name, as far as CloudWatch has them."""
    metrics, made = to("cloudwatch"), resources(to, stack)
    pages = metrics.get_paginator("describe_alarms").paginate()
    alarms = {each["AlarmName"] for page in pages for each in page["MetricAlarms"]}
    dashboards = {each["DashboardName"] for each in metrics.list_dashboards()["DashboardEntries"]}
    return {id for id, (_, name) in made.items() if name in alarms}, dashboards & {name for _, name in made.values()}
