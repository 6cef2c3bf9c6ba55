"""What the utilities share: the catalogue, and the history that ESearch and EPost leave behind."""

import itertools
import threading
from dataclasses import dataclass, field

from tests.support.eutils_server.answers import Params
from tests.support.eutils_server.catalogue import Catalogue

CAP = 9_999
"""Only the first 9,999 records of a PubMed search can be had, by any utility, with or without history."""


class QueryLost(Exception):
    """The WebEnv has expired or never held that query key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"Unable to obtain query #{key}")


class History:
    """Result sets by WebEnv and query key (1, 2, ...)."""

    def __init__(self) -> None:
        self._sets: dict[str, dict[int, list[int]]] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def keep(self, pmids: list[int], webenv: str = "") -> tuple[str, int]:
        """Store a result under the WebEnv, or under a new one if that is gone; gives both halves of its address."""
        with self._lock:
            if webenv not in self._sets:
                webenv = f"MCID_{next(self._numbers):024x}"
                self._sets[webenv] = {}
            key = len(self._sets[webenv]) + 1
            self._sets[webenv][key] = pmids
            return webenv, key

    def sets(self, webenv: str) -> dict[int, list[int]]:
        return self._sets.get(webenv, {})

    def recall(self, params: Params) -> list[int]:
        """The set that `WebEnv` and `query_key` name. QueryLost if there is none."""
        key = params.get("query_key", "1")
        held = self.sets(params.get("WebEnv"))
        if not key.isdigit() or int(key) not in held:
            raise QueryLost(key)
        return held[int(key)]

    def expire(self) -> None:
        """Forget every WebEnv, as NCBI does after some idle hours."""
        with self._lock:
            self._sets.clear()


@dataclass
class Ncbi:
    """One NCBI: what it holds and remembers."""

    catalogue: Catalogue
    history: History = field(default_factory=History)
