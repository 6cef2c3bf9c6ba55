"""Ingests that kill themselves, as `tests.syncing.killed` says."""

from pathlib import Path

from tests.ingesting.library import Library
from tests.syncing.killed import Doomed, forks


class DoomedLibrary(Doomed, Library):
    """A library one of whose ports is deadly."""


if __name__ == "__main__":
    forks(lambda home, *step: DoomedLibrary(Path(home)).armed(*step).ingest())
