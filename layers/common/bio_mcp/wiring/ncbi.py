"""NCBI's services, over the pacer of the mode."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bio_mcp.adapters.refreshing import RefreshingValue
from bio_mcp.settings import Settings
from bio_mcp.wiring.secrets import STORED, stored_secret

if TYPE_CHECKING:
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.entrez.transport import HttpTransport
    from bio_mcp.ports.ncbi import NcbiLookup, RateLimiter


def eutils(settings: Settings, pacer: "RateLimiter", key: Callable[[], str] | None, opened: ExitStack) -> "Eutils":
    """NCBI's E-utilities, with the API key that `key` gives at each request; closed with `opened`."""
    from bio_mcp.adapters.entrez.identity import Identity
    from bio_mcp.adapters.entrez.transport import HttpTransport

    wire = HttpTransport(settings.ncbi_base_url, identity=Identity(settings.ncbi_tool, settings.ncbi_admin_email, key))
    return _over(wire, pacer, settings, opened)


def lookup(settings: Settings, asked: "Eutils", opened: ExitStack) -> "NcbiLookup":
    """NCBI's other services, at the pace of `asked`; closed with `opened`."""
    from bio_mcp.adapters.entrez.converter import ConverterTransport
    from bio_mcp.adapters.entrez.identity import Identity
    from bio_mcp.adapters.entrez.lookup import EntrezLookup

    identity = Identity(settings.ncbi_tool, settings.ncbi_admin_email, None)
    wire = ConverterTransport(settings.converter_url, identity=identity)
    return EntrezLookup(asked, _over(wire, asked.pacer, settings, opened))


def _over(wire: "HttpTransport", pacer: "RateLimiter", settings: Settings, opened: ExitStack) -> "Eutils":
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.retry import Backoff
    from bio_mcp.literature.medline import parse

    opened.callback(wire.close)
    return Eutils(wire, pacer=pacer, parse=parse, backoff=Backoff(tries=settings.ncbi_max_retries + 1))


def ncbi_key(settings: Settings) -> Callable[[], str] | None:
    """Gives the NCBI API key, the newest version where AWS keeps it; None where there is no key."""
    given = settings.ncbi_api_key
    if given.startswith(STORED):
        value = RefreshingValue(stored_secret(given))
        return lambda: value.get()[0]
    return (lambda: given) if given else None
