"""Which records of which file are applied, so that files may be applied in any order and many at a time.

A PMID that several records have is decided here, as applying the files one after the other would decide it: the record
that would stand in the end is applied, all others are left out. So no two files ever write one paper. What a file has
is listed record by record, in 11 bytes each.

NLM's records say when they were revised. One that does not counts as newer than what came before it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

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
    return listing.tobytes()


def loads(content: bytes) -> Listing:
    return np.frombuffer(content, dtype=ENTRY)


def _entry(record: Article | Deletion | OddRecord) -> tuple[int, int, int, int]:
    if isinstance(record, Article):
        revised = record.date_revised.toordinal() if record.date_revised else 0
        return int(record.pmid), record.pmid_version, revised, ARTICLE
    return (int(record.pmid), 0, 0, DELETION) if isinstance(record, Deletion) else (0, 0, 0, ODD)


Positions = NDArray[np.uint32]
Read = Callable[[str], Listing]
FOUND = np.dtype([*ENTRY.descr, ("position", "<u4")])
Found = NDArray[np.void]
"""Records of some PMIDs: what a `Listing` says of each, and where in its file it is."""
SHIFT = 16  # 65,536 PMIDs that follow each other are a block
BLOCKS = 1 << 32 - SHIFT
MOST = 8_000_000  # records compared at once, or those of one block
STEP = 1 << 20  # of them that are compared in one go
THREADS, AHEAD = 8, 32  # reading listings


def left_out(names: Sequence[str], read: Read, wanted: Collection[str], most: int = MOST) -> dict[str, Positions]:
    """The positions of the records that are not applied, ascending, of each `wanted` file. `names` are in order.

    `most` records at a time, of PMIDs that follow each other, are compared. `read` is called by several threads, once
    for each file and again whenever the file has some of these PMIDs. An odd record is not among the positions: nobody
    applies it anyway.
    """
    counts = np.zeros(BLOCKS, np.int64)
    blocks = []  # of each file
    for listing in _read_all(names, read):
        found, records = np.unique(listing["pmid"] >> SHIFT, return_counts=True)
        counts[found] += records
        blocks.append(found)
    parts: dict[str, list[Positions]] = {name: [np.zeros(0, np.uint32)] for name in names if name in wanted}
    for first, end in _ranges(counts, most):
        files = [file for file, each in enumerate(blocks) if np.searchsorted(each, end) > np.searchsorted(each, first)]
        some = [names[file] for file in files]
        superseded = _superseded([_between(each, first, end) for each in _read_all(some, read)])
        for name, positions in zip(some, superseded, strict=True):
            if name in parts:
                parts[name].append(positions)
    return {name: np.sort(np.concatenate(each)) for name, each in parts.items()}


def _superseded(files: Sequence[Found]) -> list[Positions]:
    """The positions of what is not applied of these records of each file."""
    found = np.concatenate(files)
    ends = np.cumsum([len(each) for each in files])
    superseded = np.flatnonzero(_losers(found))
    return np.split(found["position"][superseded], np.searchsorted(superseded, ends[:-1]))


def _read_all(names: Sequence[str], read: Read) -> Iterator[Listing]:
    """The listings of the files, in their order, some of them read ahead."""
    with ThreadPoolExecutor(THREADS) as threads:
        for at in range(0, len(names), AHEAD):
            yield from threads.map(read, names[at : at + AHEAD])


def _ranges(counts: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Ranges of blocks that have at most so many records, or of one block: the first, and the one after the last."""
    upto = np.concatenate([[0], np.cumsum(counts)])
    first = 0
    while upto[first] < upto[-1]:
        end = max(first + 1, int(np.searchsorted(upto, upto[first] + most, "right")) - 1)
        if upto[end] > upto[first]:
            yield first, end
        first = end


def _between(listing: Listing, first: int, end: int) -> Found:
    """The records of a file that have PMIDs of these blocks. An odd one has none."""
    blocks = listing["pmid"] >> SHIFT
    positions = np.flatnonzero((blocks >= first) & (blocks < end) & (listing["pmid"] > 0))
    found = np.zeros(len(positions), FOUND)
    for field in ENTRY.names or ():
        found[field] = listing[field][positions]
    found["position"] = positions
    return found


def _losers(found: Found) -> NDArray[np.bool_]:
    """Which records are not applied. The first records of all PMIDs meet the second ones, what stands meets the third
    ones, and so on."""
    loses = np.zeros(len(found), np.bool_)
    order = np.argsort(found["pmid"], kind="stable")
    first = np.flatnonzero(np.diff(found["pmid"][order], prepend=0))  # of each PMID; none is 0
    counts = np.diff(first, append=len(order))
    stands = order[first]
    for nth in range(1, int(counts.max(initial=0))):
        there = np.flatnonzero(counts > nth)
        for some in np.split(there, range(STEP, len(there), STEP)):
            known, later = stands[some], order[first[some] + nth]
            older = _is_older(found[later], found[known])
            loses[np.where(older, later, known)] = True
            stands[some] = np.where(older, known, later)
    return loses


def _is_older(later: Found, known: Found) -> NDArray[np.bool_]:
    """Which of `later` are left out for what is known, as `syncing.applying.revise` says of one. A deletion is not,
    and takes back whatever it meets."""
    same = later["version"] == known["version"]
    dated = (later["revised"] > 0) & (known["revised"] > 0)
    older = np.where(same, dated & (later["revised"] < known["revised"]), later["version"] < known["version"])
    return np.asarray(older & (later["kind"] != DELETION) & (known["kind"] != DELETION))
