"""The corpus of a set: filled through the product's own settling, so that it is searched as any other."""

from collections.abc import Iterable
from itertools import islice

from bio_mcp.deadline import Deadline
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.progress import Progress
from bio_mcp.syncing.settling import settle
from bio_mcp.syncing.time_budget import TimeBudget

BATCH = 200


def fill(articles: Iterable[Article], backends: Backends, deadline: Deadline, progress: Progress) -> bool:
    """Bring the articles into the corpus; False where the time ended before all were in. What is in costs little."""
    budget, waiting, done = TimeBudget(), iter(articles), 0
    while batch := list(islice(waiting, BATCH)):
        settled = settle(batch, backends, before_slice=lambda _: budget.allows(deadline))
        done += len(settled.changes)
        progress(done, None, "papers")
        if len(settled.changes) < len({each.pmid for each in batch}):
            return False
    return True
