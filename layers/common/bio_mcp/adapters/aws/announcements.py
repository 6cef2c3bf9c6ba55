"""Announcements of corpus changes as events on an EventBridge bus."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from bio_mcp.adapters.aws.failures import code_of
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.changes import CorpusChange

if TYPE_CHECKING:
    from mypy_boto3_events.client import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

SOURCE = "bio-mcp"
NOT_ANNOUNCED = (
    "Changes of the corpus could not be announced on the event bus ({problem}). They are safe, and are "
    "announced by the next run."
)
AT_ONCE = 10  # entries of one PutEvents; at some 200 bytes each they are far from its 256 KB
BACKOFF = Backoff(tries=6, first_s=0.05, jitter=0.5)  # of entries that the bus did not take: 1.5 s in all


class _Rejected(UpstreamFailed):
    """The bus rejected some of the entries."""


class EventBridgeAnnouncements:
    """The port `Announcements`: one event per change, of detail type `corpus.new` and so on.

    Its detail is `{"doc_id", "pmid", "version"}`; together with the detail type it identifies duplicates.
    """

    def __init__(self, client: "EventBridgeClient", bus: str, backoff: Backoff = BACKOFF) -> None:
        self._client = client
        self._bus = bus
        self._backoff = backoff

    def publish(self, changes: Sequence[CorpusChange]) -> None:
        entries = [self._entry(change) for change in changes]
        for start in range(0, len(entries), AT_ONCE):
            self._put(entries[start : start + AT_ONCE])

    def _put(self, left: "list[PutEventsRequestEntryTypeDef]") -> None:
        """Put the entries, and put again those that the bus rejected: its answer says which ones."""

        def put() -> None:
            codes = self._answers(left)
            left[:] = [entry for entry, code in zip(left, codes, strict=True) if code]
            if left:
                raise _Rejected(NOT_ANNOUNCED.format(problem=next(filter(None, codes))))

        retry(put, worth=_Rejected, backoff=self._backoff)

    def _answers(self, entries: "Sequence[PutEventsRequestEntryTypeDef]") -> list[str | None]:
        """The error code of each rejected entry; None for an accepted one."""
        try:
            answers = self._client.put_events(Entries=entries)["Entries"]
        except ClientError as error:
            raise UpstreamFailed(NOT_ANNOUNCED.format(problem=code_of(error))) from None
        except BotoCoreError as error:
            raise UpstreamFailed(NOT_ANNOUNCED.format(problem=type(error).__name__)) from None
        return [answer.get("ErrorCode") for answer in answers]

    def _entry(self, change: CorpusChange) -> "PutEventsRequestEntryTypeDef":
        detail = {"doc_id": f"pmid:{change.pmid}", "pmid": change.pmid, "version": change.version}
        return {
            "EventBusName": self._bus,
            "Source": SOURCE,
            "DetailType": f"corpus.{change.kind}",
            "Detail": json.dumps(detail),
        }
