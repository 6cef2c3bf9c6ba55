"""Reads safetensors files: a header in JSON, then the values of each tensor. Nothing in them is run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]

LONGEST_HEADER = 100_000_000  # bytes, as the format's own library allows
INTEGERS = {"I64", "I32", "U8", "BOOL"}  # tables of positions, which some files have beside the weights


def load(path: Path) -> Weights:
    """The floating-point tensors in `path` by name, in fp32, which has every value of fp16 and bf16 exactly.

    Raises `ValueError` for a file that is none, or that has numbers of another kind.
    """
    content = np.memmap(path, np.uint8, mode="r") if path.stat().st_size else np.empty(0, np.uint8)
    if len(content) < 8 or not 0 < (size := int(content[:8].view("<u8")[0])) <= min(LONGEST_HEADER, len(content) - 8):
        raise ValueError("this is no safetensors file")
    header: dict[str, Any] = json.loads(content[8 : 8 + size].tobytes())
    values = content[8 + size :]
    header.pop("__metadata__", None)
    return {name: _tensor(values, each) for name, each in header.items() if each["dtype"] not in INTEGERS}


def _tensor(values: NDArray[np.uint8], described: dict[str, Any]) -> NDArray[np.float32]:
    start, end = described["data_offsets"]
    if not 0 <= start <= end <= len(values):
        raise ValueError("a tensor is not within its file")
    part, kind = np.array(values[start:end]), described["dtype"]
    if kind == "BF16":
        numbers = (part.view("<u2").astype(np.uint32) << 16).view(np.float32)
    elif kind in ("F32", "F16"):
        numbers = part.view("<f4" if kind == "F32" else "<f2").astype(np.float32)
    else:
        raise ValueError(f"numbers of the kind {kind} are not read")
    return numbers.reshape(described["shape"])
