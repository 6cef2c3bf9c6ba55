import json

import numpy as np
import pytest

from bio_mcp.adapters.embedders.tensors import load
from tests.adapters.embedders.safetensors_files import write

NUMBERS = np.array([[1.5, -2.0, 0.25], [3.0, 1024.0, -0.125]], dtype=np.float32)


@pytest.mark.parametrize(
    "stored",
    [NUMBERS, NUMBERS.astype(np.float16), (NUMBERS.view(np.uint32) >> 16).astype(np.uint16)],
    ids=["fp32", "fp16", "bf16"],
)
def test_numbers_are_read_as_fp32_without_loss(tmp_path, stored):
    write(tmp_path / "m", {"a": stored, "b": NUMBERS[0], "positions": np.arange(3)})
    found = load(tmp_path / "m")
    assert sorted(found) == ["a", "b"]
    assert found["a"].dtype == np.float32
    assert np.array_equal(found["a"], NUMBERS)
    assert np.array_equal(found["b"], NUMBERS[0])


def header(described):
    content = json.dumps(described).encode()
    return len(content).to_bytes(8, "little") + content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04",
        b"\xff" * 16,
        (200).to_bytes(8, "little") + b"{}",
        header({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}),
        header({"a": {"dtype": "F32", "shape": [0], "data_offsets": [8, 0]}}),
        header({"a": {"dtype": "F8_E5M2", "shape": [0], "data_offsets": [0, 0]}}),
        header({"a": {"dtype": "F32", "shape": [7], "data_offsets": [0, 0]}}),
    ],
    ids=["empty", "archive", "endless", "cut", "beyond the file", "backwards", "another kind", "another shape"],
)
def test_what_is_no_such_file_is_refused(tmp_path, content):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ValueError, match=r"."):
        load(tmp_path / "m")
