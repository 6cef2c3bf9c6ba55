"""OpenSearch as a function: answers from a list, and what it was asked."""

import json

import urllib3

from bio_mcp.adapters.opensearch.client import OpenSearchTransport, client
from bio_mcp.adapters.opensearch.passages import OpenSearchPassages
from bio_mcp.adapters.opensearch.schema import DOMAIN, Layout
from bio_mcp.adapters.retry import Backoff

OPEN = {
    "corpus-abc-1": {
        "mappings": {"_meta": {"fingerprint": "model-a", "dim": 8}},
        "settings": {"index": {"creation_date": "1700000000000"}},
    }
}
URL = "http://search.example"
JSON = "application/json; charset=UTF-8"


class Scripted:
    """Gives `answers` one after the other: (status, JSON or bytes[, content type]), or None for no answer at all."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.sent = []  # headers and time-outs
        self.pauses = []

    def urlopen(self, method, path, body, *, headers, timeout, retries):
        """As a pool of urllib3's connections answers."""
        assert not retries.total
        self.asked.append((method, path, [json.loads(line) for line in (body or b"").splitlines()]))
        self.sent.append((headers, timeout))
        answer = self.answers.pop(0)
        if answer is None:
            raise urllib3.exceptions.ProtocolError("no answer")
        status, content, *kind = answer
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return urllib3.HTTPResponse(body, {"content-type": kind[0] if kind else JSON}, status)

    @property
    def backoff(self):
        return Backoff(tries=3, first_s=1, cap_s=4, jitter=0, sleep=self.pauses.append)

    def client(self, sign=None):
        """opensearch-py's transport, which is given these answers in place of a server's."""
        made = client(URL, sign)
        made.get_connection().pool = self
        return made

    def transport(self, **bounds):
        return OpenSearchTransport(self.client(), backoff=self.backoff, bulk_backoff=self.backoff, **bounds)

    def passages(self, flavour=DOMAIN):
        return OpenSearchPassages(self.transport(), "corpus", Layout(flavour))


def item(pmid, status, kind="index", error=None):
    return {kind: {"_id": pmid, "status": status, **({"error": {"type": error}} if error else {})}}
