"""A process that replaces documents of a project until it is killed; a line on its output acknowledges each.

    python -m tests.adapters.embedded.chunk_writer DIRECTORY COLLECTION

Write n gives document d{n % 3} ten chunks with the words all and v{n}.
"""

import sys
from pathlib import Path

from bio_mcp.adapters.embedded.database import Database
from tests.adapters.chunks import document, store
from tests.adapters.embedded.engine import collections_in

SIZE = 10


def main(directory, collection):
    collections = collections_in(Database(Path(directory)))
    for n in range(1_000_000):
        store(collections, collection, document(f"d{n % 3}", *[f"all v{n}"] * SIZE))
        print(n, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
