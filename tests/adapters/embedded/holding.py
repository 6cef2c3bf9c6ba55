"""A process that takes a lease and keeps it until it is killed.

python -m tests.adapters.embedded.holding DIRECTORY NAME
"""

import sys
import time
from pathlib import Path

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.sync_state import SqliteLeases


def main(directory, name):
    database = Database(Path(directory))
    print(bool(SqliteLeases(database).acquire(name, "holder", 600)), flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main(*sys.argv[1:])
