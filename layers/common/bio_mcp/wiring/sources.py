"""The places that documents are read from, each behind its guard."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bio_mcp.errors import Misconfigured
from bio_mcp.lazy import Lazy
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.ports.sources import Sources


def sources(settings: Settings, opened: ExitStack) -> "Sources":
    """Files of this machine, unless it is one of Lambda's, objects of S3 and documents on the web."""
    from bio_mcp.adapters.sources.guarded import FILES, GuardedSources

    places: dict[str, Callable[[], Sources]] = {
        "https": Lazy(lambda: _web(settings)),
        "s3": Lazy(lambda: _s3(settings, opened)),
    }
    if not settings.initialization:
        places[FILES] = Lazy(lambda: _folders(settings))
    return GuardedSources(places)


def _folders(settings: Settings) -> "Sources":
    from bio_mcp.adapters.sources.folders import Folders

    return Folders(settings.ingest_roots)


def _web(settings: Settings) -> "Sources":
    from bio_mcp.adapters.sources.web import WebFiles

    return WebFiles(settings.ingest_hosts)


def _s3(settings: Settings, opened: ExitStack) -> "Sources":
    try:
        from bio_mcp.adapters.aws.clients import client
        from bio_mcp.adapters.aws.s3_files import S3Files
    except ModuleNotFoundError:
        raise Misconfigured("reading from S3 takes boto3; install the extra aws, as docs/runbook.md says") from None
    made = client("s3")
    opened.callback(made.close)
    return S3Files(made, settings.ingest_buckets)
