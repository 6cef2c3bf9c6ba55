"""News of the corpus, as events on an EventBridge bus."""

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from bio_mcp.adapters.aws.dynamodb import Sleep, pause
from bio_mcp.adapters.aws.failures import code_of
from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.changes import CorpusChange

if TYPE_CHECKING:
    from mypy_boto3_events.client import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

SOURCE = "bio-mcp"
AT_ONCE = 10  # entries of one PutEvents; at some 200 bytes each they are far from its 256 KB
TRIES = 6  # of entries that the bus did not take, waiting twice as long each time


class EventBridgeAnnouncements:
    """The port `Announcements`: an event for each piece of news, of detail type `corpus.new` and so on.

    Its detail is `{"doc_id", "pmid", "version"}`, which together with the detail type tell doubles apart.
    """

    def __init__(self, client: "EventBridgeClient", bus: str, sleep: Sleep = time.sleep) -> None:
        self._client = client
        self._bus = bus
        self._sleep = sleep

    def publish(self, news: Sequence[CorpusChange]) -> None:
        entries = [self._entry(each) for each in news]
        for start in range(0, len(entries), AT_ONCE):
            self._put(entries[start : start + AT_ONCE])

    def _put(self, left: "list[PutEventsRequestEntryTypeDef]") -> None:
        """Put the entries, and once more those that the bus did not take: which they are, it says of each."""
        for attempt in range(TRIES):
            try:
                taken = self._client.put_events(Entries=left)["Entries"]
            except ClientError as error:
                problem = code_of(error)
                break
            except BotoCoreError as error:
                problem = type(error).__name__
                break
            refused = [each["ErrorCode"] for each in taken if "ErrorCode" in each]
            left = [entry for entry, answer in zip(left, taken, strict=True) if "ErrorCode" in answer]
            if not left:
                return
            problem = refused[0]
            pause(attempt, self._sleep)
        raise UpstreamFailed(
            f"Changes of the corpus could not be announced on the event bus ({problem}). They are safe, and are "
            "announced by the next run."
        )

    def _entry(self, news: CorpusChange) -> "PutEventsRequestEntryTypeDef":
        detail = {"doc_id": f"pmid:{news.pmid}", "pmid": news.pmid, "version": news.version}
        return {
            "EventBusName": self._bus,
            "Source": SOURCE,
            "DetailType": f"corpus.{news.kind}",
            "Detail": json.dumps(detail),
        }
