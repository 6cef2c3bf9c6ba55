"""PMIDs as integers, as the stores of papers compare and sort them."""

from collections.abc import Iterable

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import is_pmid


def number(pmid: str) -> int | None:
    """The PMID as an integer; None for what is not one in its normal form ("abc", "007")."""
    return int(pmid) if is_pmid(pmid) else None


def numbers(pmids: Iterable[str]) -> list[int]:
    """Those of `pmids` that are PMIDs; each once, in ascending order."""
    return sorted({int(pmid) for pmid in pmids if is_pmid(pmid)})


def key(pmid: str) -> int:
    """The PMID as an integer. Raises `InvalidInput` for what is not one in its normal form."""
    if not is_pmid(pmid):
        raise InvalidInput(f"{pmid!r} is not a PMID: digits only, no leading zero")
    return int(pmid)
