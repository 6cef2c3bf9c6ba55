"""AWS's interfaces as a server of this process, for tests in which several processes or threads meet.

moto looks at an item and changes it in two steps, between which another thread may do the same. AWS does not, so
requests are answered one after the other.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server


@contextmanager
def running() -> Iterator[str]:
    """The address of the server, which ends with the block; everything that it holds is in memory."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app, alone = DomainDispatcherApplication(create_backend_app), threading.Lock()

    def one_by_one(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        with alone:
            return list(app(environ, start))

    server = make_server("127.0.0.1", 0, one_by_one, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)
