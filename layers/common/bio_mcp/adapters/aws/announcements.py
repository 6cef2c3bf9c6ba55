"""News of the corpus, as events on an EventBridge bus."""

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


class _NotTaken(UpstreamFailed):
    """The bus answered, and did not take some of the entries."""


class EventBridgeAnnouncements:
    """The port `Announcements`: an event for each piece of news, of detail type `corpus.new` and so on.

    Its detail is `{"doc_id", "pmid", "version"}`, which together with the detail type tell doubles apart.
    """

    def __init__(self, client: "EventBridgeClient", bus: str, backoff: Backoff = BACKOFF) -> None:
        self._client = client
        self._bus = bus
        self._backoff = backoff

    def publish(self, news: Sequence[CorpusChange]) -> None:
        entries = [self._entry(each) for each in news]
        for start in range(0, len(entries), AT_ONCE):
            self._put(entries[start : start + AT_ONCE])

    def _put(self, left: "list[PutEventsRequestEntryTypeDef]") -> None:
        """Put the entries, and once more those that the bus did not take: which they are, it says of each."""

        def put() -> None:
            codes = self._answers(left)
            left[:] = [entry for entry, code in zip(left, codes, strict=True) if code]
            if left:
                raise _NotTaken(NOT_ANNOUNCED.format(problem=next(filter(None, codes))))

        retry(put, worth=_NotTaken, backoff=self._backoff)

    def _answers(self, entries: "Sequence[PutEventsRequestEntryTypeDef]") -> list[str | None]:
        """Why each entry was not taken; None where it was."""
        try:
            answers = self._client.put_events(Entries=entries)["Entries"]
        except ClientError as error:
            raise UpstreamFailed(NOT_ANNOUNCED.format(problem=code_of(error))) from None
        except BotoCoreError as error:
            raise UpstreamFailed(NOT_ANNOUNCED.format(problem=type(error).__name__)) from None
        return [each.get("ErrorCode") for each in answers]

    def _entry(self, news: CorpusChange) -> "PutEventsRequestEntryTypeDef":
        detail = {"doc_id": f"pmid:{news.pmid}", "pmid": news.pmid, "version": news.version}
        return {
            "EventBusName": self._bus,
            "Source": SOURCE,
            "DetailType": f"corpus.{news.kind}",
            "Detail": json.dumps(detail),
        }
