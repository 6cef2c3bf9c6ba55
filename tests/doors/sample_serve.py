"""The sample tools over HTTP, as a program: `python -m tests.doors.sample_serve HOST PORT`."""

import sys

from bio_mcp.doors.local import serve_locally
from bio_mcp.errors import InvalidInput
from tests.doors.conftest import sample_app

if __name__ == "__main__":
    try:
        serve_locally(sample_app(), sys.argv[1], int(sys.argv[2]), lambda url: print(url, flush=True))
    except InvalidInput as problem:
        sys.exit(str(problem))
    print("closed what stands around the server")
