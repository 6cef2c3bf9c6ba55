"""NCBI's services, over the mode's rate limiter."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.entrez.files import NcbiFiles
    from bio_mcp.adapters.entrez.transport import HttpTransport
    from bio_mcp.ports.ncbi import NcbiLookup, RateLimiter


def eutils(settings: Settings, pacer: "RateLimiter", key: Callable[[], str] | None, opened: ExitStack) -> "Eutils":
    """NCBI's E-utilities. `key` returns the API key for each request; the client is closed with `opened`."""
    from bio_mcp.adapters.entrez.identity import Identity
    from bio_mcp.adapters.entrez.transport import HttpTransport
    from bio_mcp.adapters.metered import MeteredTurns

    transport = HttpTransport(
        settings.ncbi_base_url, identity=Identity(settings.ncbi_tool, settings.ncbi_admin_email, key)
    )
    return _over(transport, MeteredTurns(pacer), settings, opened)


def lookup(settings: Settings, asked: "Eutils", opened: ExitStack) -> "NcbiLookup":
    """NCBI's lookup services, over the rate limiter of `eutils`; closed with `opened`."""
    from bio_mcp.adapters.entrez.converter import ConverterTransport
    from bio_mcp.adapters.entrez.identity import Identity
    from bio_mcp.adapters.entrez.lookup import EntrezLookup

    identity = Identity(settings.ncbi_tool, settings.ncbi_admin_email, None)
    transport = ConverterTransport(settings.converter_url, identity=identity)
    return EntrezLookup(asked, _over(transport, asked.pacer, settings, opened))


def pubmed_files(settings: Settings, opened: ExitStack) -> "NcbiFiles":
    """NCBI's baseline and update files; closed with `opened`."""
    from bio_mcp.adapters.entrez.files import NcbiFiles

    files = NcbiFiles(settings.ncbi_files_url, settings.ncbi_tool)
    opened.callback(files.close)
    return files


def _over(transport: "HttpTransport", pacer: "RateLimiter", settings: Settings, opened: ExitStack) -> "Eutils":
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.retry import Backoff
    from bio_mcp.literature.medline import parse

    opened.callback(transport.close)
    return Eutils(transport, pacer=pacer, parse=parse, backoff=Backoff(tries=settings.ncbi_max_retries + 1))
