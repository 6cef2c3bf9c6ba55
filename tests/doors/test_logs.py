"""What reaches a terminal or a file as a line of the log."""

import io
import logging

import pytest

from bio_mcp.callers import Caller
from bio_mcp.doors.logs import ReadableFormatter, names_caller
from tests.support.scopes import on_behalf_of


def logged(*message, **carried):
    """The line of one record."""
    written, logger = io.StringIO(), logging.Logger("test")
    handler = logging.StreamHandler(written)
    handler.setFormatter(ReadableFormatter())
    handler.addFilter(names_caller)
    logger.addHandler(handler)
    logger.info(*message, **carried)
    return written.getvalue()


def test_a_record_says_what_was_called_and_how_it_went():
    line = logged("call", extra={"tool": "rag.get", "status": "ok", "latency_ms": 7, "code": None})
    assert line.endswith(" INFO call tool=rag.get status=ok latency_ms=7\n")


@pytest.mark.parametrize("odd", ["\n", "\r", "\x1b[2J", "\x9b", "\u202e", "\u2028", "\x00", "\ud800"])
def test_no_value_starts_a_line_or_steers_a_terminal(odd):
    line = logged("syncing %s", f"a{odd}b", extra={"query_key": f"mine{odd}12:00:01 INFO call"})
    assert line.count("\n") == 1
    assert line.rstrip("\n").isprintable()


def test_a_value_cannot_pass_for_another():
    line = logged("call", extra={"query_key": 'mine" status=ok', "status": "error"})
    assert line.endswith(r' INFO call status=error query_key="mine\" status=ok"' + "\n")


def test_lines_of_a_traceback_cannot_be_taken_for_records():
    try:
        raise ValueError("a\n12:00:01 INFO call status=ok\x1b[2J")
    except ValueError:
        lines = logged("failed", exc_info=True).splitlines()
    assert all(line.startswith("  ") and line.isprintable() for line in lines[1:])


def test_each_record_of_a_call_says_whom_it_is_for():
    with on_behalf_of(Caller("ada", tenant="lab")):
        assert logged("syncing").endswith(" INFO syncing subject=ada tenant=lab\n")
    with on_behalf_of(None):
        assert logged("syncing").endswith(" INFO syncing\n")
