"""How many modules and functions of the package one `rag_search` over HTTP enters, once everything is warm.

    python -m benchmarks.hops [--work DIR] [--calls 5] [--list]

The server runs in this process, over the sample that comes with the product (350 papers). `sys.setprofile` notes the
code that all of its threads enter during the last call, until it is recorded. A comprehension is part of the function
that it stands in.
"""

import argparse
import http.client
import json
import os
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks.serving import HEADERS, ROOT, corpus

PACKAGE = ROOT / "layers/common/bio_mcp"
QUESTION = "does vitamin D lower mortality of patients with covid in hospital"
INNER = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<module>")


class Entered:
    """The code of the package that any thread entered while `on`."""

    def __init__(self) -> None:
        self.on = False
        self.calls: Counter[CodeType] = Counter()

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if self.on and event == "call":
            self.calls[frame.f_code] += 1

    def by_module(self) -> dict[str, dict[str, int]]:
        """Module -> function -> calls."""
        found: dict[str, dict[str, int]] = {}
        for code, calls in self.calls.items():
            path = Path(code.co_filename)
            if path.is_relative_to(PACKAGE) and code.co_name not in INNER:
                name = f"{code.co_qualname} {code.co_firstlineno}"
                found.setdefault(str(path.relative_to(PACKAGE)), {})[name] = calls
        return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, default=ROOT / ".cache/serving")
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--list", action="store_true", help="name what was entered, and how often")
    asked = parser.parse_args()
    os.environ |= {"BIO_MCP_HOME": str(corpus(asked.work)), "MCP_LOG_LEVEL": "warning"}
    entered = Entered()
    threading.setprofile(entered)
    modules = _searched(entered, asked.calls).by_module()
    functions = sum(map(len, modules.values()))
    calls = sum(sum(each.values()) for each in modules.values())
    print(f"one rag_search over HTTP enters {len(modules)} modules and {functions} functions, {calls:,} times")
    if asked.list:
        for module, entries in sorted(modules.items()):
            print(f"{len(entries):4d} {sum(entries.values()):6,d}  {module}: {', '.join(entries)}", file=sys.stderr)


def _searched(entered: Entered, calls: int) -> Entered:
    """Call the tool so often; what the last call entered."""
    from bio_mcp import wiring
    from bio_mcp.doors.local import Server, _open
    from bio_mcp.doors.mcp.http import application
    from bio_mcp.doors.running import in_process
    from bio_mcp.settings import Settings

    backends = wiring.backends()
    ready = threading.Event()
    opened = _open("127.0.0.1", 0)
    server = Server(application(Settings.from_env(), in_process(backends), None, public=False, parts={}), ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        ready.wait(60)
        connection = http.client.HTTPConnection("127.0.0.1", opened.getsockname()[1])
        params = {"name": "rag_search", "arguments": {"query": QUESTION}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        for each in range(calls):
            if each == calls - 1:
                time.sleep(1)  # what the calls before it left to be recorded is done
                entered.on = True
            connection.request("POST", "/mcp", body, HEADERS)
            answer = connection.getresponse().read()
            assert b'"isError":false' in answer, answer[:300]
        time.sleep(1)  # the call is recorded after it was answered
        entered.on = False
    finally:
        server.stop()
        thread.join()
        with suppress(OSError):
            opened.close()
        backends.close()
    return entered


if __name__ == "__main__":
    main()
