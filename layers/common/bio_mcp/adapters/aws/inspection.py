"""Checks that the tables, the queue, the bucket and the event bus of a stack exist and have the expected form."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from bio_mcp.adapters.aws.clients import reaching
from bio_mcp.errors import Failure
from bio_mcp.health import FAIL, OK, WARN, Finding

KEYS = {
    "documents": ["pmid"],
    "checkpoints": ["query_key"],
    "jobs": ["job"],
    "news": ["name", "item"],
    "leases": ["lease"],
    "audit": ["month", "at"],
    "pace": ["budget"],
    "projects": ["project_id"],
    "project_documents": ["project_id", "item"],
    "cache": ["entry"],
    "graph": ["name", "item"],
    "answers": ["name", "item"],
    "screenings": ["name", "item"],
    "calls": ["name", "item"],
    "authorizations": ["name", "item"],
    "budgets": ["name", "item"],
}
"""Table -> the attributes of its key."""


def tables(client: Any, names: Mapping[str, str]) -> Finding:
    """Check that the tables exist with the key that the product expects; `names` maps what they store, as in `KEYS`,
    to table names."""
    problems = [problem for what, name in names.items() if (problem := _table(client, what, name))]
    if problems:
        remedy = "Deploy the stack, or correct the settings that name its tables."
        return Finding(FAIL, "; ".join(problems), remedy)
    return Finding(OK, f"{len(names)} tables, active: {', '.join(names)}")


def _table(client: Any, what: str, name: str) -> str:
    try:
        with reaching(what):
            table = client.describe_table(TableName=name)["Table"]
    except Failure as failure:
        return str(failure)
    key = [each["AttributeName"] for each in table["KeySchema"]]
    if key != KEYS[what]:
        return f"the table of {what} has the key {', '.join(key)}, not {', '.join(KEYS[what])}: it is another table"
    return "" if table["TableStatus"] == "ACTIVE" else f"the table of {what} is {table['TableStatus'].lower()}"


def queue(client: Any, url: str) -> Finding:
    """Check the queue and count its dead letters."""
    attributes_of = partial(client.get_queue_attributes, AttributeNames=["All"])
    with reaching("work to be done later"):
        waiting = attributes_of(QueueUrl=url)["Attributes"]
        policy = json.loads(waiting.get("RedrivePolicy", "{}"))
        if not policy:
            remedy = "Deploy the stack again: without a dead-letter queue a failing call is tried for ever."
            return Finding(WARN, "no queue for what is given up", remedy)
        dead = client.get_queue_url(QueueName=policy["deadLetterTargetArn"].rpartition(":")[2])["QueueUrl"]
        given_up = int(attributes_of(QueueUrl=dead)["Attributes"]["ApproximateNumberOfMessages"])
    found = f"{waiting['ApproximateNumberOfMessages']} calls wait, {given_up} were given up"
    if given_up:
        remedy = "`bio-mcp admin letters list` says why, and `redrive` makes them again once that is mended."
        return Finding(WARN, found, remedy)
    return Finding(OK, found)


def bucket(client: Any, name: str) -> Finding:
    with reaching("files"):
        client.head_bucket(Bucket=name)
    return Finding(OK, "there, and may be looked into")


def bus(client: Any, name: str) -> Finding:
    with reaching("announcements"):
        client.describe_event_bus(Name=name)
    return Finding(OK, "there")
