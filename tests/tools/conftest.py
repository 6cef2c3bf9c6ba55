"""What the tests of the live tools share."""

import pytest

from tests.tools.live import Live


@pytest.fixture
def live(ncbi):
    made = Live(ncbi.base_url)
    yield made
    made.wire.close()
