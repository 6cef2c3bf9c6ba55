"""What makes the ports of a process: a table of each mode.

A row makes its port on first use, once, whichever threads ask, and imports what it needs then: a command or a function
loads what its own tools use, and no more.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from bio_mcp.errors import Misconfigured
from bio_mcp.lazy import Lazy
from bio_mcp.ports import OpenBackends, port
from bio_mcp.refreshing import RefreshingValue
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.adapters.caching import CachedPubmed
    from bio_mcp.ports.messages import Announcements
    from bio_mcp.ports.models import Indexes
    from bio_mcp.ports.ncbi import NcbiLookup, RateLimiter
    from bio_mcp.ports.stores import Cache, Embeddings

Row = Callable[[Any], Any]
Table = Mapping[str, Row]
OF_CALLS = {"passages", "embeddings"}  # ports whose rows look them up for each call anew


def load(path: str) -> Any:
    """The class or function "module:name", which is imported now."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def load_from_aws(path: str, what: str) -> Any:
    """The same of what takes boto3. Raises `Misconfigured` where that is not installed; `what` is what takes it."""
    try:
        return load(path)
    except ModuleNotFoundError:
        raise Misconfigured(f"{what} takes boto3; install the extra aws, as docs/runbook.md says") from None


class Mode(OpenBackends):
    """The ports that `TABLE` has rows for. A failure to make one is not remembered: the next use tries again.

    What a row opens is closed with `opened`.
    """

    TABLE: ClassVar[Table] = {}

    indexes: "port[Indexes]" = port("The indexes of the papers.")
    configured_embeddings: "port[Embeddings]" = port("The model that the settings name.")
    ncbi_key: "port[Callable[[], str] | None]" = port("Returns NCBI's API key at each call; None where there is none.")
    rate_limiter: "port[RateLimiter]" = port("The pace of requests to NCBI.")
    turns: "port[Callable[[str, float], RateLimiter]]" = port(
        "Makes the pace of another service, by the name of its budget and the seconds between two requests."
    )
    cache: "port[Cache | None]" = port("What NCBI and others answered; None where nothing is to be stored.")
    cached_pubmed: "port[CachedPubmed]" = port("PubMed behind the cache.")
    uncached_lookup: "port[NcbiLookup]" = port("NCBI's other services, past the cache.")
    bus: "port[Announcements]" = port("Where changes of the corpus are announced.")

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.opened = ExitStack()
        self._made: dict[str, Lazy[Any]] = {}

    def find_port(self, name: str) -> Any:
        if name in OF_CALLS:
            return self.TABLE[name](self)
        made = self._made.setdefault(name, Lazy(partial(self.TABLE[name], self)))()
        if isinstance(getattr(type(self), name, None), port):
            self.__dict__[name] = made
        return made

    def closing(self, made: Any) -> Any:
        """What was made, to be closed at the end."""
        self.opened.callback(made.close)
        return made

    def close(self) -> None:
        self.opened.close()


STORED = ("secretsmanager:", "ssm:")  # prefixes of the names of secrets that AWS stores


def stored_secret(reference: str) -> Callable[[], Sequence[str]]:
    """A function that reads the secret `secretsmanager:NAME` or `ssm:NAME` from AWS, newest version first.

    Raises `Misconfigured` for another reference, and if boto3 is not installed.
    """
    read: Callable[[], Sequence[str]] = load_from_aws(
        "bio_mcp.adapters.aws.clients:reader", "reading a secret that AWS keeps"
    )(reference)
    return read


def secret_of(setting: str) -> Callable[[], str] | None:
    """A function that returns the secret, in its newest version if AWS stores it; None where the setting is empty."""
    if setting.startswith(STORED):
        value = RefreshingValue(stored_secret(setting))
        return lambda: value.get()[0]
    return (lambda: setting) if setting else None
