"""Who calls, and what they may do."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Scope = Literal["read", "live", "sync", "ingest", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
MEANING: Mapping[Scope, str] = MappingProxyType(
    {
        "read": "search and read what this server holds",
        "live": "ask PubMed and NCBI's other services through this server",
        "sync": "bring papers from PubMed into this server's corpus",
        "ingest": "read documents into projects and the graph",
        "admin": "move watermarks, run evaluations and stop jobs",
    }
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever an access token or a sign-in names. `tenant` owns projects and budgets; "" is the installation's own.

    `client` is the id of the program that calls for the subject, "" where the token names none.
    """

    subject: str
    scopes: frozenset[str] = frozenset(SCOPES)
    tenant: str = ""
    client: str = ""
