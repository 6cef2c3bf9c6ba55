"""Tokenises texts with a tokenizer.json."""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer


def load_tokenizer(path: Path) -> Tokenizer:
    """A tokenizer that neither truncates nor pads. (The file of all-MiniLM-L6-v2 asks for 128 tokens, half its
    limit.)"""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def token_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The token ids of each text, special tokens included. An unpaired surrogate, as in broken JSON, reads as "?"."""
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    return [encoding.ids for encoding in tokenizer.encode_batch_fast(clean)]


def truncated(ids: list[int], limit: int) -> list[int]:
    """At most `limit` ids; the last one, which marks the end of the text, is retained."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]
