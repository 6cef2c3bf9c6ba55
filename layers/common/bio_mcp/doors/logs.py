"""The product's log for people: one readable line on standard error for each record."""

import json
import logging
import sys
from typing import Any, TextIO

SHOWN = ("tool", "status", "code", "latency_ms", "correlation_id", "query_key", "state", "job_id", "subject")


class Readable(logging.Formatter):
    """Time, level and message, then what a call's record carries: `12:00:01 INFO call tool=rag.get status=ok`.

    A record is one line, and each line of a traceback is indented, whatever clients put into them.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the name is logging's
        carried = ((name, getattr(record, name, None)) for name in SHOWN)
        shown = (f"{name}={quoted(str(value))}" for name, value in carried if value is not None)
        return " ".join([printable(super().formatMessage(record)), *shown])

    def formatException(self, ei: Any) -> str:  # noqa: N802  the name is logging's
        return "\n".join(f"  {printable(line)}" for line in super().formatException(ei).split("\n"))


def printable(text: str) -> str:
    """`text` with what is no visible character, such as a line break or an escape, as Python would write it."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def quoted(value: str) -> str:
    """`value` as it is, or in quotation marks where it could be taken for more than one."""
    plain = value and not set(value) & set(' ="')
    return printable(value if plain else json.dumps(value, ensure_ascii=False))


def log_for_people(level: str = "info", stream: TextIO | None = None) -> None:
    """Write the product's log to `stream` (standard error), and what libraries warn of."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Readable())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("bio_mcp").setLevel(level.upper())
