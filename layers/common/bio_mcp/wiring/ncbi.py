"""NCBI's services, over the pacer of the mode."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bio_mcp.adapters.kept import Kept
from bio_mcp.settings import Settings
from bio_mcp.wiring.secrets import STORED, stored_secret

if TYPE_CHECKING:
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.entrez.wire import Wire
    from bio_mcp.adapters.pace import Pacer
    from bio_mcp.desk import Desk


def eutils(settings: Settings, pacer: "Pacer", key: Callable[[], str] | None, opened: ExitStack) -> "Eutils":
    """NCBI's E-utilities, with the API key that `key` gives at each request; closed with `opened`."""
    from bio_mcp.adapters.entrez.identity import Identity
    from bio_mcp.adapters.entrez.wire import Wire

    wire = Wire(settings.ncbi_base_url, identity=Identity(settings.ncbi_tool, settings.ncbi_admin_email, key))
    return _over(wire, pacer, settings, opened)


def desk(settings: Settings, asked: "Eutils", opened: ExitStack) -> "Desk":
    """NCBI's other services, at the pace of `asked`; closed with `opened`."""
    from bio_mcp.adapters.entrez.converter import ConverterWire
    from bio_mcp.adapters.entrez.desk import NcbiDesk
    from bio_mcp.adapters.entrez.identity import Identity

    identity = Identity(settings.ncbi_tool, settings.ncbi_admin_email, None)
    wire = ConverterWire(settings.converter_url, identity=identity)
    return NcbiDesk(asked, _over(wire, asked.pacer, settings, opened))


def _over(wire: "Wire", pacer: "Pacer", settings: Settings, opened: ExitStack) -> "Eutils":
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.retry import Backoff
    from bio_mcp.literature.medline import parse

    opened.callback(wire.close)
    return Eutils(wire, pacer=pacer, parse=parse, backoff=Backoff(tries=settings.ncbi_max_retries + 1))


def ncbi_key(settings: Settings) -> Callable[[], str] | None:
    """Gives the NCBI API key, the newest version where AWS keeps it; None where there is no key."""
    given = settings.ncbi_api_key
    if given.startswith(STORED):
        kept = Kept(stored_secret(given))
        return lambda: kept.now()[0]
    return (lambda: given) if given else None
