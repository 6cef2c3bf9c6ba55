"""The command line. A command's imports happen when it runs: `bio-mcp --version` imports nothing."""

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress

from bio_mcp import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    gc.set_threshold(50_000)  # imports make objects that stay: looking for garbage among them is a tenth of a start
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments == ["--version"] and sys.stdout:
        with suppress(OSError):
            print(f"bio-mcp {__version__}", flush=True)
            return 0
    try:
        from bio_mcp.doors.cli.program import run
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return run(arguments)
