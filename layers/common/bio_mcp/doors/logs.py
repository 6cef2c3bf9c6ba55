"""The product's log for people: one readable line on standard error for each record."""

import logging
import sys
from typing import TextIO

SHOWN = ("tool", "status", "code", "latency_ms", "correlation_id", "query_key", "state", "job_id")


class Readable(logging.Formatter):
    """Time, level and message, then what a call's record carries: `12:00:01 INFO call tool=rag.get status=ok`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the name is logging's
        line = super().formatMessage(record)
        carried = ((name, getattr(record, name, None)) for name in SHOWN)
        return " ".join([line, *(f"{name}={value}" for name, value in carried if value is not None)])


def log_for_people(level: str = "info", stream: TextIO | None = None) -> None:
    """Write the product's log to `stream` (standard error), and what libraries warn of."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Readable())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("bio_mcp").setLevel(level.upper())
