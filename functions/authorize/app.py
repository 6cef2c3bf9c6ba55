"""Lambda entry point: where people sign in and clients get tokens."""

from bio_mcp.doors.aws.authorize_function import authorize_handler

handler = authorize_handler()
