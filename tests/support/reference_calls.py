"""The port `Calls`, in memory."""

from dataclasses import replace

from bio_mcp.errors import NotFound


class ReferenceCalls:
    """Calls by id, for ever."""

    def __init__(self):
        self.by_id = {}

    def record(self, call):
        self.by_id.setdefault(call.correlation_id, call)

    def get(self, correlation_id):
        if correlation_id not in self.by_id:
            raise NotFound(f"There is no call {correlation_id!r} in the log, which has the calls of all days")
        return self.by_id[correlation_id]

    def latest(self, limit):
        return [replace(each, read=b"") for each in [*reversed(self.by_id.values())][:limit]]
