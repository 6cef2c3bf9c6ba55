"""`python -m tests.sam_local`: every function with each of its events, by `sam local invoke`."""

import json
import sys
import time

from tests.emulated.build import ROOT, Failed
from tests.emulated.emulator import Unusable as NoEmulator
from tests.opensearch_node.artefacts import Unusable as NoNode
from tests.sam_local.engine import Unusable
from tests.sam_local.local import FUNCTIONS, sam_local

FIRST = {"query_key": "first", "term": "17727691[uid] OR obesity OR migraine"}  # what the events are about
SHOWN = 160  # characters


def main() -> None:
    try:
        with sam_local() as local:
            local.invoke("sync_delta", {"tool": "pubmed.sync_delta", "arguments": FIRST})
            for function in FUNCTIONS:
                for path in sorted((ROOT / "events" / function).glob("*.json")):
                    began = time.monotonic()
                    answer = json.dumps(local.invoke(function, local.event(path)))
                    print(f"{function} {path.name} ({time.monotonic() - began:.0f} s): {answer[:SHOWN]}", flush=True)
    except (Unusable, Failed, NoEmulator, NoNode) as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
