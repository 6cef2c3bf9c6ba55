"""A local HTTP endpoint that takes and gives JSON, with answers that a test prepares."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class JsonEndpoint:
    """Answers each POST by the next of `script`, (status, headers, body), or by `usual`, of the request where it is a
    function; keeps what was sent.

    A body that is no bytes is sent as JSON; the header X-Pause is a pause in seconds before each 64 KiB of it.
    """

    def __init__(self, usual):
        self.usual, self.script = usual, []
        self.requests, self.paths, self.authorizations = [], [], []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append(asked)
                endpoint.paths.append(self.path)
                endpoint.authorizations.append(self.headers["Authorization"])
                status, headers, body = endpoint.script.pop(0) if endpoint.script else (200, {}, endpoint.usual)
                body = body(asked) if callable(body) else body
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(content))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                for start in range(0, len(content), 1 << 16):
                    time.sleep(float(headers.get("X-Pause", 0)))
                    self.wfile.write(content[start : start + (1 << 16)])

            def log_message(self, *_):
                """Nothing is logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # a client that hangs up is no error here
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True, kwargs={"poll_interval": 0.01}).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
