"""What a page complains of: a request that its server drops, not one that ended because the page was left."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.all.browsing import chromium, opened

__all__ = ["chromium"]  # a fixture

PAGE = b"<link rel=icon href=data:,><h1>A page</h1><img src=/picture>"


@contextmanager
def pictured():
    """A server whose page has a picture that is dropped once the event is set; gives its address and the event."""
    drop = threading.Event()

    class Pictured(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/picture":
                drop.wait(60)
                return
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Pictured) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", drop
        finally:
            drop.set()
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("dropped", [False, True])
def test_only_a_request_that_the_server_drops_is_a_complaint(chromium, dropped):
    with pictured() as (base, drop), opened(chromium, base) as (page, complaints):
        with page.expect_request("**/picture"):
            page.goto("/", wait_until="commit")
        page.get_by_role("heading").wait_for()
        with page.expect_event("requestfailed"):
            if dropped:
                drop.set()
            else:
                page.goto("about:blank")
        assert [each for each in complaints if each.endswith("/picture")] == [f"{base}/picture"] * dropped
