"""Rules of PubMed's search syntax, for syncing and for live queries."""

import re
from collections.abc import Callable
from dataclasses import replace

from bio_mcp.ports.ncbi import SearchPage


def unbalanced(term: str) -> str | None:
    """Describe the first unbalanced quote or bracket in `term`; None if all are balanced.

    An open bracket would swallow the clauses that are added to the term. Brackets in quotation marks do not count.
    """
    if term.count('"') % 2:
        return 'a quotation mark (") is not closed; close or remove it'
    depth = 0
    for mark in re.findall(r"[()]", re.sub(r'"[^"]*"', "", term)):
        depth += 1 if mark == "(" else -1
        if depth < 0:
            return "a bracket is closed that was not opened; check the brackets"
    return "a bracket is not closed; check the brackets" if depth else None


def discard_unknown_words(page: SearchPage, count_by_words: Callable[[], int], warning: str) -> SearchPage:
    """Return `page`; without hits and with `warning` where PubMed knows none of the words that were asked for.

    PubMed drops words that it does not know, so that only the added clauses (dates, filters) are left and match
    nearly everything. A search for the words alone shows it: `count_by_words` returns how many hits they have.
    """
    if not page.dropped or not page.count or count_by_words():
        return page
    return replace(page, count=0, ids=(), warnings=(*page.warnings, warning))
