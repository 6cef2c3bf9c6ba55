"""Large attribute values: stored in the item, or in the bucket if they exceed DynamoDB's 400 KB."""

from collections.abc import Callable
from typing import Any

from bio_mcp.adapters.aws.dynamodb import Item
from bio_mcp.errors import NotFound, StoreFailed
from bio_mcp.ports.stores import Blobs

INLINE = 350 * 1024  # bytes stored in the item itself; its other attributes are small
BODY, KEY = "body", "body_key"


class LargeValues:
    """Writes bodies into items and reads them. `blobs` is called for a value that is too long for
    an item, so that the others need no bucket; objects in its `folder` must not expire.

    A body is written to the bucket before the item that names it, and stays when the item names another one. One of up
    to `inline` bytes is in the item. `name` is the attribute: an item may have several.
    """

    def __init__(self, blobs: Callable[[], Blobs], folder: str, name: str = BODY, inline: int = INLINE) -> None:
        self._blobs = blobs
        self._folder = folder
        self._inline = inline
        self._body, self._key = name, f"{name}_key"

    @property
    def names(self) -> tuple[str, str]:
        """The attributes that `of` reads."""
        return self._body, self._key

    def attributes(self, body: bytes) -> dict[str, Any]:
        """The attributes of the item: always both, so that an update removes an earlier body."""
        if len(body) <= self._inline:
            return {self._body: {"B": body}, self._key: {"NULL": True}}
        return {self._body: {"NULL": True}, self._key: {"S": self._blobs().put(self._folder, body)}}

    def of(self, item: Item) -> bytes:
        """The body of an item that was read with both attributes."""
        inline = item[self._body].get("B")
        if inline is not None:
            return bytes(inline)
        try:
            return self._blobs().get(item[self._key]["S"])
        except NotFound as error:
            raise StoreFailed(
                "A stored record has lost its text in the bucket; import or sync it again.", retryable=False
            ) from error
