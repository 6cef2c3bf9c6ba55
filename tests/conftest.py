"""Fixtures that every test may ask for."""

pytest_plugins = ["tests.eutils_server.fixtures", "tests.doors.command_line"]
