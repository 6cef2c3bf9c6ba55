"""Reviews in DynamoDB: an item a label, long searches in the bucket, and what becomes of writes that were killed."""

import json
import zlib
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from bio_mcp.adapters.aws.projects import DynamoScreenings
from bio_mcp.ports.stores import ReviewRecord, ReviewSearch, ScreeningLabel
from bio_mcp.scope import holding
from tests.adapters.aws.dying import Killed, killed_after

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
R = "query:heart"
MANY = [ReviewRecord(f"{number:03}", f"Title {number}", "An abstract. " * 20) for number in range(60)]  # three batches
SEARCH = ReviewSearch("a", NOON, "PubMed", "heart[ti]", 2, ("1", "2"))
LARGE = replace(SEARCH, record_ids=tuple(f"doi:10.1000/{sha256(str(at).encode()).hexdigest()}" for at in range(12_000)))


def dying(ports, after):
    client = killed_after(ports.dynamodb, after, "batch_write_item")
    return DynamoScreenings(client, ports.screenings._table.name, lambda: ports.blobs)


def items(ports):
    return ports.dynamodb.scan(TableName=ports.screenings._table.name)["Items"]


def label(record_id, stage="abstract"):
    return ScreeningLabel(record_id, stage, "include", NOON)


@pytest.mark.parametrize("after", range(3))
def test_records_whose_writing_was_killed_are_whole_after_the_next(ports, after):
    with pytest.raises(Killed):
        dying(ports, after).put(R, MANY)
    assert len(ports.screenings.records(R)) == 25 * after
    ports.screenings.put(R, MANY)
    assert ports.screenings.records(R) == MANY


@pytest.mark.parametrize("after", range(1, 3))
def test_a_review_whose_deletion_was_killed_is_gone_after_the_next(ports, after):
    ports.screenings.put(R, MANY)
    ports.screenings.put(R, [label("001"), label("001", "full_text")])
    ports.screenings.put(R, [SEARCH])
    with pytest.raises(Killed):
        dying(ports, after).drop(R)
    assert items(ports)
    ports.screenings.drop(R)
    assert items(ports) == []


def test_more_than_a_transaction_takes_is_written_and_deleted_whole_under_a_lease(ports):
    with holding(ports.leases.acquire("sync:q", "me", 60)):
        ports.screenings.put(R, [ReviewRecord(f"{at:03}", "T", "A") for at in range(120)])
        assert len(ports.screenings.records(R)) == 120
        ports.screenings.drop(R)
        assert items(ports) == []


def test_a_search_with_more_records_than_an_item_holds_is_a_file(ports):
    ports.screenings.put(R, [LARGE])
    [item] = [each for each in items(ports) if each["item"]["S"].startswith("search")]
    assert item["body_key"]["S"].startswith("reviews/")
    assert ports.screenings.searches(R) == [LARGE]


OLD_KEYS = {
    "record ": {"record_id", "title", "abstract", "year", "doi"},
    "label ": {"record_id", "stage", "decision", "at", "reason", "caller", "number"},
    "search ": {"search_id", "at", "database", "term", "found", "record_ids", "method", "number"},
}
"""The fields of a body in the version before reviews had names, which made its objects of all that it read."""


def test_an_earlier_version_reads_what_this_one_writes(ports):
    record = replace(MANY[0], pmid="7", authors=("Doe J",), keywords=("a",), preprint=True)
    search = replace(SEARCH, source="topic:heart")
    labels = [replace(label("001"), caller="ann"), replace(label("001"), caller="ann", resolves=True)]
    ports.screenings.put(R, [record, search, *labels])
    assert (ports.screenings.records(R), ports.screenings.searches(R)) == ([record], [search])
    assert ports.screenings.labels(R) == labels
    for begins, fields in OLD_KEYS.items():
        found = list(ports.screenings._table.partition(R, begins=begins))
        assert found
        for item in found:
            assert set(json.loads(zlib.decompress(item["body"]))) == fields


def test_what_an_earlier_version_wrote_is_read_replaced_and_taken_back(ports):
    """It had one label of a record and stage, whosever it was, under a key without a name."""
    old = replace(label("001"), caller="ann")
    body = {**asdict(old), "at": NOON.isoformat(timespec="microseconds"), "number": 1}
    body.pop("resolves")
    item = {"name": R, "item": "label abstract 001", "body": zlib.compress(json.dumps(body).encode()), "body_key": None}
    ports.screenings._table.put_item(item)
    assert ports.screenings.labels(R) == [old]
    new = replace(old, decision="exclude")
    ports.screenings._table.next_number({"name": R, "item": "number"}, 1)  # as that version counted
    ports.screenings.put(R, [new])
    assert ports.screenings.labels(R) == [new]
    ports.screenings.remove_labels(R, [new])
    assert ports.screenings.labels(R) == []
    assert [each["item"]["S"] for each in items(ports)] == ["number"]
