"""NCBI failures that are handled in a way of their own.

* NcbiFailed
  + HistoryLost           the history server forgot the search: search again
  + AnswerTooLarge        the answer exceeds the client's limit: ask for fewer records
  + ClientRejected        NCBI will not serve this client until its configuration changes
    - KeyRejected         ...because the API key is not valid
* NcbiQueryRejected
  + SearchBackendFailed   the query cannot be run, or the search engine failed for a moment: both look the same
  + BeyondReach           past the 9,999th record of a search
"""

from bio_mcp.errors import NcbiFailed, NcbiQueryRejected


class HistoryLost(NcbiFailed):
    """The history server no longer knows the search."""


class AnswerTooLarge(NcbiFailed):
    """The answer is larger than the client accepts."""

    retryable = False


class ClientRejected(NcbiFailed):
    """NCBI rejects every request of this client."""

    retryable = False


class KeyRejected(ClientRejected):
    """The API key is not valid."""


class SearchBackendFailed(NcbiQueryRejected):
    """The search engine failed; after the third time the query is to blame."""


class BeyondReach(NcbiQueryRejected):
    """PubMed lists only the first 9,999 records of a search."""
