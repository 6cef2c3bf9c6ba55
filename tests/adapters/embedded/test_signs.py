"""Signs tell which vectors are near without their numbers."""

import numpy as np
import pytest

from bio_mcp.adapters.embedded.vector_search import COMPARED, HALF, WORD, WORDS, agreement, directions, signs


@pytest.mark.parametrize("degrees", [0, 30, 60, 90, 150])
def test_vectors_differ_in_as_many_signs_as_their_angle_says(degrees):
    along, rng = directions(96), np.random.default_rng(1)
    first, other = np.linalg.qr(rng.standard_normal((96, 2)))[0].T
    second = np.cos(np.radians(degrees)) * first + np.sin(np.radians(degrees)) * other
    words = signs(np.array([first, second], np.float32), along)
    differing = int(np.bitwise_count(words[0] ^ words[1]).sum())
    assert differing == pytest.approx(WORDS * WORD * degrees / 180, abs=40)


def test_agreement_is_the_signs_that_are_equal_block_by_block():
    words = np.random.default_rng(0).integers(0, 2**63, (2 * COMPARED + 5, HALF), np.uint64)
    differing = [
        sum((int(own) ^ int(asked)).bit_count() for own, asked in zip(row, words[7], strict=True)) for row in words
    ]
    assert agreement(words, words[7]).tolist() == [255 - each for each in differing]
    assert agreement(words, words[7])[7] == 255
