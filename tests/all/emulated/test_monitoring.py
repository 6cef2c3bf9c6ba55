"""A stack over OpenSearch with `Monitoring=basic`: what watches it, and that each becomes the other."""

import pytest

from tests.emulated.clients import Connect
from tests.emulated.stack import resources
from tests.support.aws_template import ALARM, RESOURCES, of, rendered

pytestmark = pytest.mark.timeout(300)
NAME, DAY, MANY = "small-team", "1971/12/01", 3
USERS_MISS = {
    f"{each}Alarm"
    for each in ("ToolFailures", "ApiErrors", "McpHttpErrors", "Heartbeat", "DeadLetters", "RetractionsSyncAge")
}
"""The alarms of every stack with `Monitoring=basic`, by logical id."""
BASIC = USERS_MISS | {"Corpus1SyncAgeAlarm", "LoadFailedAlarm"}


def deployed(up, monitoring):
    return up.deploy(NAME, {"OpenSearchIndex": "small_team", "Monitoring": monitoring})


def syncs_and_finds(up, stack, first):
    wanted = set(map(str, up.ncbi.control.clone(MANY, DAY, first=first)))
    arguments = {"query_key": f"from-{first}", "term": f"{DAY}:{DAY}[crdt]"}
    assert stack.invoke("sync_delta", {"tool": "pubmed.sync_delta", "arguments": arguments})["inserted"] == MANY
    asked = {
        "tool": "rag.search",
        "arguments": {"query": "treatment of depression in adults", "top_k": 100, "include_weak": True},
    }
    return wanted <= {hit["doc_id"].removeprefix("pmid:") for hit in stack.invoke("search", asked)["results"]}


def alarms_of_the_template(stack):
    [described] = stack.client("cloudformation").describe_stacks(StackName=stack.name)["Stacks"]
    given = {each["ParameterKey"]: each["ParameterValue"] for each in described["Parameters"]}
    conditions = {name: RESOURCES[name].get("Condition") for name in of(ALARM)}
    return {name for name, each in conditions.items() if each is None or rendered({"Condition": each}, given)}


def test_monitoring_becomes_full_and_basic_again_and_the_stack_works_all_the_while(up):
    stack = deployed(up, "basic")
    assert watching(stack.client, NAME) == (BASIC, set())
    assert "DashboardUrl" not in stack.outputs
    assert syncs_and_finds(up, stack, 71_900_000)
    queues = stack.resources()["WorkQueue"], stack.resources()["DocumentsTable"]

    stack = deployed(up, "full")
    alarms, dashboards = watching(stack.client, NAME)
    assert alarms == alarms_of_the_template(stack) > BASIC
    assert dashboards == {NAME}
    assert NAME in stack.outputs["DashboardUrl"]
    assert syncs_and_finds(up, stack, 71_901_000)

    stack = deployed(up, "basic")
    assert watching(stack.client, NAME) == (BASIC, set())
    assert "DashboardUrl" not in stack.outputs
    assert (stack.resources()["WorkQueue"], stack.resources()["DocumentsTable"]) == queues
    assert syncs_and_finds(up, stack, 71_902_000)


def watching(to: Connect, stack: str) -> tuple[set[str], set[str]]:
    """Its alarms by logical id, and its dashboards by name, as far as CloudWatch has them."""
    metrics, made = to("cloudwatch"), resources(to, stack)
    pages = metrics.get_paginator("describe_alarms").paginate()
    alarms = {each["AlarmName"] for page in pages for each in page["MetricAlarms"]}
    dashboards = {each["DashboardName"] for each in metrics.list_dashboards()["DashboardEntries"]}
    return {id for id, (_, name) in made.items() if name in alarms}, dashboards & {name for _, name in made.values()}
