"""`python -m tests.sam_local`: every function in a container, to be invoked by hand until Ctrl-C."""

import signal
import sys
import time

from tests.emulated.build import Failed
from tests.emulated.emulator import Unusable as NoEmulator
from tests.sam_local.engine import Unusable
from tests.sam_local.local import sam_local, url_of
from tests.support.opensearch_node.artefacts import Unusable as NoNode

BY_HAND = """
The functions are up; Ctrl-C ends them and forgets everything. One of them with one of its events:

  curl {url} -d @events/search/rag_search.json

A container starts with the first event of its function, and stays for the others.
"""


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with sam_local() as local:
            print(BY_HAND.format(url=url_of(local.address, "search")), flush=True)
            while True:
                time.sleep(3_600)
    except KeyboardInterrupt:
        pass
    except (Unusable, Failed, NoEmulator, NoNode) as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
