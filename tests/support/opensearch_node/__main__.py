"""`python -m tests.support.opensearch_node`: a node to try things on, until Ctrl-C. With `fetch`: only fetch it."""

import signal
import sys
import tempfile
from pathlib import Path

from tests.support.opensearch_node.artefacts import fetch
from tests.support.opensearch_node.jvm import free_port, start


def main() -> None:
    if sys.argv[1:] == ["fetch"]:
        fetch()
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory() as scratch:
        node = start(Path(scratch), free_port(), {})
        print(f"OpenSearch at {node.url} (process {node.jvm.pid}); Ctrl-C stops it and forgets its data", flush=True)
        try:
            node.jvm.wait()
        except KeyboardInterrupt:
            pass
        finally:
            node.stop()


if __name__ == "__main__":
    main()
