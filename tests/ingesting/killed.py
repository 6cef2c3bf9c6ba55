"""Ingests that kill themselves, as `tests.syncing.killed` says."""

from pathlib import Path

from bio_mcp.ingesting.sources import Options
from tests.ingesting.library import Library
from tests.support.corpus import HashedWords
from tests.syncing.killed import Doomed, forks


class DoomedLibrary(Doomed, Library):
    """A library one of whose ports is deadly."""


def ingest(home, step, nth, when, model=""):
    """Ingest; with a `model` embed by that what is there."""
    library = DoomedLibrary(Path(home)).armed(step, nth, when)
    if model:
        library.model, library.other_models = HashedWords(model), [HashedWords()]
    library.ingest(options=Options(rebuild=bool(model)))


if __name__ == "__main__":
    forks(ingest)
