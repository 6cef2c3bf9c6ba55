"""A vocabulary in use that is nearly full."""

from itertools import count

from bio_mcp.retrieval.vocabulary import MOST, current

_numbers = count()


def fill_vocabulary(left: int) -> None:
    """Let the vocabulary in use have room for `left` terms; it is replaced after one more."""
    vocabulary = current()
    vocabulary.numbered(f"filler{next(_numbers)}" for _ in range(MOST - left - len(vocabulary)))
