"""What can go wrong, as exceptions that a caller can act on.

* Failure
  + InvalidInput            the caller must change the request
    - Unconfirmed           ...or say that it is meant
    - Forbidden             ...or bring a token that allows it
    - UnreadableDocument    ...or another file: this one is damaged, encrypted, too large or of no known kind
  + Misconfigured           whoever runs this must change a setting, a secret or what is installed
  + NotFound                no such document, job, project or node
    - JobNotFound           ...no job of this kind has this id
  + ModelMismatch           the index was built by another embedding model
  + HybridUnavailable       this project has no lexical leg
  + BudgetSpent             the caller, or its tenant, has used up what it may use until `retry_after_s` from now
  + Conflict                somebody else holds or changed it; the work is safe, try later
    - TakenOver             ...the lease under which was written has passed to another
  + UpstreamFailed          a service that we call failed
    - NcbiFailed            ...NCBI answered badly or not at all
      . NcbiUnreachable     ...as no connection to it could be made
      . NcbiRateLimited     ...because we asked too fast
      . NcbiUnreadable      ...with something that cannot be parsed
      . NcbiQueryRejected   ...because it could not run the query
  + EmbeddingFailed         the embedding model failed
  + StoreFailed             documents, checkpoints or jobs cannot be read or written
    - DiskFull              ...because no space is left where they, or the index of passages, are stored
  + IndexUnavailable        the passage index is missing or down
  + DeadlineExceeded        the tool ran out of its time

An exception carries no wire code: each contract family has a table of codes below. Its message is
shown to the caller, so it says what to do next and never holds a key, a path, an address or a URL.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class Failure(Exception):
    """A failure that is reported to the caller, not raised as a bug.

    `retryable`: the same call may succeed later. `retry_after_s`: seconds to wait, where known.
    `field`: the path of the argument that it is about, such as filters.year_from, with which the message then begins.
    `details`: JSON values that help a program act; the same secrecy as for the message.
    """

    retryable = False

    def __init__(
        self,
        message: str,
        *,
        retryable: bool | None = None,
        retry_after_s: float | None = None,
        field: str = "",
        **details: Any,
    ) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        if retryable is not None:
            self.retryable = retryable
        self.retry_after_s = retry_after_s
        named = {"field": field} if field else {}
        self.details = {**named, **details}


class InvalidInput(Failure):
    """The arguments do not fit the tool's input model, or cannot be acted on."""


class Unconfirmed(InvalidInput):
    """Somebody has to say yes first: `confirm` has the arguments that say it. A door that can ask says `why`."""

    def __init__(
        self, why: str, how: str = "", *, confirm: Mapping[str, Any] = MappingProxyType({}), **more: Any
    ) -> None:
        super().__init__(f"{why}. {how}" if how else why, confirm=dict(confirm), why=why, **more)


class Forbidden(InvalidInput):
    """The caller's token does not allow this call."""


class UnreadableDocument(InvalidInput):
    """The file cannot be read as a document: the message says why, and what would help."""


class Misconfigured(Failure):
    """A setting, a secret or an installed library is missing or wrong: the operator's mistake, never the caller's.

    The message names the setting, never its value where that may be secret.
    """


class NotFound(Failure):
    """The named document, job, project or node does not exist."""


class JobNotFound(NotFound):
    """There is no job of this id and kind."""


class ModelMismatch(Failure):
    """The index holds vectors of another embedding model than the one configured."""


class HybridUnavailable(Failure):
    """The project's index has no lexical leg."""


class BudgetSpent(Failure):
    """A caller or a tenant has used up its budget."""

    retryable = True


class Conflict(Failure):
    """Another run holds the lease, or the item changed under us."""

    retryable = True


class TakenOver(Conflict):
    """The lease under which was written has passed to another; nothing was written."""


class UpstreamFailed(Failure):
    """A service that we call failed after every retry."""

    retryable = True


class NcbiFailed(UpstreamFailed):
    """NCBI failed after every retry."""


class NcbiUnreachable(NcbiFailed):
    """No connection to NCBI could be made."""


class NcbiRateLimited(NcbiFailed):
    """NCBI refused us for asking too fast."""


class NcbiUnreadable(NcbiFailed):
    """NCBI answered, but what it sent cannot be parsed."""


class NcbiQueryRejected(NcbiFailed):
    """NCBI understood the request and cannot run it; the same request will fail again."""

    retryable = False


class EmbeddingFailed(Failure):
    """The embedding model failed."""

    retryable = True


class StoreFailed(Failure):
    """The document, checkpoint or job store failed."""

    retryable = True


class DiskFull(StoreFailed):
    """No space is left on the disk of what is stored, the passage index included."""


class IndexUnavailable(Failure):
    """The passage index is missing, unreachable or answered in part."""

    retryable = True


class DeadlineExceeded(Failure):
    """The tool ran out of its time; nothing was written after it."""

    retryable = True


class FunctionBroke(Exception):
    """A Lambda function of ours ended without an answer: a bug, and so no `Failure`.

    The message is the kind of end that Lambda reports, never the output of the function.
    """


Dialect = Mapping[type[Failure], str]
"""Codes by kind of failure. `Misconfigured` has none of its own: the arguments are not at fault."""

UNKNOWN = "UNKNOWN"

_CODES: Mapping[type[Failure], tuple[str, str, str, str]] = {
    # BIO_MCP, PUBMED, CITELOOM, TTM; "" where the dialect gives the code of the parent
    InvalidInput: ("VALIDATION", "VALIDATION", "INVALID_ARG", "INVALID_ARG"),
    NotFound: ("NOT_FOUND", "NOT_FOUND", "INVALID_PROJECT", "NOT_FOUND"),
    JobNotFound: ("", "", "NOT_FOUND", ""),  # citeloom's contract knows no jobs
    ModelMismatch: ("INVARIANT_FAILURE", "", "EMBEDDING_MISMATCH", "INVARIANT_FAILURE"),
    HybridUnavailable: ("VALIDATION", "", "HYBRID_NOT_SUPPORTED", "INVALID_ARG"),
    BudgetSpent: ("RATE_LIMIT", "NCBI_RATE_LIMIT_WARNING", "UPSTREAM", "UPSTREAM"),  # as a rate limit of NCBI
    Conflict: ("STORE", "STORE", "INDEX_UNAVAILABLE", "STORE"),
    NcbiRateLimited: ("RATE_LIMIT", "NCBI_RATE_LIMIT_WARNING", "", ""),
    NcbiUnreadable: ("", "NCBI_PARSING_ERROR", "", ""),
    NcbiQueryRejected: ("", "NCBI_QUERY_ERROR", "", ""),
    NcbiFailed: ("ENTREZ", "NCBI_API_ERROR", "", ""),
    UpstreamFailed: ("UPSTREAM", "UPSTREAM", "UPSTREAM", "UPSTREAM"),
    IndexUnavailable: ("WEAVIATE", "", "INDEX_UNAVAILABLE", "INDEX_UNAVAILABLE"),  # the contract's vector index
    StoreFailed: ("STORE", "STORE", "INDEX_UNAVAILABLE", "STORE"),
    EmbeddingFailed: ("EMBEDDINGS", "", "INDEX_UNAVAILABLE", "EMBEDDINGS"),
    DeadlineExceeded: ("UPSTREAM", "TIMEOUT", "TIMEOUT", "TIMEOUT"),
    Failure: (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
}
BIO_MCP, PUBMED, CITELOOM, TTM = (
    {kind: codes[column] for kind, codes in _CODES.items() if codes[column]} for column in range(4)
)


def code_for(failure: Failure, dialect: Dialect) -> str:
    """The code that `dialect` gives to `failure`."""
    return next(dialect[kind] for kind in type(failure).__mro__ if kind in dialect)
