"""The console over the sample corpus."""

import pytest

from tests.doors.console.pages import Page, browser
from tests.sample_corpus import corpus


@pytest.fixture(scope="session")
def client():
    return browser(corpus())


@pytest.fixture(scope="session")
def get(client):
    """Fetches a page, by its path."""
    return lambda path, **more: Page(client.get(path, **more))
