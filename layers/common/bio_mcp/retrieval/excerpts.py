"""Excerpts: the passage to show for a hit, and a snippet of it."""

from collections.abc import Collection, Sequence
from functools import lru_cache

from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.chunking import sentence_spans
from bio_mcp.retrieval.passages import StoredChunk

SNIPPET = 320  # characters, about two sentences
_cached = lru_cache(4096)  # texts, some 10 MB, since the same passages answer many questions
_terms, _sentences = _cached(lambda text: frozenset(analyse(text))), _cached(sentence_spans)


def best_chunk(chunks: Sequence[StoredChunk], chunk_id: str | None, terms: Collection[str]) -> StoredChunk:
    """The chunk with id `chunk_id`; if None or unknown, the first of those with most of the query's terms."""
    named = next((each for each in chunks if each.chunk_id == chunk_id), None)
    return named or max(chunks, key=lambda each: overlap(each.text, terms))


def overlap(text: str, terms: Collection[str]) -> int:
    """Count how many of `terms` the text contains."""
    return len(_terms(text) & set(terms)) if text else 0


def snippet(text: str, terms: Collection[str]) -> str:
    """Cut a snippet of at most `SNIPPET` characters around the sentence with most of `terms`.

    Whole sentences are added while they fit. A single sentence that is longer is cut at a word, with an ellipsis.
    """
    spans = _sentences(text)
    if not spans:
        return ""
    shared = [overlap(text[start:end], terms) for start, end in spans]
    first = last = shared.index(max(shared))
    while True:  # extended by the next sentence, or else by the one before
        if last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= SNIPPET:
            last += 1
        elif first > 0 and spans[last][1] - spans[first - 1][0] <= SNIPPET:
            first -= 1
        else:
            return cut(text[spans[first][0] : spans[last][1]], SNIPPET)


def cut(text: str, limit: int) -> str:
    """Cut `text` to `limit` characters at most, the ellipsis included: at a word, unless that would lose half of it."""
    if len(text) <= limit:
        return text
    room = text[: limit - 1]
    at_word = "" if text[limit - 1].isspace() else "".join(room.rsplit(None, 1)[:-1])
    return f"{(at_word if len(at_word) > limit // 2 else room).rstrip()}…"
