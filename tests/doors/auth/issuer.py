"""An issuer's published keys on a local port, which tests rotate and break."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Published:
    """`keys` are what is answered with, or `status` and nothing; `asked` counts."""

    def __init__(self, keys):
        self.keys, self.status, self.asked, self.url = list(keys), 200, 0, ""


@contextmanager
def publishing(*keys):
    """A server of these keys; gives its `Published`."""
    published = Published(keys)

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self):
            published.asked += 1
            body = json.dumps({"keys": published.keys}).encode() if published.status == 200 else b"secret details"
            self.send_response(published.status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        published.url = f"http://127.0.0.1:{server.server_port}/keys"
        try:
            yield published
        finally:
            server.shutdown()
            thread.join()
