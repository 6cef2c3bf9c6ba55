"""Papers as they were before they were revised: an item for each paper in the table of papers, with its last versions.

It is written in one transaction with the paper that replaces the newest of them, so no version that was stored is
missing and none is there that was not.
"""

from collections.abc import Callable, Mapping
from typing import Any

from bio_mcp.adapters.aws.dynamodb import Item
from bio_mcp.adapters.aws.large_values import BODY, KEY, LargeValues
from bio_mcp.adapters.papers import OLD_VERSIONS
from bio_mcp.ports.stores import Blobs

VERSIONS = "versions"
INLINE = 350 * 1024 // OLD_VERSIONS  # bytes of each version in the item


class OldVersions:
    """Their items begin with #, as those of counters do. Bodies that are too long are in `folder` of the bucket."""

    def __init__(self, blobs: Callable[[], Blobs], folder: str) -> None:
        self._bodies = LargeValues(blobs, folder, inline=INLINE)

    def with_replaced(self, old: Item, replaced: Item) -> dict[str, Any]:
        """The item to be stored when the paper `replaced` is: it is added to what `old` has, for its latest versions.

        `old` is empty where there is none; `replaced` has content hash, version and body.
        """
        inline = replaced[BODY].get("B")
        body = {name: replaced[name] for name in (BODY, KEY)} if inline is None else self._bodies.attributes(inline)
        added = {name: replaced[name] for name in ("version", "content_hash")} | body
        latest = sorted([added, *_versions(old)], key=_number, reverse=True)[:OLD_VERSIONS]
        return {**old_key(replaced["pmid"]["S"]), VERSIONS: {"L": [{"M": each} for each in latest]}}

    def found(self, version: int, paper: Item, old: Item) -> tuple[str, bytes] | None:
        """Content hash and body of a version, from a paper's own item or from that of its old versions."""
        for each in (paper, *_versions(old)):
            if _number(each) == version:
                return str(each["content_hash"]["S"]), self._bodies.of(each)
        return None


def old_key(pmid: str) -> dict[str, Any]:
    """The key of the item of a paper's old versions."""
    return {"pmid": {"S": f"#old {pmid}"}}


def _versions(item: Item) -> list[Mapping[str, Any]]:
    return [each["M"] for each in item[VERSIONS]["L"]] if VERSIONS in item else []


def _number(version: Mapping[str, Any]) -> int:
    return int(version["version"]["N"])
