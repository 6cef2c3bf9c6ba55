"""The ways in which NCBI fails that need an answer of their own.

* NcbiFailed
  + HistoryLost           the history server forgot the search: search again
  + AnswerTooLarge        more bytes than we are ready to hold: ask for fewer records
  + ClientRejected               NCBI will not serve this client until its configuration changes
    - KeyRejected         ...because the API key is not valid
* NcbiQueryRejected
  + SearchBackendFailed   a query that cannot be run, or a short trouble of the search engine: both look the same
  + BeyondReach           past the 9,999th record of a search
"""

from bio_mcp.errors import NcbiFailed, NcbiQueryRejected


class HistoryLost(NcbiFailed):
    """The history server does not know the search (any more)."""


class AnswerTooLarge(NcbiFailed):
    """The answer is longer than the client accepts."""

    retryable = False


class ClientRejected(NcbiFailed):
    """The same request will be refused again, whatever it asks."""

    retryable = False


class KeyRejected(ClientRejected):
    """The API key is not valid."""


class SearchBackendFailed(NcbiQueryRejected):
    """The search engine failed; after a second and third time, the query is to blame."""


class BeyondReach(NcbiQueryRejected):
    """PubMed gives the first 9,999 records of a search only."""
