"""The child process: whatever a file makes it do, the parent gets a reason and lives on, and nothing stays behind."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bio_mcp.adapters.parsers.isolated import MOST_IDLE
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Misconfigured, UnreadableDocument
from bio_mcp.literature.documents import LARGEST_FILE
from bio_mcp.scope import bounded_by

READER = "tests.adapters.parsers.misbehaving:read"
ROOT = Path(__file__).parents[3]


@pytest.fixture
def parse(make):
    """Parses by the reader that does what the file says; `parse("hang", seconds=1)` sets limits."""
    parsers = {}

    def parse(command, **limits):
        key = tuple(sorted(limits.items()))
        if key not in parsers:
            parsers[key] = make(reader=READER, **limits)
        return parsers[key].parse(command.encode(), "file").text

    return parse


def children():
    """The processes that this one started and that are not gone, but for the one that lists them."""
    listing = subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, text=True)
    rows = [tuple(map(int, line.split())) for line in listing.communicate()[0].splitlines()]
    return {pid for pid, parent in rows if parent == os.getpid()} - {listing.pid}


def is_running(pid):
    """Whether the process does anything any more: one that ended and waits to be counted does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def until(condition):
    for _ in range(300):
        if condition():
            return True
        time.sleep(0.1)
    return False


FAULTS = {
    "segfault": "failed \\(SIGSEGV\\)",
    "abort": "takes more than [0-9,]+ MB of memory, or the file is damaged",
    "leave": "failed \\(exit code 3\\)",
    "exit": "The reader of this file failed",
    "raise": "failed \\(ValueError\\)",
    "recurse": "failed \\(RecursionError\\)",
    "odd": "failed",
    "eat": "more than 128 MB of memory; split it, or raise BIO_MCP_PARSE_MEMORY_MB",
    "eat_and_hide 200": "more than 128 MB of memory",
    "hang": "within 1 s .* split it, or raise BIO_MCP_PARSE_SECONDS",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_child_is_a_reason_and_the_next_file_is_read(parse, fault):
    before = children()
    limits = {"memory": 128 << 20, "seconds": 1 if fault == "hang" else 60}
    with pytest.raises(UnreadableDocument, match=FAULTS[fault]) as raised:
        parse(fault, **limits)
    assert "/" not in str(raised.value)
    assert children() <= before
    assert parse("read again", memory=128 << 20) == "again"


def test_one_child_reads_several_files_and_stays_after_a_refusal(parse):
    first = parse("pid")
    with pytest.raises(UnreadableDocument, match="encrypted"):
        parse("refuse encrypted")
    assert parse("pid") == first != str(os.getpid())


def test_a_child_that_died_while_it_waited_is_replaced(parse):
    os.kill(int(parse("pid")), signal.SIGKILL)
    assert parse("read again") == "again"


def test_a_child_that_took_much_memory_is_not_used_again(parse):
    before = children()
    assert parse("take 100", memory=160 << 20) == "taken"
    assert children() <= before


def test_the_memory_of_the_parent_is_not_the_childs(parse):
    large = b"x" * (200 << 20)
    assert parse("read again", memory=128 << 20) == "again"
    del large


def test_progress_gives_a_child_more_time(parse):
    assert parse("progress 5", quiet_s=2) == "done"
    with pytest.raises(UnreadableDocument, match="within 1 s"):
        parse("progress 5", seconds=1)


def test_a_file_that_needs_longer_than_its_call_has_is_not_called_damaged(parse):
    with bounded_by(Deadline(0.3)), pytest.raises(DeadlineExceeded):
        parse("hang")


def test_what_a_library_prints_is_no_answer(parse):
    assert parse("chatter") == "read"


def test_a_missing_library_is_the_operators_mistake(parse):
    with pytest.raises(Misconfigured, match="takes no_such_library, which is not installed"):
        parse("missing")


def test_a_child_is_given_nothing_that_is_secret(parse, monkeypatch):
    monkeypatch.setenv("NCBI_API_KEY", "secret")
    given = json.loads(parse("environment"))
    assert set(given) - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"} == {"PATH", "PYTHONPATH", "OMP_THREAD_LIMIT"}


def test_a_child_gets_languages_limits_and_programs(make):
    parser = make(reader=READER, pages=7, tesseract="/opt/tesseract")
    assert parser.parse(b"options", "x", ("th", "en")).text == "('th', 'en') 7 /opt/tesseract"


def test_threads_that_ask_at_once_are_each_answered(make):
    before, parser = children(), make(reader=READER)
    with ThreadPoolExecutor(4) as threads:
        texts = [each.text for each in threads.map(lambda n: parser.parse(f"read {n}".encode(), "f"), range(12))]
    assert texts == [str(n) for n in range(12)]
    assert len(children() - before) <= MOST_IDLE
    parser.close()
    assert children() <= before


def test_a_file_that_is_too_large_is_not_even_sent(make):
    with pytest.raises(UnreadableDocument, match="larger than 256 MB; split it"):
        make(reader="no.such:reader").parse(bytes(LARGEST_FILE + 1), "f")


PROGRAM = """
import os, signal, sys
from bio_mcp.adapters.parsers.isolated import MOST_IDLE, IsolatedParser
from bio_mcp.adapters.parsers.isolated import Limits
parser = IsolatedParser(Limits(1 << 30, 600, 600, 9), tesseract="", environment={{"PATH": os.environ["PATH"]}},
                        reader={reader!r})
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a suite that runs in the background ignores
try:
    parser.parse(b"hang {told}", "f")
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture
def hanging(tmp_path):
    """A process whose parser's child hangs in a program that it started; and the ids of child and program."""
    told = tmp_path / "pids"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    code = PROGRAM.format(reader=READER, told=told)
    with subprocess.Popen([sys.executable, "-c", code], env=environment, cwd=ROOT) as parent:
        assert until(lambda: told.exists() and len(told.read_text().split()) == 2)
        yield parent, [int(each) for each in told.read_text().split()]
        parent.kill()


def test_ctrl_c_ends_the_child_and_what_it_started(hanging):
    parent, pids = hanging
    parent.send_signal(signal.SIGINT)
    assert parent.wait(30) == 130
    assert until(lambda: not any(map(is_running, pids)))


def test_a_parent_that_is_killed_leaves_no_child(hanging):
    parent, pids = hanging
    parent.kill()
    parent.wait(30)
    assert until(lambda: not any(map(is_running, pids)))


def test_a_time_out_ends_what_the_child_started(parse, tmp_path):
    told = tmp_path / "pids"
    with pytest.raises(UnreadableDocument, match="within 3 s"):
        parse(f"hang {told}", seconds=3)
    assert until(lambda: not any(is_running(int(pid)) for pid in told.read_text().split()))


def test_no_thread_stays(parse):
    before = threading.active_count()
    parse("progress 2")
    assert until(lambda: threading.active_count() == before)


def test_the_version_names_what_reads_tesseract_too(make, tmp_path):
    version = make(tesseract="no-such-program").version
    assert version.split()[0].isdecimal()
    assert "lxml-" in version
    assert version.endswith("tesseract-none")
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\necho 'tesseract 5.9.9'\n")
    program.chmod(0o700)
    assert make(tesseract=str(program)).version.endswith("tesseract-5.9.9")
