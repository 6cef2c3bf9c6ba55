"""Reviews in DynamoDB: an item a label, long searches in the bucket, and what becomes of writes that were killed."""

from dataclasses import replace
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
