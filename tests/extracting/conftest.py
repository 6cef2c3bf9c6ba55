import pytest

from tests.extracting.herbarium import opened


@pytest.fixture
def herbarium(tmp_path):
    with opened(tmp_path) as herbarium:
        yield herbarium
