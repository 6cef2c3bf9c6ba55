"""Fixtures that every test may ask for."""

import bio_mcp.adapters.embedders  # noqa: F401  turns telemetry off before a test imports ONNX Runtime itself

pytest_plugins = ["tests.eutils_server.fixtures", "tests.doors.command_line"]
