"""The library of Zotero that the settings name."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bio_mcp.errors import Failure, Misconfigured
from bio_mcp.health import OK, WARN, Finding
from bio_mcp.settings import Settings
from bio_mcp.wiring.secrets import secret_of

if TYPE_CHECKING:
    from bio_mcp.adapters.zotero.files import Files
    from bio_mcp.adapters.zotero.reading import Reader
    from bio_mcp.ports.zotero import ZoteroLibrary

ZOTERO_ORG = "https://api.zotero.org"
USUAL_DATA_DIR = "~/Zotero"
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def is_configured(settings: Settings) -> bool:
    """Whether any library of Zotero is named."""
    return bool(settings.zotero_api_url or settings.zotero_library_id or settings.zotero_data_dir)


def zotero(settings: Settings, opened: ExitStack) -> "ZoteroLibrary":
    """The library, by its web API, by a Zotero that runs here, or from its files; closed with `opened`.

    Raises `Misconfigured` that names what is missing.
    """
    if not is_configured(settings):
        raise Misconfigured(
            "no library of Zotero is named; set ZOTERO_LIBRARY_ID and ZOTERO_API_KEY (zotero.org), ZOTERO_API_URL (a "
            "Zotero that runs here: http://127.0.0.1:23119/api) or ZOTERO_DATA_DIR (its files)"
        )
    if _runs_here(settings.zotero_api_url):
        return _local(settings, opened)
    if settings.zotero_api_url or settings.zotero_api_key or not settings.zotero_data_dir:
        return _web(settings, opened)
    return _files(settings)


def check(library: "ZoteroLibrary") -> Finding:
    """Whether the library can be read; nothing but following it needs it."""
    try:
        number = len(library.collections())
        return Finding(OK, f"{library.library_id}, {number:,} collections")
    except Failure as failure:
        return Finding(WARN, str(failure), "Projects that follow Zotero stay as they are meanwhile.")


def _runs_here(url: str) -> bool:
    """Whether it is the address of a running Zotero, and not of a server of one's own."""
    parts = urlsplit(url)
    return parts.hostname in LOOPBACK and parts.path.rstrip("/").endswith("/api")


def _web(settings: Settings, opened: ExitStack) -> "ZoteroLibrary":
    from bio_mcp.adapters.zotero.web import PAGE, WebLibrary

    settings.needed("zotero_library_id")
    return WebLibrary(_reader(settings, PAGE, opened))


def _local(settings: Settings, opened: ExitStack) -> "ZoteroLibrary":
    from bio_mcp.adapters.zotero.local import PAGE, LocalLibrary

    return LocalLibrary(_reader(settings, PAGE, opened), _stored(settings))


def _files(settings: Settings) -> "ZoteroLibrary":
    from bio_mcp.adapters.zotero.sqlite import SqliteLibrary

    named = _library(settings) if settings.zotero_library_id else None
    return SqliteLibrary(Path(settings.zotero_data_dir).expanduser(), _stored(settings), named)


def _reader(settings: Settings, page: int, opened: ExitStack) -> "Reader":
    from bio_mcp.adapters.zotero.reading import Reader
    from bio_mcp.adapters.zotero.transport import Transport

    key = None if _runs_here(settings.zotero_api_url) else secret_of(settings.zotero_api_key)
    transport = Transport(settings.zotero_api_url or ZOTERO_ORG, key=key)
    opened.callback(transport.close)
    return Reader(transport, _library(settings), page)


def _stored(settings: Settings) -> "Files":
    from bio_mcp.adapters.zotero.files import Files

    data_dir, linked = settings.zotero_data_dir or USUAL_DATA_DIR, settings.zotero_linked_dir
    return Files(Path(data_dir).expanduser(), Path(linked).expanduser() if linked else None)


def _library(settings: Settings) -> str:
    """The library's name in the API. Raises `Misconfigured` for an id that is no number."""
    number = settings.zotero_library_id or "0"
    if not number.isdecimal() or (number == "0" and settings.zotero_library_type == "group"):
        raise Misconfigured("ZOTERO_LIBRARY_ID is not the number of a library; zotero.org shows it under Settings, API")
    return f"{settings.zotero_library_type}s/{number}"
