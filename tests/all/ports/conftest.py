"""The contract suites of the ports that AWS gives, over the emulator's stores: a file for each, so that no test of one
takes the place of another's."""

from collections.abc import Iterator

import pytest

from tests.adapters.ports.conftest import GIVEN, clock  # noqa: F401  the fixtures of the suites
from tests.emulated.emulator import emulator
from tests.support.aws_ports import NOBODY, AwsPorts

globals().update(GIVEN)


@pytest.fixture(scope="package")
def endpoint() -> Iterator[str]:
    """The emulator; one that cannot be had or started fails the tests."""
    with emulator(AUTH="false") as running:
        yield running.url


@pytest.fixture
def ports(endpoint, clock, monkeypatch):  # noqa: F811
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
    return AwsPorts(clock, endpoint)
