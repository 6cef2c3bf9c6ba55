"""Excerpts: the passage to show for a hit, and a snippet of it."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from bio_mcp.retrieval.analysis import analyse, query_terms
from bio_mcp.retrieval.chunking import sentence_spans
from bio_mcp.retrieval.passages import StoredChunk

SNIPPET = 320  # characters, about two sentences
LONGEST = 2_000  # characters of a sentence in which a place is looked for
_WORD = re.compile(r"\S{1,100}")
_NAME = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_cached = lru_cache(4096)  # texts, some 10 MB, since the same passages answer many questions
_terms, _sentences = _cached(lambda text: frozenset(analyse(text))), _cached(sentence_spans)


def best_chunk(chunks: Sequence[StoredChunk], chunk_id: str | None, terms: Collection[str]) -> StoredChunk:
    """The chunk with id `chunk_id`; if None or unknown, the first of those with most of the query's terms."""
    named = next((each for each in chunks if each.chunk_id == chunk_id), None)
    return named or max(chunks, key=lambda each: overlap(each.text, terms))


def overlap(text: str, terms: Collection[str]) -> int:
    """Count how many of `terms` the text contains."""
    return len(_terms(text) & set(terms)) if text else 0


def snippet(text: str, terms: Collection[str], most: int = SNIPPET) -> str:
    """Cut a snippet of at most `most` characters around the sentence with most of `terms`.

    Whole sentences are added while they fit. A single sentence that is longer is cut at words, with ellipses, to where
    most of the terms are.
    """
    spans = _sentences(text)
    if not spans:
        return ""
    shared = [overlap(text[start:end], terms) for start, end in spans]
    first = last = shared.index(max(shared))
    while True:  # extended by the next sentence, or else by the one before
        if last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= most:
            last += 1
        elif first > 0 and spans[last][1] - spans[first - 1][0] <= most:
            first -= 1
        else:
            return _densest(text[spans[first][0] : spans[last][1]], terms, most)


def _densest(sentence: str, terms: Collection[str], most: int) -> str:
    """Cut a sentence to the first place of at most `most` characters that has most of `terms`."""
    if len(sentence) <= most:
        return sentence
    wanted = set(terms)
    words = [(each.start(), each.end(), wanted & set(analyse(each[0]))) for each in _WORD.finditer(sentence[:LONGEST])]
    best, start, last = 0, 0, 0
    for at, (begins, *_) in enumerate(words):
        while last < len(words) and words[last][1] - begins <= most - 2:
            last += 1
        found = len({term for *_, of in words[at:last] for term in of})
        if found > best:
            best, start = found, begins if words[last - 1][1] > most - 1 else 0
    return f"{'…' if start else ''}{cut(sentence[start:], most - bool(start))}"


def cut(text: str, limit: int) -> str:
    """Cut `text` to `limit` characters at most, the ellipsis included: at a word, unless that would lose half of it."""
    if len(text) <= limit:
        return text
    room = text[: limit - 1]
    at_word = "" if text[limit - 1].isspace() else "".join(room.rsplit(None, 1)[:-1])
    return f"{(at_word if len(at_word) > limit // 2 else room).rstrip()}…"


def matches(text: str, query: str) -> list[tuple[int, int]]:
    """Where the words of `text` are that match `query` as the search analyses both."""
    wanted = {term for term, _ in query_terms(query)}
    return [each.span() for each in _NAME.finditer(text) if wanted.intersection(analyse(each[0]))]
