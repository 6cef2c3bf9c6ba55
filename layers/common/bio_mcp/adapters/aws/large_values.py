"""The large part of an item: in the item, or in the bucket where DynamoDB's 400 KB would not hold it."""

from typing import Any

from bio_mcp.adapters.aws.dynamodb import Item
from bio_mcp.errors import NotFound, StoreFailed
from bio_mcp.ports.stores import Blobs

INLINE = 350 * 1024  # bytes that an item carries itself; what else stands in it is small
BODY, KEY = "body", "body_key"


class LargeValues:
    """Puts bodies into items and finds them again. `folder` is theirs in the bucket, and must not expire there.

    A body in the bucket is written before the item that names it, and stays when the item goes on to another.
    """

    def __init__(self, blobs: Blobs, folder: str) -> None:
        self._blobs = blobs
        self._folder = folder

    def attributes(self, body: bytes) -> dict[str, Any]:
        """What the item has to hold: always both attributes, so that an update leaves none of an earlier body."""
        if len(body) <= INLINE:
            return {BODY: {"B": body}, KEY: {"NULL": True}}
        return {BODY: {"NULL": True}, KEY: {"S": self._blobs.put(self._folder, body)}}

    def of(self, item: Item) -> bytes:
        """The body of an item that was read with both attributes."""
        inline = item[BODY].get("B")
        if inline is not None:
            return bytes(inline)
        try:
            return self._blobs.get(item[KEY]["S"])
        except NotFound as error:
            raise StoreFailed(
                "A stored record has lost its text in the bucket; import or sync it again.", retryable=False
            ) from error
