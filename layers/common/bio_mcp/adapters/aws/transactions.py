"""Transactions of DynamoDB: several writes that are made together or not at all."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.failures import BUSY, TOO_LARGE, Contended
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.errors import StoreFailed

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

ACTIONS = 100  # of a transaction
MAX_BYTES = 3_500_000  # a transaction is limited to 4 MB
PASSING = {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}


def transact(client: "DynamoDBClient", actions: Sequence[Any], what: str, backoff: Backoff) -> list[int]:
    """Make all the writes, and return nothing; or none of them, and return which by number have a condition that does
    not hold.

    A conflict with another transaction is tried again. Raises `Contended` when that did not help, and `StoreFailed`
    about the store of `what` for an item that is too large.
    """
    return retry(partial(_refused, client, actions, what), worth=Contended, backoff=backoff)


def _refused(client: "DynamoDBClient", actions: Sequence[Any], what: str) -> list[int]:
    try:
        client.transact_write_items(TransactItems=actions)
    except client.exceptions.TransactionCanceledException as error:
        codes = [reason.get("Code") for reason in _reasons(error)]
        refused = [number for number, code in enumerate(codes) if code == "ConditionalCheckFailed"]
        if refused:
            return refused
        if PASSING & set(codes):
            raise Contended(BUSY.format(what=what)) from error
        if "ValidationError" in codes:
            raise StoreFailed(TOO_LARGE.format(what=what), retryable=False) from error
        raise
    return []


def _reasons(error: Any) -> list[dict[str, Any]]:
    reasons: list[dict[str, Any]] = error.response.get("CancellationReasons", [])
    return reasons
