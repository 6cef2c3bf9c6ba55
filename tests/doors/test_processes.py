"""Several processes that serve one socket."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]
TRIES = 3_000


@contextmanager
def served(workers):
    """The sample server by this many processes: the first, its address, and a way to hear of the others."""
    command = [sys.executable, "-m", "tests.doors.sample_serve", "127.0.0.1", "0", str(workers)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
        try:
            yield first, first.stdout.readline().strip()
        finally:
            first.terminate()


def another(url, known):
    """A process that answers and is none of those known."""
    with httpx.Client(verify=False, headers={"connection": "close"}) as client:  # noqa: S501  plain HTTP
        for _ in range(TRIES):
            if (pid := int(client.get(f"{url}/pid").text)) not in known:
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


def test_a_process_that_dies_is_replaced_and_all_end_when_the_first_is_told_to():
    with served(2) as (first, url):
        second = another(url, {first.pid})
        os.kill(second, signal.SIGKILL)
        third = another(url, {first.pid, second})
        first.send_signal(signal.SIGTERM)
        assert first.stdout.read() == "closed what stands around the server\n"
        assert first.wait(20) == 0
        assert gone(third)


def test_the_others_end_with_the_first_however_it_ends():
    with served(2) as (first, url):
        second = another(url, {first.pid})
        first.kill()
        assert gone(second)
