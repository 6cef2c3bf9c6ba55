"""Text to the ids of a tokenizer.json."""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer


def load_tokenizer(path: Path) -> Tokenizer:
    """A tokenizer that neither cuts nor pads: all-MiniLM-L6-v2's file asks for 128 tokens, half of what it reads."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def token_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The ids of each text, special tokens included. A lone surrogate, as broken JSON brings them, reads as "?"."""
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    return [encoding.ids for encoding in tokenizer.encode_batch_fast(clean)]


def cut(ids: list[int], limit: int) -> list[int]:
    """At most `limit` ids; the last one, which closes the text, stays."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]
