"""Thai questions: where words begin and end, and what they are in English by a dictionary of our own."""

import os
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources

_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff]")


def spelled(text: str) -> str:
    """Thai text in one spelling: no invisible characters, sara am as one character, sara ae not as two sara e."""
    plain = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return plain.replace("\u0e4d\u0e32", "\u0e33").replace("\u0e40\u0e40", "\u0e41")


@cache
def dictionary() -> Mapping[str, tuple[str, ...]]:
    """The English names of each Thai name, the usual one first."""
    table = resources.files("bio_mcp.retrieval").joinpath("thai_english.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines())
    return {spelled(thai): tuple(english.split(";")) for thai, english, _kind, _checks in rows}


THAI = re.compile("[\u0e01-\u0e5b]")
THAI_RUN = re.compile(r"[\u0e01-\u0e5b]+(?:[ -]?\d{1,2}(?!\d))?")  # with a number, which may be part of a name
WORD_MARK = "="  # before a word among the terms of a text, which else are its n-grams

Cut = Callable[[str], Sequence[str]]


def words_of(text: str) -> list[str]:
    """The Thai words of `text` in their order; what is not Thai is left out."""
    return [word for run in THAI_RUN.findall(spelled(text)) for word in cut(run) if THAI.match(word)]


def cut(run: str) -> Sequence[str]:
    """A run of Thai letters, `spelled`, as words; a number behind it is part of a name or a word of its own."""
    return (segmenter() or _by_names)(run)


def stop_words() -> frozenset[str]:
    """Thai words that say nothing of a subject; empty without PyThaiNLP."""
    if not segmenter():
        return frozenset()
    from pythainlp.corpus import thai_stopwords

    return frozenset(thai_stopwords())


def term_of(word: str) -> str:
    """A Thai word as a term; a term holds no white space."""
    return WORD_MARK + "".join(word.split())


def word_terms(text: str) -> list[str]:
    """What an index has of the Thai words of a text, beside its n-grams: words as short as two letters are found."""
    return [term_of(word) for word in words_of(text)] if THAI.search(text) and segmenter() else []


@cache
def segmenter() -> Cut | None:
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


def _by_names(run: str) -> list[str]:
    """The run parted at the names that it holds, the longest at each place."""
    parts: list[str] = []
    start, at, longest = 0, 0, max(map(len, dictionary()))
    while at < len(run):
        lengths = range(min(longest, len(run) - at), 1, -1)
        length = next((n for n in lengths if run[at : at + n] in dictionary()), 0)
        if length:
            parts += run[start:at], run[at : at + length]
            start = at + length
        at += length or 1
    return [part for part in (*parts, run[start:]) if part]
