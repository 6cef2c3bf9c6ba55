"""Thai text cut into words, which it writes without spaces.

PyThaiNLP's newmm does it with its own word list and the names of `thai_dictionary`; it is imported when Thai text
comes, and may write nothing and fetch nothing. Without it only those names are found.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from bio_mcp.retrieval.thai_dictionary import dictionary, longest_name, spelled

THAI = re.compile("[\u0e01-\u0e5b]")
THAI_RUN = re.compile(r"[\u0e01-\u0e5b]+(?:[ -]?\d{1,2}(?!\d))?")  # with a number, which may be part of a name
WORD_MARK = "="  # before a word among the terms of a text, which else are its n-grams

Cut = Callable[[str], Sequence[str]]


def words_of(text: str) -> list[str]:
    """The Thai words of `text` in their order; what is not Thai is left out."""
    return [word for run in THAI_RUN.findall(spelled(text)) for word in cut(run) if THAI.match(word)]


def cut(run: str) -> Sequence[str]:
    """A run of Thai letters, `spelled`, as words; a number behind it is part of a name or a word of its own."""
    return (_newmm() or _by_names)(run)


def can_segment() -> bool:
    """Whether PyThaiNLP is installed."""
    return _newmm() is not None


def stop_words() -> frozenset[str]:
    """Thai words that say nothing of a subject; empty without PyThaiNLP."""
    return _stop_words() if can_segment() else frozenset()


def term_of(word: str) -> str:
    """A Thai word as a term; a term holds no white space."""
    return WORD_MARK + "".join(word.split())


def word_terms(text: str) -> list[str]:
    """What an index has of the Thai words of a text, beside its n-grams: words as short as two letters are found."""
    return [term_of(word) for word in words_of(text)] if THAI.search(text) and can_segment() else []


@cache
def _newmm() -> Cut | None:
    """The segmenter of PyThaiNLP; None where it is not installed."""
    os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")
    os.environ.setdefault("PYTHAINLP_OFFLINE", "1")
    try:
        from pythainlp.corpus import thai_words
        from pythainlp.tokenize.newmm import segment
        from pythainlp.util import Trie
    except ModuleNotFoundError:
        return None
    known = Trie(thai_words() | dictionary().keys())
    return lambda run: segment(run, custom_dict=known, safe_mode=True)


@cache
def _stop_words() -> frozenset[str]:
    from pythainlp.corpus import thai_stopwords

    return frozenset(thai_stopwords())


def _by_names(run: str) -> list[str]:
    """The run parted at the names that it holds, the longest at each place."""
    return [part for part in _parts(run) if part]


def _parts(run: str) -> Iterator[str]:
    start = at = 0
    while at < len(run):
        lengths = range(min(longest_name(), len(run) - at), 1, -1)
        length = next((n for n in lengths if run[at : at + n] in dictionary()), 0)
        if length:
            yield run[start:at]
            yield run[at : at + length]
            start = at + length
        at += length or 1
    yield run[start:]
