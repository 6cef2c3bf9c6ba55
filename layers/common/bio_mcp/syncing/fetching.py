"""Fetch the records of a run: unreadable answers are halved, and NCBI is left alone when it seems to be down."""

from bio_mcp.deadline import Deadline
from bio_mcp.errors import NcbiFailed, NcbiQueryRejected, NcbiRateLimited, NcbiUnreadable
from bio_mcp.literature.records import Article, Deletion
from bio_mcp.ports.pubmed import Entrez
from bio_mcp.syncing.cursor import Cursor

SMALLEST = 25  # an unreadable answer is halved down to this; the rest gets a last try at the end of the run
PATIENCE = 3  # consecutive batches that may fail before NCBI counts as down

Fetched = tuple[list[Article | Deletion], list[str]]
"""The records, and the PMIDs whose fetch failed. PubMed has no record of the others that are absent."""


class Fetching:
    """EFetch for one call of a run, with the count of consecutive failures."""

    def __init__(self, entrez: Entrez, deadline: Deadline) -> None:
        self._entrez = entrez
        self._deadline = deadline
        self._failed_batches = 0

    def batch(self, pmids: list[str]) -> Fetched:
        """Fetch a batch. Raises NCBI's failure after `PATIENCE` consecutive batches without a record."""
        records, lost = self._fetch_halving(pmids)
        self._failed_batches = self._failed_batches + 1 if lost == pmids else 0
        if self._failed_batches >= PATIENCE:
            raise self._last_failure
        return records, lost

    def last_try(self, pmids: list[str], cursor: Cursor) -> Fetched:
        """Fetch PMIDs that failed before, once. An empty answer counts as valid here: PubMed does not have them.

        Raises NCBI's failure once in a run, when `LAST_PATIENCE` requests in a row have failed.
        """
        if cursor.ncbi_is_down:
            return [], pmids
        try:
            records = list(self._entrez.efetch(pmids, deadline=self._deadline))
        except (NcbiRateLimited, NcbiQueryRejected):
            raise
        except NcbiFailed:
            cursor.failures += 1
            if cursor.break_off():
                raise
            return [], pmids
        cursor.failures = 0
        return records, []

    def _fetch_halving(self, pmids: list[str]) -> Fetched:
        """Fetch; an answer that cannot be read is fetched again in two halves, down to `SMALLEST`."""
        try:
            return self._fetch(pmids), []
        except (NcbiRateLimited, NcbiQueryRejected):
            raise
        except NcbiFailed as failure:
            self._last_failure = failure
            if not isinstance(failure, NcbiUnreadable) or len(pmids) <= SMALLEST:
                return [], pmids
        middle = len(pmids) // 2
        first, second = self._fetch_halving(pmids[:middle]), self._fetch_halving(pmids[middle:])
        return first[0] + second[0], first[1] + second[1]

    def _fetch(self, pmids: list[str]) -> list[Article | Deletion]:
        """Fetch. Raises `NcbiUnreadable` when NCBI returns none of the PMIDs that it lists."""
        records = list(self._entrez.efetch(pmids, deadline=self._deadline))
        if not records:
            raise NcbiUnreadable(f"NCBI sent none of the {len(pmids)} records that it lists; try again")
        return records
