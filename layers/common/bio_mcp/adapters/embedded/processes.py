"""Is the process that wrote this mark still running? Marks are of this machine only, as the corpus file is."""

import os
from pathlib import Path


def this_process() -> str:
    """A mark of the running process: its id and, where the kernel tells, when it began, as ids are used again."""
    return f"{os.getpid()}:{_began(os.getpid())}"


def is_running(mark: str) -> bool:
    pid, _, began = mark.partition(":")
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return began == _began(int(pid))


def _began(pid: int) -> str:
    """Start time in clock ticks since boot (field 22 of proc(5) stat); empty where there is no /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19]
    except (OSError, IndexError):
        return ""
