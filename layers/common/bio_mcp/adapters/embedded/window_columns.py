"""The windows of the index as growable columns: vectors, bytes or both, by how many there are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.growable import GrowableArray
from bio_mcp.adapters.embedded.postings import Rows
from bio_mcp.adapters.embedded.quantising import Matrix, Quantiser, rounded
from bio_mcp.adapters.embedded.windows import COHERENT, SPREAD_STEPS, WindowCodes, Windows, centre_codes

EXACT = 6_144
IN_MEMORY = 1 << 18  # 60,000 papers, 0.4 GB
GROWTH = 4  # axes and steps are learned anew when the corpus has so many times the windows that it had

SAVED = ("starts", "matrix", "sketches", "tails", "centres", "centre_tails")


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
        sketched = quantiser.sketched if quantiser else 0
        self._starts: GrowableArray[np.int64] = GrowableArray(np.int64)
        self._starts.append(np.zeros(1, np.int64))
        self._matrix: GrowableArray[np.float32] = GrowableArray(np.float32, dim)
        self._sketches: GrowableArray[np.int8] = GrowableArray(np.int8, sketched)
        self._tails: GrowableArray[np.int8] = GrowableArray(np.int8, dim - sketched)
        half = (sketched - 1) // 2 + 1 if sketched else 0
        self._centres: GrowableArray[np.int8] = GrowableArray(np.int8, half)
        self._centre_tails: GrowableArray[np.int8] = GrowableArray(np.int8, sketched - half)

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
            self._centre_tails.reserve(rows)

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
        first, second = centre_codes(coordinates[:, :sketched], self._quantiser.steps, counts)
        self._centres.append(first)
        self._centre_tails.append(second)

    def view(self, pmids: NDArray[np.int64], live: Rows) -> Windows:
        """The windows as they are now, of rows with these PMIDs."""
        codes = None
        if self._quantiser is not None:
            spread = self._centres.view[:, -1]
            coherent = not len(spread) or float(spread.mean()) <= COHERENT * SPREAD_STEPS
            columns = (self._sketches.view, self._tails.view, self._centres.view, self._centre_tails.view)
            codes = WindowCodes(self._quantiser, *columns, coherent)
        return Windows(pmids, self._starts.view, live, self._matrix.view, codes, self._in_memory)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state to save, of windows that have codes: metadata, and arrays by name."""
        if self._quantiser is None:
            return {}, {}
        arrays = {name: getattr(self, f"_{name}").view for name in SAVED}
        arrays |= {"axes": self._quantiser.axes, "steps": self._quantiser.steps}
        return {"learned_from": self._quantiser.windows, "in_memory": self._in_memory}, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, tuple[NDArray[Any], int]], sizes: Sizes) -> "WindowColumns":
        """Rebuild the columns from `state`."""
        (axes, count), (steps, _) = arrays["axes"], arrays["steps"]
        quantiser = Quantiser(axes[:count], steps[:count], about["learned_from"])
        columns = WindowColumns(count, sizes, quantiser, in_memory=about["in_memory"])
        for name in SAVED:
            setattr(columns, f"_{name}", GrowableArray.over(*arrays[name]))
        return columns
