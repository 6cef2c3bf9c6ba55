"""A CRC-32 beside every row of the index, to detect damage that SQLite cannot see when the row is read."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

from bio_mcp.errors import IndexUnavailable

# texts as bytes: damaged text may not decode
ENTRY = (
    "pmid, version, change, year, CAST(journal AS BLOB), design, journal_rank, human, CAST(retraction AS BLOB), "
    "length, term_ids, frequencies, facet_ids, windows, CAST(chunk_ids AS BLOB)"
)
NAMED = 5


def entry_checksum(*row: Any) -> int:
    """CRC-32 of a row with the columns in `ENTRY`. Files store the result, so it must never change."""
    pmid, version, change, year, journal, design, rank, human, retraction, length, *blobs = row
    terms, frequencies, facets, windows, chunk_ids = blobs
    numbers = f"{pmid} {version} {change} {year} {design} {rank} {human} {length} {windows}"
    crc = crc32(journal or b"", crc32(numbers.encode()))
    for blob in (retraction, terms, frequencies, facets, chunk_ids):
        crc = crc32(blob, crc)
    return crc


def is_intact_entry(row: Sequence[Any], checksum: Any) -> bool:
    """Whether `row`, with the columns in `ENTRY`, matches its checksum."""
    try:
        return bool(entry_checksum(*row) == checksum)
    except TypeError:  # a column has another type than it was given
        return False


def is_intact(value: Any, checksum: Any) -> bool:
    """Whether `value` is bytes matching their CRC-32."""
    return isinstance(value, bytes) and crc32(value) == checksum


def damaged(pmids: Sequence[object]) -> IndexUnavailable:
    """The failure that names papers with damaged index rows and the command that repairs them."""
    return IndexUnavailable(
        f"The stored passages of PMID {abbreviated(pmids)} are damaged: run `bio-mcp reindex`, which rebuilds them "
        "from the stored papers.",
        retryable=False,
    )


def abbreviated(pmids: Sequence[object]) -> str:
    """The first `NAMED` PMIDs, comma-separated, and how many more there are."""
    more = f" and {len(pmids) - NAMED:,} more" if len(pmids) > NAMED else ""
    return ", ".join(map(str, pmids[:NAMED])) + more
