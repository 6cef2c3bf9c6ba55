"""OpenSearch as a function: answers from a list, and what it was asked."""

import json

from bio_mcp.adapters.opensearch.bulk import Bulk
from bio_mcp.adapters.opensearch.passages import OpenSearchPassages
from bio_mcp.adapters.opensearch.schema import DOMAIN, Layout
from bio_mcp.adapters.opensearch.transport import Busy, OpenSearchTransport, Reply
from bio_mcp.adapters.retry import Backoff

OPEN = {
    "corpus-abc-1": {
        "mappings": {"_meta": {"fingerprint": "model-a", "dim": 8}},
        "settings": {"index": {"creation_date": "1700000000000"}},
    }
}


class Scripted:
    """Gives `answers` one after the other: (status, JSON), or None for no answer at all."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.pauses = []

    def send(self, method, path, body, _headers, _seconds):
        self.asked.append((method, path, [json.loads(line) for line in body.splitlines()]))
        answer = self.answers.pop(0)
        if answer is None:
            raise Busy("no answer")
        status, content = answer
        return Reply(status, content if isinstance(content, bytes) else json.dumps(content).encode())

    @property
    def backoff(self):
        return Backoff(tries=3, first_s=1, cap_s=4, jitter=0, sleep=self.pauses.append)

    def transport(self):
        return OpenSearchTransport(self.send, backoff=self.backoff)

    def bulk(self):
        return Bulk(self.transport(), self.backoff)

    def passages(self, flavour=DOMAIN):
        return OpenSearchPassages(self.transport(), "corpus", Layout(flavour, 1.2, 0.5), bulk=self.bulk())
