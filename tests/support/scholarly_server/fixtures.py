"""The pytest fixture `scholarly`: a local iCite, Crossref, Europe PMC and Unpaywall that know nothing yet."""

from collections.abc import Iterator

import pytest

from tests.support.scholarly_server.server import ScholarlyServer, serving


@pytest.fixture
def scholarly() -> Iterator[ScholarlyServer]:
    with serving() as server:
        yield server
