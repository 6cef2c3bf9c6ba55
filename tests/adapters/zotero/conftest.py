"""A library of Zotero, read in every way."""

from contextlib import ExitStack

import pytest

from tests.adapters.zotero.ways import WAYS, Web
from tests.support.zotero_server.library import Library


@pytest.fixture
def library():
    return Library()


@pytest.fixture
def reading(library, tmp_path):
    """Makes a way to read the library."""
    with ExitStack() as opened:
        yield lambda of: of(library, tmp_path / "Zotero", opened)


@pytest.fixture(params=WAYS)
def way(request, reading):
    return reading(WAYS[request.param])


@pytest.fixture
def web(reading):
    return reading(Web)
