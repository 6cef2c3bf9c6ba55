import numpy as np
import pytest

from bio_mcp.adapters.embedded.vector_search import with_each_row


@pytest.mark.parametrize(
    ("rows", "others", "length"), [(1_100, 384, 384), (21, 32, 384), (43, 3, 7), (5, 33, 1), (0, 8, 8), (8, 0, 8)]
)
def test_the_product_with_each_row_is_that_of_numpy(rows, others, length):
    random = np.random.default_rng(1)
    matrix, other = (random.standard_normal((count, length)).astype(np.float32) for count in (rows, others))
    np.testing.assert_allclose(with_each_row(matrix, other), matrix @ other.T, atol=1e-4)
