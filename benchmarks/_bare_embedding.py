"""The floor of an import: `python -m benchmarks._bare_embedding FILE` embeds the passages in FILE and nothing else.

FILE is JSON: for each 32 papers, the texts of their passages. It waits for a line of standard input, and prints its
CPU seconds and the time that it took.
"""

import json
import sys
import time
from pathlib import Path

from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings


def main(file: str) -> None:
    slices = json.loads(Path(file).read_text(encoding="utf-8"))
    model = OnnxEmbeddings(PACKAGED / DEFAULT)
    model.embed(slices[0][:8])
    print("ready", flush=True)
    sys.stdin.readline()
    cpu, began = time.process_time(), time.monotonic()
    for texts in slices:
        model.embed(texts)
    print(json.dumps([time.process_time() - cpu, time.monotonic() - began]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
