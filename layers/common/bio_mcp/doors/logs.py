"""The log for people: one readable line on standard error per record."""

import json
import logging
import sys
from typing import Any, TextIO

from bio_mcp.callers import current_caller, who

SHOWN = ("tool", "status", "code", "latency_ms", "correlation_id", "query_key", "state", "job_id", "subject", "tenant")


class ReadableFormatter(logging.Formatter):
    """Formats time, level, message and a call's fields: `12:00:01 INFO call tool=rag.get status=ok`.

    A record is one line, and each line of a traceback is indented, whatever text clients send.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the name is logging's
        """One line: time, level, message and the call's fields."""
        carried = ((name, getattr(record, name, None)) for name in SHOWN)
        shown = (f"{name}={quoted(str(value))}" for name, value in carried if value is not None)
        return " ".join([printable(super().formatMessage(record)), *shown])

    def formatException(self, ei: Any) -> str:  # noqa: N802  the name is logging's
        """The traceback, each line indented."""
        return "\n".join(f"  {printable(line)}" for line in super().formatException(ei).split("\n"))


class NamesCaller(logging.Filter):
    """Adds to each record of a call whom it is for."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add subject and tenant to the record."""
        for name, value in who(current_caller()).items():
            vars(record).setdefault(name, value)
        return True


NAMES_CALLER = NamesCaller()  # one, as a handler takes the same filter once


def printable(text: str) -> str:
    """`text` with unprintable characters, such as line breaks and escapes, as Python escapes them."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def quoted(value: str) -> str:
    """`value`, in quotation marks if it could be read as more than one."""
    plain = value and not set(value) & set(' ="')
    return printable(value if plain else json.dumps(value, ensure_ascii=False))


def log_for_people(level: str = "info", stream: TextIO | None = None) -> None:
    """Write the product's log, and warnings of libraries, to `stream` (default: standard error)."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(ReadableFormatter())
    handler.addFilter(NAMES_CALLER)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("bio_mcp").setLevel(level.upper())
