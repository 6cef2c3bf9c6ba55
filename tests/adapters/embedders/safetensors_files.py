"""Writes safetensors files, as the format's documentation has them."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

KINDS = {np.dtype("float32"): "F32", np.dtype("float16"): "F16", np.dtype("int64"): "I64", np.dtype("uint16"): "BF16"}


def write(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write tensors; an array of uint16 is taken for the bits of bf16."""
    header, content = {"__metadata__": {"format": "pt"}}, b""
    for name, values in tensors.items():
        part = np.ascontiguousarray(values).tobytes()
        place = [len(content), len(content) + len(part)]
        header[name] = {"dtype": KINDS[values.dtype], "shape": list(values.shape), "data_offsets": place}
        content += part
    described = json.dumps(header).encode()
    path.write_bytes(len(described).to_bytes(8, "little") + described + content)
