"""The console over the sample corpus."""

import pytest

from tests.doors.console.busy import add_everything, quiet_corpus
from tests.doors.console.pages import Page, browser
from tests.support.sample_corpus import Corpus, corpus


@pytest.fixture(scope="session")
def client():
    return browser(corpus())


@pytest.fixture(scope="session")
def get(client):
    """Fetches a page, by its path."""
    return lambda path, **more: Page(client.get(path, **more))


@pytest.fixture(scope="session")
def busy():
    """A corpus in which much goes on; nothing may be written to it."""
    with quiet_corpus() as made:
        add_everything(made)
        yield made


@pytest.fixture(scope="session")
def syncs(busy):
    """Its syncs by query."""
    return {each.request["query_key"]: each for each in busy.jobs.newest("sync", 9)}


@pytest.fixture(scope="session")
def client_of_busy(busy):
    return browser(busy)


@pytest.fixture(scope="session")
def look(client_of_busy):
    """Fetches a page of it, by its path."""
    return lambda path: Page(client_of_busy.get(path))


@pytest.fixture
def nothing(tmp_path):
    """A client of a corpus without anything, where nothing was asked yet."""
    made = Corpus(tmp_path, [])
    yield browser(made)
    made.close()
