"""Processes of one data directory that ask the local NCBI as fast as they may.

python -m tests.adapters.embedded.pacing HOME BASE_URL STARTS
"""

import sys
from pathlib import Path

from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded


def main(home, base_url, starts):
    backends = Embedded(Settings(home=Path(home), ncbi_base_url=base_url))
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(int(starts)):
        backends.entrez.check()
    backends.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
