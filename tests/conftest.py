"""Fixtures that every test may ask for."""

import gc

import bio_mcp.adapters.embedders  # noqa: F401  turns telemetry off before a test imports ONNX Runtime itself

pytest_plugins = ["tests.eutils_server.fixtures", "tests.doors.command_line"]


def pytest_collection():
    """Collect ten thousand tests without looking for garbage among them, which takes seconds of each process."""
    gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()
