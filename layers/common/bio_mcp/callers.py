"""Who calls, and what they may do."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from bio_mcp.errors import Forbidden

Scope = Literal["read", "live", "sync", "ingest", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
MEANING: Mapping[Scope, str] = MappingProxyType(
    {
        "read": "search and read what this server holds",
        "live": "ask PubMed and NCBI's other services through this server",
        "sync": "bring papers from PubMed into this server's corpus",
        "ingest": "read documents into projects and the graph",
        "admin": "set how far topics are complete, run evaluations, stop jobs and, once signed in, invite people",
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


PUBLIC = "public"
"""The tenant of those who come without a token."""
ANONYMOUS = Caller("anonymous", frozenset({"read"}), PUBLIC)
"""One who comes without a token; `client` then stands for the address."""


def is_anonymous(caller: Caller | None) -> bool:
    """Whether it is one who came without a token where anybody may read."""
    return caller is not None and (caller.subject, caller.tenant) == (ANONYMOUS.subject, ANONYMOUS.tenant)


def may(caller: Caller | None, scope: Scope) -> bool:
    """Whether the caller has the scope; None, for whom no token is needed, has them all."""
    return caller is None or scope in caller.scopes


def forbidden(name: str, scope: Scope) -> Forbidden:
    """The failure for a caller who may not call or read `name`."""
    message = f"{name} needs the scope {scope} (to {MEANING[scope]}), which the access token lacks"
    return Forbidden(f"{message}; ask whoever runs this server for one that has it", scope=scope)


def as_json(caller: Caller) -> dict[str, Any]:
    """The caller as JSON values."""
    return {**asdict(caller), "scopes": sorted(caller.scopes)}


def who(caller: Caller | None) -> dict[str, str]:
    """What a log line or an audit record says of the caller: subject and tenant, each where there is one."""
    named = {"subject": caller.subject, "tenant": caller.tenant} if caller else {}
    return {name: value for name, value in named.items() if value}
