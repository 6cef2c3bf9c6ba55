"""The sample tools over HTTP, as a program: `python -m tests.doors.sample_serve HOST PORT [WORKERS]`.

`/pid` tells which of its processes answers.
"""

import os
import sys

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bio_mcp.doors.local import serve_locally, serve_on_socket
from bio_mcp.errors import InvalidInput
from tests.doors.conftest import sample_app


def command(number):
    return [sys.executable, "-m", "tests.doors.sample_serve", "along", str(number)]


if __name__ == "__main__":
    where, number, *workers = sys.argv[1:]
    app = sample_app()
    app.router.routes.append(Route("/pid", lambda _: PlainTextResponse(str(os.getpid()))))
    if where == "along":
        serve_on_socket(app, int(number))
        sys.exit()
    try:
        serve_locally(
            app,
            where,
            int(number),
            lambda url: print(url, flush=True),
            workers=int(workers[0]) if workers else 1,
            worker=command,
        )
    except InvalidInput as problem:
        sys.exit(str(problem))
    print("closed what stands around the server")
