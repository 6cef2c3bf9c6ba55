"""A Docker engine: the one that runs, or else one of our own that ends with the block."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

DATA = Path(__file__).parents[2] / ".cache/docker"
START_S, STOP_S = 60.0, 60.0


class Unusable(Exception):
    """Docker cannot be had; says why."""


@contextmanager
def engine(data: Path = DATA) -> Iterator[Mapping[str, str]]:
    """The environment in which `docker` and `sam` find an engine. Raises `Unusable`.

    An engine of our own takes root, listens on a socket of its own and keeps its images in `data`, for one run at a
    time.
    """
    here = dict(os.environ)
    if _answers(here):
        yield here
        return
    if os.geteuid():
        raise Unusable("no Docker engine answers; start one, or run this as root")
    with _locked(data), tempfile.TemporaryDirectory(prefix="docker-") as scratch:
        address = f"unix://{scratch}/socket"
        here["DOCKER_HOST"] = address
        daemon = _start(Path(scratch), address, data)
        try:
            _wait(daemon, here, Path(scratch) / "log")
            yield here
        finally:
            _stop(daemon)
            _unmount(scratch)


def run(env: Mapping[str, str], *command: str | Path, timeout: float = 300) -> str:
    """Standard output of a command that must succeed. Raises `Unusable` with what it complained of."""
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=timeout)
    except FileNotFoundError:
        raise Unusable(f"{command[0]} is not installed; make sam-local installs what is needed on Debian") from None
    if done.returncode:
        raise Unusable(f"{' '.join(map(str, command[:3]))} failed:\n{(done.stdout + done.stderr)[-3_000:]}")
    return done.stdout


def _answers(env: Mapping[str, str]) -> bool:
    try:
        run(env, "docker", "version", timeout=20)
    except Unusable:
        return False
    return True


@contextmanager
def _locked(data: Path) -> Iterator[None]:
    data.mkdir(parents=True, exist_ok=True)
    with (data / "lock").open("w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise Unusable("another run has the Docker engine of this clone; wait for its end, or start one") from None
        yield


def _start(scratch: Path, address: str, data: Path) -> subprocess.Popen[bytes]:
    places = ["--data-root", data, "--exec-root", scratch / "exec", "--pidfile", scratch / "pid"]
    with (scratch / "log").open("wb") as out:
        try:
            return subprocess.Popen(
                ["dockerd", "--host", address, *places],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,  # so that Ctrl-C reaches it through `_stop` only
            )
        except FileNotFoundError:
            raise Unusable("dockerd is not installed; make sam-local installs it on Debian") from None


def _wait(daemon: subprocess.Popen[bytes], env: Mapping[str, str], log: Path) -> None:
    end = time.monotonic() + START_S
    while not _answers(env):
        if daemon.poll() is not None or time.monotonic() > end:
            raise Unusable(f"dockerd does not start; its log ends:\n{log.read_text(errors='replace')[-2_000:]}")
        time.sleep(0.2)


def _unmount(scratch: str) -> None:
    """Unmount what a stopped engine left mounted below `scratch`, such as the network of a container."""
    places = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for place in reversed([each for each in places if each.startswith(f"{scratch}/")]):
        subprocess.run(["umount", "--lazy", place], check=False)


def _stop(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(STOP_S)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
