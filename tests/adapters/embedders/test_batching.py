from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.embedders.batching import batches

LENGTHS = st.lists(st.integers(2, 256), max_size=60)


@given(LENGTHS, st.integers(1, 2_000))
def test_every_text_is_in_exactly_one_batch(lengths, budget):
    assert sorted(index for batch in batches(lengths, budget) for index in batch) == list(range(len(lengths)))


@given(LENGTHS, st.integers(1, 2_000))
def test_a_batch_keeps_to_the_budget_once_padded_or_is_one_text(lengths, budget):
    for batch in batches(lengths, budget):
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= budget


@given(LENGTHS, st.integers(1, 2_000))
def test_batches_come_longest_first(lengths, budget):
    inorder = [lengths[index] for batch in batches(lengths, budget) for index in batch]
    assert inorder == sorted(lengths, reverse=True)
