"""The windows of the index as growable columns: vectors, bytes or both, by how many there are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.growable import GrowableArray
from bio_mcp.adapters.embedded.postings import Rows
from bio_mcp.adapters.embedded.quantising import Matrix, Quantiser, rounded
from bio_mcp.adapters.embedded.signs import HALF
from bio_mcp.adapters.embedded.windows import COHERENT, SPREAD_STEPS, WindowCodes, Windows, centre_codes

EXACT = 6_144
IN_MEMORY = 1 << 18  # 60,000 papers, 0.4 GB
GROWTH = 4  # axes and steps are learned anew when the corpus has so many times the windows that it had

CODES = ("sketches", "tails", "centres", "signs", "other_signs")
SAVED = ("starts", "matrix", *CODES)
LEARNED = ("axes", "steps", "along")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Up to `exact` windows each question is compared with all of them; beyond `in_memory` their vectors are read from
    the corpus file."""

    exact: int = EXACT
    in_memory: int = IN_MEMORY


class WindowColumns:
    """A row's windows are those from its place in `starts` to the next one's.

    With a quantiser there are codes of each and a centre per row. `in_memory` tells whether there are vectors, too;
    without a quantiser there must be.
    """

    def __init__(self, dim: int, sizes: Sizes, quantiser: Quantiser | None = None, *, in_memory: bool = True) -> None:
        self._sizes, self._quantiser, self._in_memory = sizes, quantiser, in_memory
        self._starts: GrowableArray[np.int64] = GrowableArray(np.int64)
        self._starts.append(np.zeros(1, np.int64))
        self._matrix: GrowableArray[np.float32] = GrowableArray(np.float32, dim)
        sketched = quantiser.sketched if quantiser else 0
        self._sketches: GrowableArray[np.int8] = GrowableArray(np.int8, sketched)
        self._tails: GrowableArray[np.int8] = GrowableArray(np.int8, dim - sketched)
        self._centres: GrowableArray[np.int8] = GrowableArray(np.int8, sketched)
        self._signs: GrowableArray[np.uint64] = GrowableArray(np.uint64, HALF)
        self._other_signs: GrowableArray[np.uint64] = GrowableArray(np.uint64, HALF)

    @property
    def count(self) -> int:
        """The number of windows."""
        return int(self._starts.view[-1])

    @property
    def coded(self) -> bool:
        """Whether the windows have codes."""
        return self._quantiser is not None

    @property
    def outgrown(self) -> bool:
        """Whether so many windows should be held otherwise, or the codes were learned from far fewer."""
        if self._quantiser is None:
            return self.count > self._sizes.exact
        return self.count > GROWTH * self._quantiser.windows or (self._in_memory and self.count > self._sizes.in_memory)

    def reserve(self, rows: int, windows: int) -> None:
        """Allocate capacity."""
        self._starts.reserve(rows + 1)
        if self._in_memory:
            self._matrix.reserve(windows)
        if self._quantiser is not None:
            self._sketches.reserve(windows)
            self._tails.reserve(windows)
            self._centres.reserve(rows)
            self._signs.reserve(rows)
            self._other_signs.reserve(rows)

    def append(self, counts: NDArray[np.int64], vectors: Matrix) -> None:
        """Append rows that have `counts` windows each, with these vectors."""
        self._starts.append(self._starts.view[-1] + np.cumsum(counts))
        if self._in_memory:
            self._matrix.append(vectors)
        if self._quantiser is None:
            return
        coordinates, sketched = self._quantiser.coordinates(vectors), self._quantiser.sketched
        codes = rounded(coordinates)
        self._sketches.append(codes[:, :sketched])
        self._tails.append(codes[:, sketched:])
        self._centres.append(centre_codes(coordinates[:, :sketched], self._quantiser.steps, counts))
        signs = self._quantiser.centre_signs(coordinates, counts)
        self._signs.append(signs[:, :HALF])
        self._other_signs.append(signs[:, HALF:])

    def view(self, pmids: NDArray[np.int64], live: Rows, dead: Rows) -> Windows:
        """The windows as they are now, of rows with these PMIDs."""
        codes = None
        if self._quantiser is not None:
            spread = self._centres.view[:, -1]
            coherent = not len(spread) or float(spread.mean()) <= COHERENT * SPREAD_STEPS
            columns = {name: getattr(self, f"_{name}").view for name in CODES}
            codes = WindowCodes(self._quantiser, coherent=coherent, **columns)
        return Windows(pmids, self._starts.view, live, dead, self._matrix.view, codes, self._in_memory)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state to save, of windows that have codes: metadata, and arrays by name."""
        if self._quantiser is None:
            return {}, {}
        arrays = {name: getattr(self, f"_{name}").view for name in SAVED}
        arrays |= {name: getattr(self._quantiser, name) for name in LEARNED}
        return {"learned_from": self._quantiser.windows, "in_memory": self._in_memory}, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, tuple[NDArray[Any], int]], sizes: Sizes) -> "WindowColumns":
        """Rebuild the columns from `state`."""
        axes, steps, along = (array[:size] for array, size in (arrays[name] for name in LEARNED))
        quantiser = Quantiser(axes, steps, along, about["learned_from"])
        columns = WindowColumns(len(axes), sizes, quantiser, in_memory=about["in_memory"])
        for name in SAVED:
            setattr(columns, f"_{name}", GrowableArray.over(*arrays[name]))
        return columns
