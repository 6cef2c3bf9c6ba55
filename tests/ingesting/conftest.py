import pytest

from tests.ingesting.library import opened


@pytest.fixture
def library(tmp_path):
    with opened(tmp_path) as library:
        yield library
