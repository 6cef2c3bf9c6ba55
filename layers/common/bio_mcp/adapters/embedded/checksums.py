"""A CRC-32 beside every row that the index is made of: damage that SQLite cannot see is found when a row is read."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

from bio_mcp.errors import IndexUnavailable

# texts as bytes: a damaged one may not be text any more
ENTRY = (
    "pmid, version, change, year, CAST(journal AS BLOB), design, journal_rank, human, CAST(retraction AS BLOB), "
    "length, term_ids, frequencies, facet_ids, windows, CAST(chunk_ids AS BLOB)"
)
NAMED = 5


def entry_checksum(*row: Any) -> int:
    """Of the columns in `ENTRY`; files hold its results, so it never changes."""
    pmid, version, change, year, journal, design, rank, human, retraction, length, *blobs = row
    terms, frequencies, facets, windows, chunk_ids = blobs
    numbers = f"{pmid} {version} {change} {year} {design} {rank} {human} {length} {windows}"
    crc = crc32(journal or b"", crc32(numbers.encode()))
    for blob in (retraction, terms, frequencies, facets, chunk_ids):
        crc = crc32(blob, crc)
    return crc


def is_entry(row: Sequence[Any], checksum: Any) -> bool:
    """Whether `row`, the columns in `ENTRY`, is what was written."""
    try:
        return bool(entry_checksum(*row) == checksum)
    except TypeError:  # a column has another type than it was given
        return False


def is_whole(value: Any, checksum: Any) -> bool:
    """Whether these bytes are those that were written."""
    return isinstance(value, bytes) and crc32(value) == checksum


def damaged(pmids: Sequence[object]) -> IndexUnavailable:
    """The failure that names papers whose rows are not what was written, and what mends them."""
    return IndexUnavailable(
        f"The stored passages of PMID {some(pmids)} are damaged: run `bio-mcp reindex`, which makes them again from "
        "the stored papers.",
        retryable=False,
    )


def some(pmids: Sequence[object]) -> str:
    """The first few of many."""
    more = f" and {len(pmids) - NAMED:,} more" if len(pmids) > NAMED else ""
    return ", ".join(map(str, pmids[:NAMED])) + more
