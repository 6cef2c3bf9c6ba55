"""The HTTP side: HTTP/1.1 with keep-alive, chunked and gzipped as NCBI does, and faults played on the wire."""

import gzip
import socket
import struct
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from tests.support.eutils_server import control
from tests.support.eutils_server.answers import Answer, Params, recorded
from tests.support.eutils_server.faults import Fault, FaultScript
from tests.support.eutils_server.fetching import efetch
from tests.support.eutils_server.links import einfo, elink
from tests.support.eutils_server.lookup import convert, mesh_search, mesh_summary, pmc_fetch
from tests.support.eutils_server.posting import ecitmatch, espell
from tests.support.eutils_server.searching import esearch
from tests.support.eutils_server.state import Ncbi
from tests.support.eutils_server.summaries import esummary
from tests.support.eutils_server.traffic import Log, Meter, Rules, refusal

ROOT = "/entrez/eutils/"
IDLE_S, REQUESTS_PER_CONNECTION = 4, 40
"""NCBI closes a connection after 4 idle seconds and after 40 requests, as its Keep-Alive header says."""
LONGEST_URL = 3_000
"""Characters of a request line that pass; about 250 PMIDs. NCBI asks for POST above 200 ids."""
UTILITIES: dict[str, Callable[[Ncbi, Params], Answer]] = {
    "esearch": esearch,
    "efetch": efetch,
    "esummary": esummary,
    "elink": elink,
    "einfo": einfo,
    "espell": espell,
    "ecitmatch": ecitmatch,
}
OTHERS: dict[tuple[str, str], Callable[[Ncbi, Params], Answer]] = {
    ("esearch", "mesh"): mesh_search,
    ("esummary", "mesh"): mesh_summary,
    ("efetch", "pmc"): pmc_fetch,
}
CONVERTER = "/tools/idconv/api/v1/articles/"


class Server(ThreadingHTTPServer):
    """One NCBI on one port; port 0 takes a free one."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, ncbi: Ncbi, rules: Rules, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host = host
        self.ncbi = ncbi
        self.rules = rules
        self.faults = FaultScript()
        self.log = Log()
        self.meter = Meter()
        super().__init__((host, port), Handler)

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up (kill -9 tests do) is no news; anything else is printed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65_536
    timeout = IDLE_S
    served = 0

    @property
    def ncbi_server(self) -> Server:
        return cast(Server, self.server)

    def version_string(self) -> str:
        return "Finatra"

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The Date header: by NCBI's own clock."""
        now = self.ncbi_server.ncbi.catalogue.now.timestamp()
        return super().date_time_string(now if timestamp is None else timestamp)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the log is /control/requests."""

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_DELETE = do_GET  # noqa: N815

    def _serve(self) -> None:
        self.served += 1
        self.connection.settimeout(None)  # only waiting for the next request is idle time
        self._handle()
        self.close_connection |= self.served >= REQUESTS_PER_CONNECTION
        if not self.close_connection:
            self.connection.settimeout(IDLE_S)

    def _handle(self) -> None:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if url.path.startswith(control.ROOT):
            self._send(control.handle(self.ncbi_server, self.command, url, body), {})
            return
        form = "application/x-www-form-urlencoded" in self.headers.get("Content-Type", "")
        query = url.query + ("&" + body.decode() if form else "")
        params = Params(parse_qsl(query, keep_blank_values=True))
        endpoint = url.path.removeprefix(ROOT).removesuffix(".fcgi").removesuffix(".cgi")
        endpoint = "idconv" if url.path == CONVERTER else endpoint
        entry = self.ncbi_server.log.open(self.command, endpoint, params, self.headers.get("User-Agent", ""))
        fault = self.ncbi_server.faults.for_request(endpoint, params)
        answer, headers = self._answer(url.path, endpoint, params, fault)
        entry |= {"status": None if fault and fault.drop else answer.status, "bytes": len(answer.body)}
        self._deliver(answer, headers, fault)

    def _answer(self, path: str, endpoint: str, params: Params, fault: Fault | None) -> tuple[Answer, dict[str, str]]:
        server = self.ncbi_server
        utility = OTHERS.get((endpoint, params.get("db"))) or UTILITIES.get(endpoint)
        utility = utility if path.startswith(ROOT) else None
        utility = convert if path == CONVERTER else utility
        if utility is None:
            return Answer(b"Not found", "text/plain", 404), {}
        if len(self.path) > LONGEST_URL:
            return recorded("414_uri_too_long.html"), {}
        refused, headers = refusal(server.rules, server.meter, params, str(self.client_address[0]))
        if refused:
            return refused, headers
        if fault and fault.answer:
            return fault.answer, headers
        return utility(server.ncbi, params), headers

    def _deliver(self, answer: Answer, headers: dict[str, str], fault: Fault | None) -> None:
        if fault is None:
            self._send(answer, headers)
        elif fault.drop:
            self._hang_up()
        elif fault.cut is not None:
            self._send_cut(answer, headers, fault)
        elif fault.stall:
            self._send_stalled(answer, headers, fault)
        else:
            self._send(answer, headers)

    def _head(self, answer: Answer, headers: dict[str, str]) -> None:
        self.send_response(answer.status)
        stored = {"Content-Type": answer.content_type, "Cache-Control": "private", "NCBI-PHID": "LOCAL.1.1.m_1"}
        left = REQUESTS_PER_CONNECTION - self.served
        stored |= (
            {"Keep-Alive": f"timeout={IDLE_S}, max={left}", "Connection": "Keep-Alive"}
            if left
            else {"Connection": "close"}
        )
        for name, value in (stored | headers | answer.headers).items():
            self.send_header(name, value)

    def _send(self, answer: Answer, headers: dict[str, str]) -> None:
        body = answer.body
        if "gzip" in self.headers.get("Accept-Encoding", "") and body:
            body = gzip.compress(body, compresslevel=1)
            headers = headers | {"Content-Encoding": "gzip"}
        self._head(answer, headers | {"Transfer-Encoding": "chunked"})
        self.end_headers()
        self.wfile.write(chunk(body) + b"0\r\n\r\n")

    def _send_cut(self, answer: Answer, headers: dict[str, str], fault: Fault) -> None:
        part = answer.body[: fault.cut]
        if fault.ending == "clean":
            self._send(Answer(part, answer.content_type, answer.status, answer.headers), headers)
            return
        self._head(answer, headers | {"Content-Length": str(len(answer.body))})
        self.end_headers()
        self.wfile.write(part)
        self._hang_up(reset=fault.ending == "reset")

    def _send_stalled(self, answer: Answer, headers: dict[str, str], fault: Fault) -> None:
        if fault.at == 0:
            time.sleep(fault.stall)
            self._send(answer, headers)
            return
        self._head(answer, headers | {"Transfer-Encoding": "chunked"})
        self.end_headers()
        self.wfile.write(chunk(answer.body[: fault.at]))
        self.wfile.flush()
        time.sleep(fault.stall)
        self.wfile.write(chunk(answer.body[fault.at :]) + b"0\r\n\r\n")

    def _hang_up(self, reset: bool = False) -> None:
        """Close the connection; `reset` sends a TCP reset in place of an orderly end."""
        self.wfile.flush()
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()


def chunk(body: bytes) -> bytes:
    """One chunk of a chunked body; none for nothing, as an empty chunk would end it."""
    return b"%x\r\n%s\r\n" % (len(body), body) if body else b""
