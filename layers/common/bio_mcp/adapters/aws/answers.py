"""Answers that were given, in a DynamoDB table.

An answer is an item in a partition of its own. Each paper that it cites has an item that names the answer, and one
that is flagged is named in a partition of the flagged ones, in the order of time. Items that name an answer are written
before what they tell of: a write that was killed leaves no answer that no retraction finds, and its repetition
completes it.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.batch_writes import batch_write
from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, batch_get, item_key, partition
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.retry import Backoff
from bio_mcp.errors import NotFound
from bio_mcp.literature.citations import CitedSpan
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.answers import StoredAnswer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "answers"
LIFETIME_S = 730 * 86_400  # an answer expires this long after it was given
ATTRIBUTES = ("body", "asked", "flagged")
FLAGGED = "flagged"  # the partition of the answers that are flagged


class DynamoAnswers:
    """The port `Answers` over one table (key: name, item)."""

    def __init__(self, client: "DynamoDBClient", table: str, backoff: Backoff = BACKOFF) -> None:
        self._client = client
        self._table = table
        self._backoff = backoff

    def put(self, answer: StoredAnswer) -> None:
        asked = sortable(answer.asked)
        naming = [_named(_paper(pmid), answer.answer_id, asked) for pmid in {span.pmid for span in answer.spans}]
        naming += [_as_flagged(answer, asked)] if answer.flagged else []
        item = {**item_key(_answer(answer.answer_id), "answer"), **_body(answer, asked)}
        with reaching(WHAT):
            batch_write(self._client, self._table, [{"PutRequest": {"Item": each}} for each in naming], self._backoff)
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item=item,
                    ConditionExpression="attribute_not_exists(#name)",
                    ExpressionAttributeNames={"#name": "name"},
                )
            except self._client.exceptions.ConditionalCheckFailedException:
                return  # it keeps its first time and its flags

    def get(self, answer_id: str) -> StoredAnswer:
        with reaching(WHAT):
            found = self._answers([answer_id])
        if answer_id not in found:
            raise NotFound(f"There is no answer {answer_id!r}; answers are stored for two years")
        return found[answer_id]

    def citing(self, pmid: str) -> list[StoredAnswer]:
        with reaching(WHAT):
            named = [item["item"]["S"] for item in partition(self._client, self._table, _paper(pmid))]
            return sorted(self._answers(named).values(), key=lambda each: each.answer_id)

    def flag(self, answer_ids: Sequence[str], pmid: str) -> None:
        with reaching(WHAT):
            for answer in self._answers(answer_ids).values():
                if any(span.pmid == pmid for span in answer.spans):
                    self._flag(answer, pmid)

    def flagged(self, limit: int) -> list[StoredAnswer]:
        with reaching(WHAT):
            items = partition(self._client, self._table, FLAGGED, newest_first=True, limit=limit)
            named = [item["answer_id"]["S"] for item in items]
            found = self._answers(named)
        return [found[each] for each in named if each in found and found[each].flagged]

    def _flag(self, answer: StoredAnswer, pmid: str) -> None:
        self._client.put_item(TableName=self._table, Item=_as_flagged(answer, sortable(answer.asked)))
        self._client.update_item(
            TableName=self._table,
            Key=item_key(_answer(answer.answer_id), "answer"),
            UpdateExpression="ADD #flagged :pmid",
            ExpressionAttributeNames={"#flagged": "flagged"},
            ExpressionAttributeValues={":pmid": {"SS": [pmid]}},
        )

    def _answers(self, answer_ids: Sequence[str]) -> dict[str, StoredAnswer]:
        keys = [item_key(_answer(each), "answer") for each in dict.fromkeys(answer_ids)]
        found = batch_get(self._client, self._table, keys, ATTRIBUTES, self._backoff)
        answers = [_answer_of(item) for item in found]
        return {each.answer_id: each for each in answers}


def _named(name: str, item: str, asked: str) -> dict[str, Any]:
    return {**item_key(name, item), "expires_at": _expiry(asked)}


def _as_flagged(answer: StoredAnswer, asked: str) -> dict[str, Any]:
    return _named(FLAGGED, f"{asked} {answer.answer_id}", asked) | {"answer_id": {"S": answer.answer_id}}


def _answer(answer_id: str) -> str:
    return f"answer {answer_id}"


def _paper(pmid: str) -> str:
    return f"paper {pmid}"


def _expiry(asked: str) -> dict[str, str]:
    return {"N": str(int(datetime.fromisoformat(asked).timestamp()) + LIFETIME_S)}


def _body(answer: StoredAnswer, asked: str) -> dict[str, Any]:
    row = {
        "answer_id": answer.answer_id,
        "question": answer.question,
        "text": answer.text,
        "spans": [asdict(span) for span in answer.spans],
        "confidence": answer.confidence,
    }
    flags = {span.pmid for span in answer.spans} & set(answer.flagged)
    flagged: dict[str, Any] = {"flagged": {"SS": sorted(flags)}} if flags else {}
    packed = zlib.compress(json.dumps(row).encode())
    return {"body": {"B": packed}, "asked": {"S": asked}, "expires_at": _expiry(asked), **flagged}


def _answer_of(item: Item) -> StoredAnswer:
    row: Mapping[str, Any] = json.loads(zlib.decompress(item["body"]["B"]))
    return StoredAnswer(
        row["answer_id"],
        row["question"],
        row["text"],
        tuple(CitedSpan(**span) for span in row["spans"]),
        row["confidence"],
        datetime.fromisoformat(item["asked"]["S"]),
        tuple(sorted(item["flagged"]["SS"], key=int)) if "flagged" in item else (),
    )
