"""Which records of which file are applied, so that files may be applied in any order and many at a time.

A PMID that several records have is decided here, as applying the files one after the other would decide it: the record
that would stand in the end is applied, all others are left out. So no two files ever write one paper.

NLM's records say when they were revised. One that does not counts as newer than what came before it.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bio_mcp.syncing.loading.listing import DELETION, Listing
from bio_mcp.syncing.revisions import is_older


@dataclass(frozen=True, slots=True)
class _Word:
    """The record of a paper that stands so far: where it is, and what a later one is compared with."""

    file: int
    position: int
    deleted: bool
    pmid_version: int
    date_revised: int | None


def left_out(names: Sequence[str], read: Callable[[str], Listing]) -> list["array[int]"]:
    """The positions of the records that are not applied, ascending, for each file of `names`, which are in order.

    `read` is called twice for each. All of PubMed takes some 200 bytes of memory for each PMID that several records
    have, and 8 for each other record. An odd record is not among the positions: nobody applies it anyway.
    """
    several = _repeated([read(name)["pmid"] for name in names])
    latest: dict[int, _Word] = {}
    superseded = [array("I") for _ in names]
    for file, name in enumerate(names):
        listing = read(name)
        for position in np.flatnonzero(_among(listing["pmid"], several)).tolist():
            _, version, revised, kind = entry = listing[position].item()
            word = _Word(file, position, kind == DELETION, version, revised or None)
            loser = _loser(latest.get(entry[0]), word)
            if loser is not word:
                latest[entry[0]] = word
            if loser:
                superseded[loser.file].append(loser.position)
    return [array("I", sorted(positions)) for positions in superseded]


def _loser(known: _Word | None, later: _Word) -> _Word | None:
    """Which of two records is not applied; None where there is one alone."""
    if known is None or known.deleted or later.deleted:
        return known
    return later if is_older(later, known) else known


def _repeated(pmids: Sequence[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    """The PMIDs that more than one record has, ascending."""
    every = np.sort(np.concatenate([np.zeros(0, dtype=np.uint32), *pmids]))
    again = every[1:][every[1:] == every[:-1]]
    return np.unique(again[again > 0])


def _among(pmids: NDArray[np.uint32], several: NDArray[np.uint32]) -> NDArray[np.bool_]:
    if not len(several):
        return np.zeros(len(pmids), dtype=np.bool_)
    places = np.minimum(np.searchsorted(several, pmids), len(several) - 1)
    return np.asarray(several[places] == pmids)
