"""The pytest fixture `ncbi`: a local NCBI over the sample records, as it was at the start of every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.eutils_server.client import Running, running

SAMPLE = Path(__file__).parents[2] / "data" / "pubmed" / "quick600.dev.xml.gz"


@pytest.fixture(scope="session")
def ncbi_process() -> Iterator[Running]:
    """One server per test session, in a process of its own; use `ncbi`."""
    with running([SAMPLE]) as server:
        yield server


@pytest.fixture
def ncbi(ncbi_process: Running) -> Running:
    """`ncbi.base_url` for the product, `ncbi.control` for the test; reset before each test."""
    ncbi_process.control.reset()
    ncbi_process.control.rules(rate=None, key_rate=10, strict=False, invalid_keys=[])
    return ncbi_process
