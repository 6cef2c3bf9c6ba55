"""PMIDs as request parameters."""

from collections.abc import Iterable, Iterator, Sequence

from bio_mcp.errors import InvalidInput


def checked(pmids: Iterable[str], at_most: int | None = None) -> list[str]:
    """`pmids` without duplicates, in order. Raises `InvalidInput` for none, too many, and what is not a PMID."""
    ids = list(dict.fromkeys(pmid.strip() for pmid in pmids))
    if not ids:
        raise InvalidInput("no PMIDs were given; give at least one")
    wrong = [pmid for pmid in ids if not (pmid.isascii() and pmid.isdecimal() and 0 < int(pmid) < 10**10)]
    if wrong:
        raise InvalidInput(f"'{wrong[0][:40]}' is not a PMID; a PMID is a number such as 30833575", pmids=wrong[:20])
    if at_most is not None and len(ids) > at_most:
        raise InvalidInput(f"{len(ids)} PMIDs are too many for one request; ask for at most {at_most}")
    return list(dict.fromkeys(str(int(pmid)) for pmid in ids))


def batches(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Split `ids` into runs of at most `size`."""
    return (ids[start : start + size] for start in range(0, len(ids), size))
