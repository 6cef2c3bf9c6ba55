"""One server for all services beside NCBI: what it knows is put into its dictionaries, faults are put in line."""

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.scholarly_server.shapes import ANSWERS


@dataclass
class Fault:
    """What happens to the next request whose path contains `matching`."""

    matching: str = ""
    status: int = 503
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    pause_s: float = 0.0


@dataclass(frozen=True)
class Asked:
    """A request that came; the values of a parameter that comes once are no list."""

    path: str
    parameters: dict
    user_agent: str


class ScholarlyServer:
    """`papers` are iCite's by PMID, `works` Crossref's by DOI, `copies` Unpaywall's by DOI, `texts` Europe PMC's
    full texts by id, `records` a list of its records: each is what the service would send of it."""

    def __init__(self, host="127.0.0.1"):
        self.papers, self.works, self.records, self.texts, self.copies = {}, {}, [], {}, {}
        self.faults, self.requests = [], []
        self._server = ThreadingHTTPServer((host, 0), self._handler())
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # a client that hangs up is no error here
        self.base_url = f"http://{host}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True, kwargs={"poll_interval": 0.01}).start()

    @property
    def settings(self):
        """Settings that make this the place of every service."""
        return {
            "icite_url": f"{self.base_url}/icite/api",
            "crossref_url": f"{self.base_url}/crossref",
            "europe_pmc_url": f"{self.base_url}/europepmc",
            "unpaywall_url": f"{self.base_url}/unpaywall/v2",
        }

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, service, path, parameters):
        """Status, type and body."""
        status, answer = ANSWERS[service](self, path, parameters)
        if isinstance(answer, bytes):
            return status, "application/xml", answer
        return status, "application/json", json.dumps(answer).encode()

    def _fault(self, path):
        found = next((each for each in self.faults if each.matching in path), None)
        if found:
            self.faults.remove(found)
        return found

    def _handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                parts = urlsplit(self.path)
                given = {name: each[0] if len(each) == 1 else each for name, each in parse_qs(parts.query).items()}
                server.requests.append(Asked(unquote(parts.path), given, self.headers["User-Agent"]))
                if fault := server._fault(parts.path):
                    time.sleep(fault.pause_s)
                    self._send(fault.status, "text/html", fault.body, fault.headers)
                else:
                    service, _, path = parts.path.lstrip("/").partition("/")
                    self._send(*server._answer(service, unquote(path), given))

            def _send(self, status, kind, body, headers=()):
                self.send_response(status)
                for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **dict(headers)}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Nothing is logged."""

        return Handler


@contextmanager
def serving(host="127.0.0.1"):
    server = ScholarlyServer(host)
    try:
        yield server
    finally:
        server.close()
