import os

import pytest

from bio_mcp.adapters.parsers.isolated import IsolatedParser, Limits

ENVIRONMENT = {"PATH": os.environ["PATH"]}


@pytest.fixture
def make():
    """Makes parsers, with these limits; the default reader is the product's."""
    made = []

    def parser(*, memory=1 << 30, seconds=60, quiet_s=30, pages=2_000, tesseract="tesseract", **options):
        limits = Limits(memory, seconds, quiet_s, pages)
        made.append(IsolatedParser(limits, tesseract=tesseract, environment=ENVIRONMENT, **options))
        return made[-1]

    yield parser
    for each in made:
        each.close()


@pytest.fixture(scope="module")
def parser():
    """The parser as it is shipped, for all tests of a module."""
    shared = IsolatedParser(Limits(1 << 30, 120, 60, 2_000), tesseract="tesseract", environment=ENVIRONMENT)
    yield shared
    shared.close()
