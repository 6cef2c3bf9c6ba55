"""Several processes that serve one socket."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from bio_mcp.doors.local import Processes

ROOT = Path(__file__).parents[2]
TRIES = 3_000
TELLING = """
import os, socket, sys
with socket.socket(fileno=int(sys.argv[1])) as listener:
    while True:
        with listener.accept()[0] as client:
            client.sendall(str(os.getpid()).encode())
"""  # who it is, to everybody who connects


def another(ask, known):
    """A process that answers and is none of those known."""
    for _ in range(TRIES):
        if (pid := int(ask())) not in known:
            return pid
        time.sleep(0.01)
    raise AssertionError("nobody else answers")


def gone(pid):
    """Waits until the process is no more."""
    for _ in range(TRIES):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_process_that_dies_is_replaced_and_all_end_when_they_are_told_to(caplog):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def ask():
            with socket.create_connection(listener.getsockname()) as client:
                return client.recv(100)

        with Processes(2, listener.dup(), lambda number: [sys.executable, "-Sc", TELLING, str(number)]):
            first = another(ask, set())
            second = another(ask, {first})
            os.kill(second, signal.SIGKILL)
            third = another(ask, {first, second})
        assert gone(first)
        assert gone(third)
    assert caplog.messages == ["a serving process ended (-9) and is restarted"]


def test_the_others_end_with_the_first_however_it_ends():
    command = [sys.executable, "-m", "tests.doors.sample_serve", "127.0.0.1", "0", "2"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as first:
        url = first.stdout.readline().strip()
        with httpx.Client(verify=False, headers={"connection": "close"}) as client:  # noqa: S501  plain HTTP
            second = another(lambda: client.get(f"{url}/pid").text, {first.pid})
        first.kill()
        assert gone(second)
