"""Failure -> wire code, one table per contract family.

A failure takes the code of its nearest ancestor in the family's table; a bug takes `UNKNOWN`.
"""

from collections.abc import Mapping

from bio_mcp import errors

Dialect = Mapping[type[errors.Failure], str]

UNKNOWN = "UNKNOWN"

BIO_MCP: Dialect = {
    errors.InvalidInput: "VALIDATION",
    errors.Misconfigured: UNKNOWN,  # there is no code for it, and the arguments are not at fault
    errors.NotFound: "NOT_FOUND",
    errors.ModelMismatch: "INVARIANT_FAILURE",
    errors.HybridUnavailable: "VALIDATION",
    errors.BudgetSpent: "RATE_LIMIT",
    errors.Conflict: "STORE",
    errors.NcbiRateLimited: "RATE_LIMIT",
    errors.NcbiFailed: "ENTREZ",
    errors.UpstreamFailed: "UPSTREAM",
    errors.IndexUnavailable: "WEAVIATE",  # the contract's word for the vector index
    errors.StoreFailed: "STORE",
    errors.EmbeddingFailed: "EMBEDDINGS",
    errors.DeadlineExceeded: "UPSTREAM",
    errors.Failure: UNKNOWN,
}

PUBMED: Dialect = {
    errors.InvalidInput: "VALIDATION",
    errors.Misconfigured: UNKNOWN,  # there is no code for it, and the arguments are not at fault
    errors.NotFound: "NOT_FOUND",
    errors.BudgetSpent: "NCBI_RATE_LIMIT_WARNING",  # the contract's only word for too many calls
    errors.Conflict: "STORE",
    errors.NcbiRateLimited: "NCBI_RATE_LIMIT_WARNING",
    errors.NcbiUnreadable: "NCBI_PARSING_ERROR",
    errors.NcbiQueryRejected: "NCBI_QUERY_ERROR",
    errors.NcbiFailed: "NCBI_API_ERROR",
    errors.UpstreamFailed: "UPSTREAM",
    errors.StoreFailed: "STORE",
    errors.DeadlineExceeded: "TIMEOUT",
    errors.Failure: UNKNOWN,
}

CITELOOM: Dialect = {
    errors.InvalidInput: "INVALID_ARG",
    errors.Misconfigured: UNKNOWN,  # there is no code for it, and the arguments are not at fault
    errors.NotFound: "INVALID_PROJECT",
    errors.ModelMismatch: "EMBEDDING_MISMATCH",
    errors.HybridUnavailable: "HYBRID_NOT_SUPPORTED",
    errors.BudgetSpent: "UPSTREAM",  # as a rate limit of NCBI
    errors.Conflict: "INDEX_UNAVAILABLE",
    errors.UpstreamFailed: "UPSTREAM",
    errors.IndexUnavailable: "INDEX_UNAVAILABLE",
    errors.StoreFailed: "INDEX_UNAVAILABLE",
    errors.EmbeddingFailed: "INDEX_UNAVAILABLE",
    errors.DeadlineExceeded: "TIMEOUT",
    errors.Failure: UNKNOWN,
}

TTM: Dialect = {
    errors.InvalidInput: "INVALID_ARG",
    errors.Misconfigured: UNKNOWN,  # there is no code for it, and the arguments are not at fault
    errors.NotFound: "NOT_FOUND",
    errors.ModelMismatch: "INVARIANT_FAILURE",
    errors.HybridUnavailable: "INVALID_ARG",
    errors.BudgetSpent: "UPSTREAM",  # as a rate limit of NCBI
    errors.Conflict: "STORE",
    errors.UpstreamFailed: "UPSTREAM",
    errors.IndexUnavailable: "INDEX_UNAVAILABLE",
    errors.StoreFailed: "STORE",
    errors.EmbeddingFailed: "EMBEDDINGS",
    errors.DeadlineExceeded: "TIMEOUT",
    errors.Failure: UNKNOWN,
}


def code_for(failure: errors.Failure, dialect: Dialect) -> str:
    """The code that `dialect` gives to `failure`."""
    return next(dialect[kind] for kind in type(failure).__mro__ if kind in dialect)
