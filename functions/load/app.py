"""Lambda entry point: the steps of bulk loads."""

from bio_mcp.doors.aws.load_function import load_handler

handler = load_handler()
