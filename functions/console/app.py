"""Lambda entry point: the pages for people."""

from bio_mcp.doors.aws.pages_functions import console_handler

handler = console_handler()
