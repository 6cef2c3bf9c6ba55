"""The cache's table: what DynamoDB leaves undone, refuses or has not yet removed."""

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from bio_mcp.adapters.aws.answers import LARGEST, DynamoCache
from bio_mcp.errors import StoreFailed
from tests.adapters.clocks import Clock
from tests.support.aws_ports import MotoPorts


@pytest.fixture
def ports(nobody, closed):
    return closed(MotoPorts(Clock(1_000_000.25)))


def item(ports, key):
    table = ports.table("CacheTable")
    return ports.dynamodb.get_item(TableName=table, Key={"entry": {"S": key}}).get("Item")


def test_an_item_names_the_second_after_which_dynamodb_may_remove_it(ports):
    ports.cache.put({"a": b"one"}, 60.5)
    assert item(ports, "a")["expires_at"] == {"N": "1000061"}


def test_the_largest_value_fits_into_an_item_and_a_larger_one_is_not_sent(ports):
    ports.cache.put({"1.record." + "f" * 64: bytes(LARGEST), "too large": bytes(LARGEST + 1)}, 60)
    assert item(ports, "1.record." + "f" * 64)
    assert item(ports, "too large") is None


class Client:
    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def batch_get_item(self, **request):
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    batch_write_item = batch_get_item


def cache(answer):
    client = Client(answer)
    return DynamoCache(client, "kept", Clock(100.0)), client


def test_what_dynamodb_did_not_read_is_not_waited_for():
    one = {"entry": {"S": "a"}, "value": {"B": b"one"}, "stored": {"N": "90"}, "ends": {"N": "150"}}
    made, client = cache({"Responses": {"kept": [one]}, "UnprocessedKeys": {"kept": {"Keys": [{"entry": {"S": "b"}}]}}})
    held = made.get(["a", "b"])
    assert {key: (each.value, each.age_s) for key, each in held.items()} == {"a": (b"one", 10)}
    assert len(client.asked) == 1


def test_a_table_that_is_asked_too_much_is_not_pressed():
    made, client = cache({"UnprocessedItems": {"kept": [{}]}})
    made.put({str(number): b"" for number in range(100)}, 60)
    assert len(client.asked) == 1


@pytest.mark.parametrize(
    "failure",
    [
        ClientError({"Error": {"Code": "ProvisionedThroughputExceededException"}}, "BatchGetItem"),
        ReadTimeoutError(endpoint_url="https://dynamodb"),
    ],
)
def test_a_failure_is_the_stores_and_names_nothing(failure):
    made, _ = cache(failure)
    for use in (lambda: made.get(["a"]), lambda: made.put({"a": b""}, 60)):
        with pytest.raises(StoreFailed) as raised:
            use()
        assert "cached answers" in str(raised.value)
        assert "https" not in str(raised.value)
