"""Lambda entry point: a client of the endpoint, on a schedule."""

from bio_mcp.doors.aws.heartbeat import heartbeat_handler

handler = heartbeat_handler()
