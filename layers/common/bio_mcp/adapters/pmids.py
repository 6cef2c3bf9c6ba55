"""PMIDs as integers, as the stores of papers compare and sort them."""

from collections.abc import Iterable

from bio_mcp.errors import InvalidInput

LONGEST = 15  # digits; PubMed is at eight, SQLite's integers end after eighteen


def number(pmid: str) -> int | None:
    """The PMID as an integer; None for what cannot be one ("abc", "007")."""
    return int(pmid) if pmid.isascii() and pmid.isdigit() and len(pmid) <= LONGEST and str(int(pmid)) == pmid else None


def numbers(pmids: Iterable[str]) -> list[int]:
    """Those of `pmids` that can be one; each once, in ascending order."""
    return sorted({n for pmid in pmids if (n := number(pmid)) is not None})


def key(pmid: str) -> int:
    """The PMID as an integer. Raises `InvalidInput` for what cannot be one."""
    found = number(pmid)
    if found is None:
        raise InvalidInput(f"{pmid!r} is not a PMID: digits only, no leading zero")
    return found
