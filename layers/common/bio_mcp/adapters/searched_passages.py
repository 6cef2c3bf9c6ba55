"""The passages that are searched, whichever index that is."""

from collections.abc import Callable
from typing import Any

from bio_mcp.ports.stores import Passages


class SearchedPassages:
    """The port `Passages` over the index that `look_up` returns, which is asked before each use."""

    def __init__(self, look_up: Callable[[], Passages]) -> None:
        self._look_up = look_up

    def __getattr__(self, name: str) -> Any:
        return getattr(self._look_up(), name)
