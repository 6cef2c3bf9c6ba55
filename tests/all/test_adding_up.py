"""The same history of a review on DynamoDB, which takes moto more than a minute."""

import pytest

from tests.screening.test_adding_up import *  # noqa: F403  the very same test
from tests.support.aws_ports import NOBODY, MotoPorts


@pytest.fixture
def stores(monkeypatch):
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
    ports = MotoPorts()
    yield ports.screenings, ports.leases
    ports.close()
