"""Answers to questions, and cached ones of services, in DynamoDB tables."""

import json
import logging
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from bio_mcp.adapters.aws.clients import reaching
from bio_mcp.adapters.aws.table import AT_ONCE, WRITTEN_AT_ONCE, DynamoStore, attributes, item_key, plain
from bio_mcp.adapters.stored import age_s
from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import sortable
from bio_mcp.literature.records import CitedSpan
from bio_mcp.ports.stores import CacheEntry, StoredAnswer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

LIFETIME_S = 730 * 86_400  # an answer expires this long after it was given
ATTRIBUTES = ("body", "asked", "flagged", "number", "notes")
FLAGGED = "flagged"  # the partition of the answers that are flagged
SEQUENCE = "sequence"  # the item that counts the answers
DIGITS = 12  # of a number, so that names are in the order of numbers


class DynamoAnswers(DynamoStore):
    """The port `Answers` over one table (key: name, item)."""

    WHAT = "answers"

    def put(self, answer: StoredAnswer) -> None:
        """One that is there keeps its number, its first time and its flags."""
        if there := self._answers([answer.answer_id]):
            answer = replace(there[answer.answer_id], flagged=answer.flagged)
        else:
            answer = replace(answer, number=self._table.next_number(item_key(SEQUENCE, SEQUENCE)))
        flagging = _as_flagged(answer)
        expires = {"expires_at": flagging["expires_at"]}
        apart = ("asked", "flagged", "number", "reason", "warnings")
        row = {name: value for name, value in asdict(answer).items() if name not in apart}
        cited = {span.pmid for span in answer.spans}
        item = {"body": zlib.compress(json.dumps(row).encode()), "asked": sortable(answer.asked), **expires}
        item |= {"number": answer.number, "notes": json.dumps([answer.reason, answer.warnings])}
        item |= {"flagged": flags} if (flags := cited & set(answer.flagged)) else {}
        naming = [item_key(f"paper {each}", answer.answer_id) | expires for each in cited]
        naming += [flagging] if answer.flagged else []
        self._table.batch_write_items(naming)
        key = item_key(f"answer {answer.answer_id}", "answer")
        self._table.put_item({**key, **item}, "attribute_not_exists(#name)")

    def get(self, answer_id: str) -> StoredAnswer:
        found = self._answers([answer_id])
        if answer_id not in found:
            raise NotFound(f"There is no answer {answer_id!r}; answers are stored for two years")
        return found[answer_id]

    def citing(self, pmid: str) -> list[StoredAnswer]:
        named = [item["item"] for item in self._table.partition(f"paper {pmid}")]
        return sorted(self._answers(named).values(), key=lambda each: each.answer_id)

    def flag(self, pmid: str) -> None:
        for answer in self.citing(pmid):
            self._table.put_item(_as_flagged(answer))
            key = item_key(f"answer {answer.answer_id}", "answer")
            self._table.update_item(key, "ADD #flagged :pmid", returns=False, pmid={pmid})

    def flagged(self, limit: int) -> list[StoredAnswer]:
        named = [item["answer_id"] for item in self._table.partition(FLAGGED, newest_first=True, limit=limit)]
        found = self._answers(named)
        return [found[each] for each in named if each in found and found[each].flagged]

    def _answers(self, answer_ids: Sequence[str]) -> dict[str, StoredAnswer]:
        keys = [item_key(f"answer {each}", "answer") for each in dict.fromkeys(answer_ids)]
        found = {}
        for item in self._table.batch_get_items(keys, ATTRIBUTES):
            row: dict[str, Any] = json.loads(zlib.decompress(item["body"]))
            row["spans"] = tuple(CitedSpan(**span) for span in row["spans"])
            flagged = tuple(sorted(item.get("flagged", ()), key=int))
            asked, number = datetime.fromisoformat(item["asked"]), item.get("number", 0)
            reason, warnings = json.loads(item.get("notes", '["", []]'))
            found[row["answer_id"]] = StoredAnswer(
                **row, asked=asked, flagged=flagged, number=number, reason=reason, warnings=tuple(warnings)
            )
        return found


def _as_flagged(answer: StoredAnswer) -> dict[str, Any]:
    """The item that names an answer among the flagged: behind all of an earlier version, which begin with their
    time."""
    asked = sortable(answer.asked)
    order = f"n{answer.number:0{DIGITS}}" if answer.number else asked
    expires_at = int(datetime.fromisoformat(asked).timestamp()) + LIFETIME_S
    return {**item_key(FLAGGED, f"{order} {answer.answer_id}"), "answer_id": answer.answer_id, "expires_at": expires_at}


log = logging.getLogger(__name__)

WHAT = "cached answers"
LARGEST = 390_000  # bytes of a value; an item is limited to 400 KB with its key and times
IMPATIENT = Config(  # asking NCBI again costs less than waiting for a cached answer
    connect_timeout=1,
    read_timeout=2,
    retries={"mode": "standard", "total_max_attempts": 2},
    max_pool_connections=16,
    account_id_endpoint_mode="disabled",
)


@dataclass(frozen=True, slots=True)
class DynamoCache:
    """The port `Cache` over one table (key: entry).
    Nothing is retried: an unread value counts as not cached. An expired value is ignored even before DynamoDB removes
    it, which may take days.
    """

    client: "DynamoDBClient"
    table: str
    clock: Callable[[], float] = time.time

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        now, entries = self.clock(), {}
        for start in range(0, len(keys), AT_ONCE):
            batch: list[dict[str, Any]] = [attributes({"entry": key}) for key in keys[start : start + AT_ONCE]]
            with reaching(WHAT):
                answer = self.client.batch_get_item(RequestItems={self.table: {"Keys": batch}})
            for item in map(plain, answer["Responses"].get(self.table, [])):
                age = age_s(item["stored"], item["ends"], now)
                if age is not None:
                    entries[item["entry"]] = CacheEntry(item["value"], age)
        return entries

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        now = float(self.clock())
        times = {"stored": now, "ends": now + lifetime_s, "expires_at": ceil(now + lifetime_s)}
        items = [{"entry": key, "value": value, **times} for key, value in values.items() if len(value) <= LARGEST]
        for start in range(0, len(items), WRITTEN_AT_ONCE):
            part = items[start : start + WRITTEN_AT_ONCE]
            requests: list[Any] = [{"PutRequest": {"Item": attributes(item)}} for item in part]
            with reaching(WHAT):
                answer = self.client.batch_write_item(RequestItems={self.table: requests})
            if undone := answer.get("UnprocessedItems"):
                log.info("%d answers were not cached: the table is throttled", len(undone[self.table]))
                return
