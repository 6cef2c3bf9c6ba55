"""A library of Zotero, read in every way."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.adapters.zotero.ways import WAYS, Way, Web
from tests.support.zotero_server.library import Library


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.fixture(params=WAYS)
def way(request, library, tmp_path) -> Iterator[Way]:
    with ExitStack() as opened:
        yield WAYS[request.param](library, tmp_path / "Zotero", opened)


@pytest.fixture
def web(library, tmp_path) -> Iterator[Web]:
    with ExitStack() as opened:
        yield Web(library, tmp_path / "Zotero", opened)
