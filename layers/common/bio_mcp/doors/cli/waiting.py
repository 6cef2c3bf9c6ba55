"""What a command shows while it waits for NCBI, and whom it asked how often when that was in vain."""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bio_mcp.doors import console

PATIENCE_S = 3.0  # of somebody who sees nothing


class _Shown(logging.Handler):
    """Shows what the client of NCBI logs of its waiting; `address` is whom it waited for last."""

    address = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.address = getattr(record, "address", self.address)
        console.notice(record.getMessage())


class Waiting:
    """The waiting for NCBI at `address` of one call."""

    def __init__(self, address: str, patience_s: float = PATIENCE_S) -> None:
        self._shown = _Shown()
        self._patience_s = patience_s
        self._address = address.partition("://")[2].partition("/")[0].rpartition("@")[2]

    @contextmanager
    def shown(self, *, soon: bool) -> Iterator[None]:
        """Show it while the block runs; `soon`: also before the first try has failed."""
        log = logging.getLogger("bio_mcp.ncbi")
        level = log.level
        log.addHandler(self._shown)
        log.setLevel(logging.INFO)
        patience = threading.Timer(self._patience_s, self._show_first)
        patience.daemon = True
        if soon:
            patience.start()
        try:
            yield
        finally:
            patience.cancel()
            log.removeHandler(self._shown)
            log.setLevel(level)

    def _show_first(self) -> None:
        if not self._shown.address:
            console.notice(f"waiting for NCBI at {self._address}")

    def explained(self, body: dict[str, Any]) -> dict[str, Any]:
        """The error envelope; the message of one that stands for tries at NCBI names them and the address."""
        error: Mapping[str, Any] = body["error"]
        if not (tries := error["details"].get("tries")):
            return body
        times = f"{tries} tries" if tries > 1 else "one try"
        message = f"{error['message'].rstrip('.')} ({times} at {self._shown.address or self._address})"
        return {**body, "error": {**error, "message": message}}
