"""Fault scripts: which request goes wrong, how, and how often."""

import threading
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from tests.support.eutils_server.answers import Answer, Params, recorded


@dataclass
class Fault:
    """One failure. It strikes the `nth` request it matches (1 is the first) and the `times - 1` that match after it.

    Match: `endpoint` (`efetch`), `pmid` (in the request's ids), `term` (part of its term); all given must hold.
    Action, one of: `recorded` (a recorded body by file name, with its status unless `status` is given) · `status` with
    `body` · `cut` the good body after so many bytes, `ending` clean (valid HTTP), short (Content-Length promises more)
    or reset · `stall` for so many seconds after `at` bytes · `drop` the connection unanswered.
    """

    endpoint: str = ""
    pmid: int | None = None
    term: str = ""
    nth: int = 1
    times: int = 1
    recorded: str = ""
    status: int | None = None
    body: str = ""
    content_type: str = "text/html; charset=UTF-8"
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    ending: Literal["clean", "short", "reset"] = "clean"
    stall: float = 0.0
    at: int = 0
    drop: bool = False
    seen: int = 0

    def matches(self, endpoint: str, params: Params) -> bool:
        return (
            self.endpoint in ("", endpoint)
            and (self.pmid is None or str(self.pmid) in params.ids)
            and self.term in params.get("term")
        )

    def strikes(self) -> bool:
        """Count one matching request; whether this one fails."""
        self.seen += 1
        return self.nth <= self.seen < self.nth + self.times

    @property
    def answer(self) -> Answer | None:
        """The answer in place of the good one; None if the good one is only damaged."""
        if self.recorded:
            found = recorded(self.recorded)
            return Answer(found.body, found.content_type, self.status or found.status, self.headers)
        if self.status is not None:
            return Answer(self.body.encode(), self.content_type, self.status, self.headers)
        return None


class FaultScript:
    """The faults still to come, in the order given; the first that strikes decides."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, entries: list[dict[str, Any]]) -> None:
        """Append faults. ValueError on a field that no fault has, or a recording that does not exist."""
        known = {one.name for one in fields(Fault)}
        for entry in entries:
            if unknown := set(entry) - known:
                raise ValueError(f"no fault has {sorted(unknown)}; known are {sorted(known)}")
            fault = Fault(**entry)
            if fault.recorded:
                _check_recorded(fault.recorded)
            with self._lock:
                self._faults.append(fault)

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    def for_request(self, endpoint: str, params: Params) -> Fault | None:
        with self._lock:
            striking = [fault for fault in self._faults if fault.matches(endpoint, params) and fault.strikes()]
            return striking[0] if striking else None


def _check_recorded(name: str) -> None:
    try:
        recorded(name)
    except StopIteration:
        raise ValueError(f"no recording is called {name}") from None
