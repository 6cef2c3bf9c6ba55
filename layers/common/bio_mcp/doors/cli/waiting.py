"""Shows that a command is waiting for NCBI, and says in its error how often which address was tried."""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bio_mcp.doors import terminal

SILENT_S = 3.0  # without any output, before a notice is shown


class _Shown(logging.Handler):
    """Shows what the NCBI client logs while it waits; `address` is the last one it waited for."""

    address = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record as a notice."""
        self.address = getattr(record, "address", self.address)
        terminal.notice(record.getMessage())


class Waiting:
    """The waiting of one call for NCBI at `address`."""

    def __init__(self, address: str, silent_s: float = SILENT_S) -> None:
        self._shown = _Shown()
        self._silent_s = silent_s
        self._address = address.partition("://")[2].partition("/")[0].rpartition("@")[2]

    @contextmanager
    def shown(self, *, soon: bool) -> Iterator[None]:
        """Show it while the block runs; with `soon`, also before the first try has failed."""
        log = logging.getLogger("bio_mcp.ncbi")
        level = log.level
        log.addHandler(self._shown)
        log.setLevel(logging.INFO)
        timer = threading.Timer(self._silent_s, self._show_first)
        timer.daemon = True
        if soon:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            log.removeHandler(self._shown)
            log.setLevel(level)

    def _show_first(self) -> None:
        if not self._shown.address:
            terminal.notice(f"waiting for NCBI at {self._address}")

    def explained(self, body: dict[str, Any]) -> dict[str, Any]:
        """The error envelope; after failed tries at NCBI its message has their number and the address."""
        error: Mapping[str, Any] = body["error"]
        if not (tries := error["details"].get("tries")):
            return body
        times = f"{tries} tries" if tries > 1 else "one try"
        message = f"{error['message'].rstrip('.')} ({times} at {self._shown.address or self._address})"
        return {**body, "error": {**error, "message": message}}
