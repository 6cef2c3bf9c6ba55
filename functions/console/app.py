"""Lambda entry point: the pages for people."""

from bio_mcp.doors.aws.console_function import console_handler

handler = console_handler()
