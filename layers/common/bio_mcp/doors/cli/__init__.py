"""The command line. What a command needs is imported when it runs: `bio-mcp --version` imports nothing."""

import sys
from collections.abc import Sequence

from bio_mcp import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 it failed, 2 it was called wrongly, 130 interrupted."""
    given = sys.argv[1:] if argv is None else list(argv)
    if given == ["--version"]:
        print(f"bio-mcp {__version__}")
        return 0
    from bio_mcp.doors.cli.program import run

    return run(given)
