"""Imports over an OpenSearch node that kill themselves, each in a fork; prints the exit code of each.

A line of standard input is an import: `[HOME, URL, "PORT.METHOD", "before" or "after"]`.
"""

import json
import os
import sys
from itertools import islice
from pathlib import Path

from bio_mcp.syncing.importing import import_records
from tests.doors.command_line import sample
from tests.syncing.killed import Deadly, Doomed

PAPERS = list(islice(sample(), 70))


def over(kind, home, url):
    """A corpus whose index is at `url`."""
    return kind(Path(home), opensearch_url=url, opensearch_service="none", index_name=Path(home).name)


def run(home, url, step, when):
    corpus = over(Doomed, home, url)
    port, method = step.split(".")
    corpus.arm(port, Deadly(getattr(corpus, port), method, 1, when == "after"))
    import_records(PAPERS, corpus)


def main():
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            return run(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    return None


if __name__ == "__main__":
    main()
