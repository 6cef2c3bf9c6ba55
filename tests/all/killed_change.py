"""A process that fills the next index with the settings that it is given, and switches: to be killed on the way.

`python -m tests.all.killed_change HOME SETTINGS`, which are JSON.
"""

import json
import sys
from pathlib import Path

from bio_mcp.ports.models import Role
from bio_mcp.syncing.reindexing import switch
from tests.support.corpus import Corpus
from tests.support.reembedding import ready


def main(home: str, settings: str) -> None:
    """Fill and switch."""
    with Corpus(Path(home), **json.loads(settings)) as corpus:
        ready(corpus)
        switch(Role.NEXT, corpus)


if __name__ == "__main__":
    main(*sys.argv[1:])
