"""Jobs in DynamoDB that an older version left, which gave them no numbers."""

from datetime import UTC, datetime, timedelta

from bio_mcp.ports.state import Job

TODAY = datetime.now(UTC)


def old_job(ports, name, days, query_key="k"):
    """A job as the version before stored it: named as the newest of its key by its time, and in the item of its day."""
    made = TODAY - timedelta(days=days)
    job = Job(name, "sync", "waiting", made, made, {"query_key": query_key, "term": "t"})
    ports.jobs.put(job)
    client, table = ports.dynamodb, ports.jobs._table.name
    at = made.isoformat(timespec="microseconds")
    for key in (f"job {name}", 'newest ["sync", "' + query_key + '"]'):
        client.update_item(
            TableName=table,
            Key={"job": {"S": key}},
            UpdateExpression="REMOVE #number SET #order = :order",
            ExpressionAttributeNames={"#number": "number", "#order": "ordinal"},
            ExpressionAttributeValues={":order": {"S": f"{at} {name}"}},
        )
    client.delete_item(TableName=table, Key={"job": {"S": "last sync"}})
    client.update_item(
        TableName=table,
        Key={"job": {"S": f"day {at[:10]} sync"}},
        UpdateExpression="ADD #named :job",
        ExpressionAttributeNames={"#named": "jobs"},
        ExpressionAttributeValues={":job": {"SS": [f"{at} {name}"]}},
    )


def test_they_come_first_by_their_times_and_new_ones_after_them(ports):
    for name, days in (("older", 3), ("old", 1)):
        old_job(ports, name, days)
    jobs = ports.jobs
    assert [each.job_id for each in jobs.newest("sync", 9)] == ["old", "older"]
    long_ago = TODAY - timedelta(days=2_000)
    jobs.put(Job("new", "sync", "running", long_ago, long_ago, {"query_key": "k", "term": "t"}))
    jobs.put(jobs.get("old"))
    assert jobs.latest("sync", "k").job_id == jobs.latest("sync", "k", "t").job_id == "new"
    assert [each.job_id for each in jobs.newest("sync", 9)] == ["new", "old", "older"]


def test_an_older_one_that_is_saved_again_is_not_the_newest(ports):
    for name, days in (("old", 1), ("older", 3)):
        old_job(ports, name, days)
    ports.jobs.put(ports.jobs.get("old"))
    ports.jobs.put(ports.jobs.get("older"))
    assert ports.jobs.latest("sync", "k").job_id == "old"
