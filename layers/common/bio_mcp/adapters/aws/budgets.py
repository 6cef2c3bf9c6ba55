"""Budgets, in a DynamoDB table.

What an account has used of a unit in a period is an item of its own, which DynamoDB removes when the period is over.
Charges are made one after the other, each by a conditional update; where one is refused, those before it are given
back. Between the two, another call may be refused for what is given back: no budget is ever exceeded, and a process
that dies there leaves a charge until its period ends. A transaction would cost twice as much, fail where many callers
of a tenant meet, and not say what is left.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, item_key
from bio_mcp.adapters.aws.failures import Contended, reaching
from bio_mcp.adapters.retry import retry
from bio_mcp.ports.budgets import Allowance, Charge

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "budgets"
SWEPT_S = 3_600  # an item is removed this long after its period


@dataclass(frozen=True, slots=True)
class _Period:
    """The period of a charge that `now` is in; times are seconds since 1970."""

    charge: Charge
    now: float

    @property
    def starts(self) -> int:
        return int(self.now // self.charge.seconds) * self.charge.seconds

    @property
    def ends(self) -> int:
        return self.starts + self.charge.seconds

    @property
    def key(self) -> dict[str, Any]:
        return item_key(self.charge.account, f"{self.charge.unit} {self.charge.seconds} {self.starts}")

    def allowance(self, granted: bool, used: int) -> Allowance:
        return Allowance(self.charge, granted, max(0, self.charge.most - used), self.ends - self.now)


class DynamoBudgets:
    """The port `Budgets` over one table (key: name, item). `clock` returns seconds since 1970 and must agree
    everywhere.
    """

    def __init__(self, client: "DynamoDBClient", table: str, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def spend(self, charges: Sequence[Charge]) -> list[Allowance]:
        now = self._clock()
        periods = [_Period(charge, now) for charge in charges]
        spent: list[int] = []
        for number, period in enumerate(periods):
            granted, used = self._charged(period)
            if not granted:
                back = [self._add(each, -each.charge.amount)[1] for each in periods[:number]]
                rest = [self._used(each) for each in periods[number + 1 :]]
                every = zip(periods, [*back, used, *rest], strict=True)
                return [each.allowance(granted=False, used=left) for each, left in every]
            spent.append(used)
        return [each.allowance(granted=True, used=used) for each, used in zip(periods, spent, strict=True)]

    def _charged(self, period: _Period) -> tuple[bool, int]:
        """Charge it if there is room; returns whether there was, and what is used now."""
        charge = period.charge
        room = charge.most - charge.amount
        unused = "attribute_not_exists(#used) OR " if room >= 0 else ""
        return self._add(period, charge.amount, f"{unused}#used <= :room", {":room": {"N": str(room)}})

    def _add(
        self, period: _Period, amount: int, condition: str = "", values: dict[str, Any] | None = None
    ) -> tuple[bool, int]:
        update = partial(self._update, period, amount, condition, values or {})
        return retry(update, worth=Contended, backoff=BACKOFF)

    def _update(self, period: _Period, amount: int, condition: str, values: dict[str, Any]) -> tuple[bool, int]:
        only: dict[str, Any] = {"ConditionExpression": condition} if condition else {}
        with reaching(WHAT):
            try:
                item: Item = self._client.update_item(
                    TableName=self._table,
                    Key=period.key,
                    UpdateExpression="SET #expires = :expires ADD #used :amount",
                    ExpressionAttributeNames={"#used": "used", "#expires": "expires_at"},
                    ExpressionAttributeValues={
                        ":amount": {"N": str(amount)},
                        ":expires": {"N": str(period.ends + SWEPT_S)},
                        **values,
                    },
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **only,
                )["Attributes"]
            except self._client.exceptions.ConditionalCheckFailedException as refused:
                reply: Any = refused.response
                return False, _used(reply.get("Item", {}))
        return True, _used(item)

    def _used(self, period: _Period) -> int:
        with reaching(WHAT):
            found = self._client.get_item(TableName=self._table, Key=period.key, ConsistentRead=True)
        return _used(found.get("Item", {}))


def _used(item: Item) -> int:
    return int(item["used"]["N"]) if "used" in item else 0
