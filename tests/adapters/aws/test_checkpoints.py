"""What an older version wrote into the tables is read, and what is written now an older version still reads."""

import json
from datetime import UTC, datetime

from bio_mcp.ports.state import Checkpoint, Job

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_an_item_without_terms_is_a_checkpoint_without_one_and_keeps_its_place(ports):
    table, windows = ports.checkpoints._table, {"edat": "2024-05-01"}
    item = {"last_edat": {"NULL": True}, "windows": {"S": json.dumps(windows)}, "revision": {"S": "r"}}
    ports.dynamodb.put_item(TableName=table, Item={"query_key": {"S": "q"}, **item})
    assert ports.checkpoints.all() == [Checkpoint("q", None, windows)]
    assert ports.checkpoints.advance("q", "t") == Checkpoint("q", None, windows, "t")
    [item] = ports.dynamodb.scan(TableName=table)["Items"]
    assert (item["last_edat"], item["windows"]) == ({"NULL": True}, {"S": json.dumps(windows)})


def test_a_job_that_is_named_by_its_key_alone_is_the_latest_of_its_term(ports):
    job = Job("a", "sync", "waiting", NOON, NOON, {"query_key": "q", "term": "t"})
    ports.jobs.put(job)
    for item in ports.dynamodb.scan(TableName=ports.jobs._table)["Items"]:
        if item["job"]["S"] not in ("job a", 'newest ["sync", "q"]'):
            ports.dynamodb.delete_item(TableName=ports.jobs._table, Key={"job": item["job"]})
    assert ports.jobs.latest("sync", "q", "t") == job
    assert ports.jobs.latest("sync", "q", "u") is None
