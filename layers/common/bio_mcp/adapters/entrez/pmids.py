"""PMIDs as request parameters."""

from collections.abc import Iterable, Iterator, Sequence

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import bare_pmid


def checked(pmids: Iterable[str], at_most: int | None = None) -> list[str]:
    """`pmids` without duplicates, in order. Raises `InvalidInput` for none, too many, and what is not a PMID."""
    ids = list(dict.fromkeys(bare_pmid(pmid.strip()) for pmid in pmids))
    if not ids:
        raise InvalidInput("no PMIDs were given; give at least one")
    if at_most is not None and len(ids) > at_most:
        raise InvalidInput(f"{len(ids)} PMIDs are too many for one request; ask for at most {at_most}")
    return ids


def batches(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Split `ids` into runs of at most `size`."""
    return (ids[start : start + size] for start in range(0, len(ids), size))
