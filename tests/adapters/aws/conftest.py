import pytest

from tests.aws_ports import NOBODY, MotoPorts


@pytest.fixture
def nobody(monkeypatch):
    """An environment that AWS does not know."""
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def ports(nobody):
    made = MotoPorts()
    yield made
    made.close()
