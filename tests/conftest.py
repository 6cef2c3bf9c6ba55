"""Fixtures that every test may ask for."""

import gc
from contextlib import ExitStack, closing

import pytest
from hypothesis import settings

import bio_mcp.adapters.embedders  # noqa: F401  turns telemetry off before a test imports ONNX Runtime itself

settings.register_profile("same_every_time", derandomize=True, deadline=None)
settings.load_profile("same_every_time")

pytest_plugins = [
    "tests.support.eutils_server.fixtures",
    "tests.doors.command_line",
    "tests.support.scholarly_server.fixtures",
]


def pytest_collection():
    """Collect ten thousand tests without looking for garbage among them, which takes seconds of each process."""
    gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(20_000)  # rarely: tests that parse make many objects, and no garbage
    gc.enable()


@pytest.fixture
def closed():
    """Takes what has a `close`, and closes it after the test."""
    with ExitStack() as stack:
        yield lambda opened: stack.enter_context(closing(opened))


@pytest.fixture
def nobody(monkeypatch):
    """An environment of somebody whom AWS does not know."""
    from tests.support.aws_ports import NOBODY  # which loads moto

    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
