"""Imports over an OpenSearch node that kill themselves, as `tests.syncing.killed` says.

A line of standard input is an import: `[HOME, URL, "PORT.METHOD", "before" or "after"]`.
"""

from itertools import islice
from pathlib import Path

from bio_mcp.syncing.applying import apply_records
from tests.doors.command_line import sample
from tests.syncing.killed import DoomedCorpus, forks

PAPERS = list(islice(sample(), 70))


def over(kind, home, url):
    """A corpus whose index is at `url`."""
    return kind(Path(home), opensearch_url=url, opensearch_service="none", index_name=Path(home).name)


def run(home, url, step, when):
    apply_records(PAPERS, over(DoomedCorpus, home, url).armed(step, 1, when))


if __name__ == "__main__":
    forks(run)
