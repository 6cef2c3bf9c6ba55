"""How often each document has each term, as columns of index rows."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

MAX_FREQUENCY = 0xFFFF


def term_counts(numbers: NDArray[np.int64], lengths: Sequence[int]) -> list[tuple[bytes, bytes]]:
    """For each document its distinct terms, ascending (uint32), and how often it has each (uint16, at most
    `MAX_FREQUENCY`).

    `numbers` are those of the terms of all documents, one after the other; `lengths` says how many each document has.
    """
    documents = np.repeat(np.arange(len(lengths)), lengths)
    keys, counts = np.unique(documents << 32 | numbers, return_counts=True)
    bounds = np.searchsorted(keys, np.arange(len(lengths) + 1) << 32).tolist()
    terms, frequencies = keys.astype("<u4"), np.minimum(counts, MAX_FREQUENCY).astype("<u2")
    return [(terms[a:b].tobytes(), frequencies[a:b].tobytes()) for a, b in pairwise(bounds)]
