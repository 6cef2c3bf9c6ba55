"""The process that parses: reads files from standard input, answers on standard output, and stays within its limits.

Started as `python -m bio_mcp.adapters.parsers.child LIMITS`. It ends when its input ends, when the process that started
it is gone, and when it has taken more memory than it may.
"""

import contextlib
import json
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from bio_mcp.adapters.child_processes import own_stdout
from bio_mcp.adapters.parsers.frames import OUT_OF_MEMORY, PROGRESS, Options, line, read_line
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.documents import ParsedDocument

try:
    import resource
except ImportError:  # Windows, where only the time is limited
    resource = None  # type: ignore[assignment]

WATCH_S = 0.1
Read = Callable[[bytes, str, Options], ParsedDocument]
_CODE = 256 << 20  # bytes of addresses that Python and its libraries take without using them
_REPORTED_KB = 1 if sys.platform == "darwin" else 1024


def main() -> None:
    """Answer requests until the input ends."""
    limits = json.loads(sys.argv[1])
    requests, answers = sys.stdin.buffer, own_stdout()

    def write(frame: bytes) -> None:
        answers.write(frame)
        answers.flush()

    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(ValueError, OSError):  # macOS knows no such limit; `_watch` sees to it there
            most = limits["memory"] + _CODE
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
    threading.Thread(target=_watch, args=(limits["memory"], os.getppid()), daemon=True).start()
    module, _, function = limits["reader"].partition(":")
    readers = import_module(module)
    read: Read = getattr(readers, function)
    while (head := read_line(requests)) is not None:
        content = requests.read(head["size"])
        write(PROGRESS)  # it has the file: from here on its end is due to the file
        options = Options(tuple(head["languages"]), limits["pages"], limits["tesseract"], lambda: write(PROGRESS))
        answer = _answer(partial(_read, readers, read, content, head, options))
        answer["ends"] = answer.get("ends", False) or _peak() > limits["memory"] // 2
        write(line(answer))
        if answer["ends"]:
            return


def _read(readers: Any, read: Read, content: bytes, head: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """What is asked of the file: the words on a page, or all that it says."""
    if page := head.get("page"):
        return {"words": [asdict(each) for each in readers.words_on(content, page, options)]}
    return {"document": asdict(read(content, head["name"], options))}


def _answer(asked: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return asked()
    except UnreadableDocument as refused:
        return {"refused": str(refused)}
    except ImportError as missing:
        return {"missing": missing.name or "a library", "ends": True}
    except MemoryError:
        return {"memory": True, "ends": True}
    except Exception as error:  # noqa: BLE001  whatever a library raises on a damaged file, and a bug of ours
        *_, (frame, number) = traceback.walk_tb(error.__traceback__)
        where = f"{frame.f_globals.get('__name__', '')}:{number}"
        return {"failed": type(error).__name__, "where": where, "ends": True}


def _peak() -> int:
    """The most memory that this process has used, in bytes.

    Linux keeps the parent's peak in `ru_maxrss`, so that a large server's child would seem large from its start.
    """
    with contextlib.suppress(OSError):
        status = Path("/proc/self/status").read_bytes()
        if found := re.search(rb"VmHWM:\s*(\d+) kB", status):
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _REPORTED_KB if resource is not None else 0


def _watch(most: int, parent: int) -> None:
    """End this process, with the programs that it started, beyond its memory and without its parent."""
    pause = threading.Event()
    while not pause.wait(WATCH_S):
        if _peak() > most:
            os._exit(OUT_OF_MEMORY)
        if os.getppid() != parent:
            os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
