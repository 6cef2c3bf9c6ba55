import pytest

from tests.support import moto_server
from tests.support.aws_ports import NOBODY, MotoPorts


@pytest.fixture
def nobody(monkeypatch):
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def ports(nobody):
    made = MotoPorts()
    yield made
    made.close()


@pytest.fixture(scope="session")
def server():
    with moto_server.running() as address:
        yield address
