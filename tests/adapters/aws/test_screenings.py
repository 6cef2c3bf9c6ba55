"""Reviews in DynamoDB: an item a label, long searches in the bucket, and what becomes of writes that were killed."""

import zlib
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from bio_mcp.adapters.aws.projects import DynamoScreenings
from bio_mcp.errors import StoreFailed
from bio_mcp.ports.stores import ReviewRecord, ReviewSearch, ScreeningLabel
from tests.adapters.aws.dying import Dying, Killed

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
R = "query:heart"
MANY = [ReviewRecord(f"{number:03}", f"Title {number}", "An abstract. " * 20) for number in range(60)]  # three batches
SEARCH = ReviewSearch("a", NOON, "PubMed", "heart[ti]", 2, ("1", "2"))
LARGE = replace(SEARCH, record_ids=tuple(f"doi:10.1000/{sha256(str(at).encode()).hexdigest()}" for at in range(12_000)))


def dying(ports, after):
    client = Dying(ports.dynamodb, after, "batch_write_item")
    return DynamoScreenings(client, ports.screenings._table.name, lambda: ports.blobs)


def items(ports):
    return ports.dynamodb.scan(TableName=ports.screenings._table.name)["Items"]


def label(record_id, stage="abstract"):
    return ScreeningLabel(record_id, stage, "include", NOON)


@pytest.mark.parametrize("after", range(3))
def test_records_whose_writing_was_killed_are_whole_after_the_next(ports, after):
    with pytest.raises(Killed):
        dying(ports, after).put_records(R, MANY)
    assert len(ports.screenings.records(R)) == 25 * after
    ports.screenings.put_records(R, MANY)
    assert ports.screenings.records(R) == MANY


@pytest.mark.parametrize("after", range(1, 3))
def test_a_review_whose_deletion_was_killed_is_gone_after_the_next(ports, after):
    ports.screenings.put_records(R, MANY)
    ports.screenings.put_labels(R, [label("001"), label("001", "full_text")])
    ports.screenings.put_search(R, SEARCH)
    with pytest.raises(Killed):
        dying(ports, after).drop(R)
    assert items(ports)
    ports.screenings.drop(R)
    assert items(ports) == []


def test_a_label_is_one_item_of_its_own_beside_the_record(ports):
    ports.screenings.put_records(R, [ReviewRecord("1", "Title")])
    ports.screenings.put_labels(R, [label("1"), label("1", "full_text")])
    names = sorted(each["item"]["S"] for each in items(ports))
    assert names == ["label abstract 1", "label full_text 1", "record 1"]
    assert {each["name"]["S"] for each in items(ports)} == {R}


def test_a_text_is_stored_compressed(ports):
    ports.screenings.put_records(R, [ReviewRecord("1", "Title", "statin " * 2_000)])
    [item] = items(ports)
    assert len(item["body"]["B"]) < 500
    assert b"statin" in zlib.decompress(bytes(item["body"]["B"]))


def test_a_search_with_more_records_than_an_item_holds_is_a_file(ports):
    ports.screenings.put_search(R, LARGE)
    [item] = items(ports)
    assert item["body_key"]["S"].startswith("reviews/")
    assert ports.screenings.searches(R) == [LARGE]


def test_a_search_whose_file_is_gone_is_a_failure_and_no_empty_list(ports):
    ports.screenings.put_search(R, LARGE)
    lost = DynamoScreenings(ports.dynamodb, ports.screenings._table.name, lambda: MotoWithout(ports.blobs))
    with pytest.raises(StoreFailed):
        lost.searches(R)


class MotoWithout:
    """A bucket that has lost what was in it."""

    def __init__(self, blobs):
        self._blobs = blobs

    def get(self, key):
        return self._blobs.get(f"{key[:-1]}{'0' if key[-1] != '0' else '1'}")
