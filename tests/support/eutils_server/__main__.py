"""`python -m tests.support.eutils_server --port 8010 FILE...`: serve PubMed XML files as NCBI would."""

import argparse
import contextlib
import os
import sys
import threading
from pathlib import Path

from tests.support.eutils_server.catalogue import Catalogue
from tests.support.eutils_server.server import CONVERTER, ROOT, Server
from tests.support.eutils_server.state import Ncbi
from tests.support.eutils_server.traffic import Rules

ROOT_OF_PROJECT = Path(__file__).parents[3]
DEMO = (
    ROOT_OF_PROJECT / "tests/data/pubmed/quick600.dev.xml.gz",
    ROOT_OF_PROJECT / "layers/common/bio_mcp/samples/pubmed.xml.gz",
)


def main() -> None:
    options = _options()
    files = options.files or ([] if options.empty else DEMO)
    catalogue = Catalogue(files, options.today)
    rules = Rules(options.rate)
    try:
        server = Server(Ncbi(catalogue), rules, options.host, options.port)
    except OSError as error:
        sys.exit(f"Cannot listen on {options.host} port {options.port}: {error.strerror}. Choose another: PORT=8011.")
    print(f"{server.address}{ROOT} serves {len(catalogue.visible):,} records until Ctrl-C. Where bio-mcp runs:")
    print(f"export NCBI_BASE_URL={server.address}{ROOT}")
    print(f"export NCBI_ID_CONVERTER_URL={server.address}{CONVERTER}", flush=True)
    if options.attached:
        threading.Thread(target=_leave_with_the_parent, daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever(poll_interval=0.1)


def _leave_with_the_parent() -> None:
    """End this process when standard input closes, so that a killed test run leaves no server behind."""
    sys.stdin.read()
    os._exit(0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.support.eutils_server", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="PubMed XML: plain, .gz, .xz or .tar.xz")
    parser.add_argument("--empty", action="store_true", help="start without the sample when no file is named")
    parser.add_argument("--attached", action="store_true", help="end when standard input does")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8010, help="0 takes a free one")
    parser.add_argument("--rate", type=int, help="requests per second without key; no limit if absent")
    parser.add_argument("--today", help="the day it is, YYYY/MM/DD; the real one if absent")
    return parser.parse_args()


if __name__ == "__main__":
    main()
