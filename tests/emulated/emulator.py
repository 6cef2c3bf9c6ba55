"""The emulator of AWS in a process of its own, on one interface, which forgets everything when it stops.

It enforces the policies of the template: each function calls with the credentials of its own role; and it refuses what
AWS does (`refusals.py`). Functions run in its own interpreter, so their layers must have been built for that version
and this machine.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PYTHON = Path(__file__).parents[2] / ".cache/ministack/bin/python"
PROGRAM = Path(__file__).with_name("refusals.py")
START_S, STOP_S = 60.0, 5.0
SETTINGS = {
    "AUTH": "true",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_EC2_METADATA_DISABLED": "true",
    "IOT_MTLS_ENABLED": "0",
    "SFTP_ENABLED": "0",
    "LOG_LEVEL": "INFO",
}


class Unusable(Exception):
    """The emulator cannot be had or does not run; says why."""


@dataclass(frozen=True, slots=True)
class Emulator:
    """An emulator that has answered. Its functions run in processes of their own."""

    url: str
    log: Path

    def workers(self, function: str = "") -> list[int]:
        return _workers(str(self.log.parent), function)

    def kill_workers(self, function: str) -> None:
        _kill(self.workers(function))


@contextmanager
def emulator(host: str = "127.0.0.1", port: int = 0, **settings: str) -> Iterator[Emulator]:
    """An emulator on `host`; port 0 takes a free one. Raises `Unusable`."""
    if not host:
        raise Unusable("the emulator needs an address to listen on: without one it would take all, for everybody")
    if not PYTHON.exists():
        raise Unusable("the emulator is not installed in .cache/ministack; make deploy-local installs it")
    scratch = Path(tempfile.mkdtemp(prefix="emulated-"))  # every unpacked function and layer is left there
    port = port or _free(host)
    env = {**SETTINGS, **settings, "BIND_HOST": host, "GATEWAY_PORT": str(port), "TMPDIR": str(scratch)}
    log = scratch / "emulator.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [PYTHON, "-P", PROGRAM],
            env={"PATH": os.environ["PATH"], "HOME": str(scratch), **env},  # functions inherit it
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=scratch,
            start_new_session=True,  # so that Ctrl-C reaches it through `_stop` only
        )
    try:
        _wait(process, url := f"http://{host}:{port}", log)
        yield Emulator(url, log)
    finally:
        _stop(process)
        _kill(_workers(str(scratch), ""))  # they would finish what they are at
        shutil.rmtree(scratch, ignore_errors=True)


def _workers(scratch: str, function: str) -> list[int]:
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = line.read_text(errors="replace")
        except OSError:
            continue  # it has just ended
        if f"{scratch}/ministack-lambda-" in command and function in command:
            found.append(int(line.parent.name))
    return found


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _free(host: str) -> int:
    with socket.socket() as tried:
        tried.bind((host, 0))
        return int(tried.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(f"{url}/_ministack/health", timeout=1):  # noqa: S310 - an address of our own
                return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                tail = log.read_text(errors="replace")[-2_000:]
                raise Unusable(f"the emulator does not start; its log ends:\n{tail}") from None
            time.sleep(0.1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
