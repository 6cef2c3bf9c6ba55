"""What AWS refuses is a failure that says what to do, and names nothing that should stay secret."""

from dataclasses import replace

import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, NoCredentialsError, ParamValidationError

from bio_mcp.adapters.aws.blobs import S3Blobs
from bio_mcp.adapters.aws.clients import reaching
from bio_mcp.adapters.aws.messages import SqsContinuations
from bio_mcp.adapters.aws.state import DynamoCheckpoints, DynamoLeases
from bio_mcp.adapters.aws.table import BACKOFF, Table, plain
from bio_mcp.errors import StoreFailed
from tests.support.aws_ports import client


def error(code, message="arn:aws:dynamodb:eu-central-1:123456789012:table/secret-name"):
    return ClientError({"Error": {"Code": code, "Message": message}}, "GetItem")


def raised(what):
    with pytest.raises(StoreFailed) as failed, reaching("papers"):
        raise what
    return failed.value


@pytest.mark.parametrize(
    ("code", "says", "retryable"),
    [
        ("ProvisionedThroughputExceededException", "busy at the moment", True),
        ("ThrottlingException", "busy at the moment", True),
        ("SlowDown", "busy at the moment", True),
        ("AccessDeniedException", "may not use", False),
        ("ExpiredTokenException", "may not use", True),
        ("ResourceNotFoundException", "does not exist", False),
        ("InternalServerError", "could not be reached", True),
        ("SomethingNew", "could not be reached", True),
    ],
)
def test_what_aws_says_becomes_a_sentence_about_the_store(code, says, retryable):
    failure = raised(error(code))
    assert says in str(failure)
    assert "papers" in str(failure)
    assert failure.retryable is retryable
    assert not {"secret-name", "123456789012", code} & set(str(failure).replace(":", " ").replace("/", " ").split())


def test_missing_credentials_and_an_item_over_the_limit_are_reported_as_such():
    assert "credentials" in str(raised(NoCredentialsError()))
    failure = raised(error("ValidationException", "Item size has exceeded the maximum allowed size"))
    assert ("too large" in str(failure), failure.retryable) == (True, False)


@pytest.mark.parametrize(
    "mistake",
    [error("ValidationException", "Value provided in ExpressionAttributeNames"), ParamValidationError(report="x")],
)
def test_a_mistake_of_ours_stays_what_it_is(mistake):
    with pytest.raises(type(mistake)), reaching("papers"):
        raise mistake


def test_a_store_that_does_not_exist_is_a_failure_and_never_an_empty_answer(ports):
    absent = [
        lambda: DynamoCheckpoints(ports.dynamodb, "no-such-table").get("q"),
        lambda: DynamoLeases(ports.dynamodb, "no-such-table").acquire("n", "me", 60),
        lambda: S3Blobs(client("s3"), "no-such-bucket").put("reports", b"x"),
        lambda: S3Blobs(client("s3"), "no-such-bucket").get(f"reports/{'0' * 64}"),
        lambda: SqsContinuations(client("sqs"), "https://sqs.us-east-1.amazonaws.com/123456789012/none").send({}),
    ]
    for call in absent:
        with pytest.raises(StoreFailed, match="does not exist") as failed:
            call()
        assert "no-such" not in str(failed.value)


def test_a_store_that_is_down_is_a_failure_worth_a_retry(nobody):
    once = Config(connect_timeout=1, retries={"total_max_attempts": 1})
    down = botocore.session.Session().create_client("dynamodb", endpoint_url="http://127.0.0.1:9", config=once)
    with pytest.raises(StoreFailed, match="could not be reached") as failed:
        DynamoCheckpoints(down, "table").get("q")
    assert failed.value.retryable
    assert "127.0.0.1" not in str(failed.value)


class Sparing:
    """A DynamoDB that does `most` of what a batch asks, and leaves the others undone."""

    def __init__(self, most):
        self.most, self.asked, self.made = most, [], []

    def batch_get_item(self, RequestItems):  # noqa: N803  # boto3's name
        [(table, wanted)] = RequestItems.items()
        self.asked.append(len(wanted["Keys"]))
        undone = wanted["Keys"][self.most :]
        return {
            "Responses": {table: wanted["Keys"][: self.most]},
            "UnprocessedKeys": {table: {**wanted, "Keys": undone}} if undone else {},
        }

    def batch_write_item(self, RequestItems):  # noqa: N803  # boto3's name
        [(table, requests)] = RequestItems.items()
        self.made += requests[: self.most]
        return {"UnprocessedItems": {table: requests[self.most :]} if requests[self.most :] else {}}


def test_what_a_batch_left_undone_is_asked_for_until_all_is_done():
    sparing, slept = Sparing(30), []
    of_papers = Table(sparing, "t", "papers", replace(BACKOFF, rng=lambda: 0.5, sleep=slept.append))
    keys = [{"pmid": str(n)} for n in range(250)]
    assert of_papers.batch_get_items(keys, ["pmid"]) == keys
    assert sparing.asked == [100, 70, 40, 10, 100, 70, 40, 10, 50, 20]
    first_s, second_s, third_s = 0.05, 0.1, 0.2
    assert slept == [first_s, second_s, third_s, first_s, second_s, third_s, first_s]
    sparing.most = 10
    of_papers.batch_write_items(deletes=keys)
    assert [plain(each["DeleteRequest"]["Key"]) for each in sparing.made] == keys
