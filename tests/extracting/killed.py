"""Runs that kill themselves, as `tests.syncing.killed` says."""

from pathlib import Path

from bio_mcp.extracting.gazetteer import mesh
from tests.extracting.herbarium import Herbarium
from tests.syncing.killed import Doomed, forks


class DoomedHerbarium(Doomed, Herbarium):
    """A herbarium one of whose ports is deadly."""


if __name__ == "__main__":
    mesh()  # read once, for all forks
    forks(lambda home, *step: DoomedHerbarium(Path(home)).armed(*step).run())
