"""What a file of PubMed has, record by record, in 11 bytes each: enough to know which file has a paper's last word."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bio_mcp.literature.medline import OddRecord
from bio_mcp.literature.records import Article, Deletion
from bio_mcp.syncing.importing import odd_if_endless

ODD, ARTICLE, DELETION = 0, 1, 2
ENTRY = np.dtype([("pmid", "<u4"), ("version", "<u2"), ("revised", "<u4"), ("kind", "u1")])
Listing = NDArray[np.void]
"""One `ENTRY` a record, in the order of the file. `revised` is a day's ordinal, 0 where the record has none."""


def listing_of(records: Iterable[Article | Deletion | OddRecord]) -> Listing:
    """List the records of a file. Raises what reading them does: half a file is no listing."""
    return np.array([_entry(odd_if_endless(record)) for record in records], dtype=ENTRY)


def dumps(listing: Listing) -> bytes:
    """The listing as bytes."""
    return listing.tobytes()


def loads(content: bytes) -> Listing:
    """The listing that `dumps` wrote."""
    return np.frombuffer(content, dtype=ENTRY)


def _entry(record: Article | Deletion | OddRecord) -> tuple[int, int, int, int]:
    if isinstance(record, Article):
        revised = record.date_revised.toordinal() if record.date_revised else 0
        return int(record.pmid), record.pmid_version, revised, ARTICLE
    return (int(record.pmid), 0, 0, DELETION) if isinstance(record, Deletion) else (0, 0, 0, ODD)
