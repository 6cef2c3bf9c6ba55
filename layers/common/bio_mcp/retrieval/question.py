"""A question as it was asked, in English or Thai, and as what an English and a Thai index are searched by."""

import gzip
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import chain
from math import log

from bio_mcp.retrieval.analysis import ANALYSIS_VERSION, QUERY_CHARACTERS, analyse, query_terms
from bio_mcp.retrieval.thai import THAI, THAI_RUN, cut, dictionary, segmenter, spelled, stop_words, term_of, words_of

GRAMS_SHARE = 0.5  # of a word's weight is what its n-grams have together, which texts have that were cut by them alone
MOST_UNKNOWN = 8  # words that are named
IN_QUESTIONS = frozenset(
    "ลด ระดับ ชนิด เพิ่ม เพิ่มขึ้น ช่วย ผล ผลลัพธ์ วิธี สัมพันธ์ ความสัมพันธ์ เปรียบเทียบ ใช้ การใช้ สามารถ ดีขึ้น "
    "กลุ่ม จำนวน ปริมาณ มี เป็น เกี่ยวข้อง ไหม มั้ย หรือเปล่า".split()
)  # words that say nothing of a subject, which PyThaiNLP does not count among such
PREFIXES = ("การ", "ความ", "โรค", "ภาวะ", "อาการ", "ผู้", "ยา", "ใบ", "ผล", "ต้น", "สาร")

Weighted = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question. `english` is what is looked up in English, empty where nothing is; `thai` has the terms of its Thai
    words, none where it is in English. `unknown` are Thai words that the dictionary does not have. `segmented`:
    PyThaiNLP cut the words.
    """

    text: str
    english: str
    thai: Weighted = ()
    unknown: tuple[str, ...] = ()
    segmented: bool = True

    @property
    def terms(self) -> Weighted:
        """The terms of both languages."""
        return (*(query_terms(self.english) if self.english else ()), *self.thai)


def parse_question(text: str, language: str | None = None) -> ParsedQuestion:
    """Read a question. Every Thai word in it is translated, unless `language` is "en"; the rest stays as it is."""
    text = text[:QUERY_CHARACTERS]
    if language == "en" or not THAI.search(text):
        return ParsedQuestion(text, text)
    empty = stop_words() | IN_QUESTIONS
    telling = [word for word in dict.fromkeys(words_of(text)) if _english(word) or word not in empty]
    unknown = [word for word in telling if not _english(word)]

    def translated(run: re.Match[str]) -> str:
        words = [_english(word) if THAI.match(word) else (word,) for word in cut(run.group())]
        return f" {' '.join(chain.from_iterable(words))} "

    english = " ".join(THAI_RUN.sub(translated, spelled(text)).split())
    looked_up = english if any(map(str.isalnum, english)) else ""
    return ParsedQuestion(text, looked_up, tuple(_terms(telling)), tuple(unknown[:MOST_UNKNOWN]), bool(segmenter()))


def _english(word: str) -> tuple[str, ...]:
    """The names of a Thai word in English, also where it has a prefix that the dictionary leaves out."""
    known = dictionary()
    bare = (word.removeprefix(prefix) for prefix in ("", *PREFIXES))
    return next((known[each] for each in bare if each in known), ())


def _terms(words: list[str]) -> Iterator[tuple[str, float]]:
    """Yield the terms of Thai words: each word, and its n-grams."""
    for word in words:
        yield term_of(word), 1.0
        grams = [gram for gram in analyse(word) if len(gram) > 2]
        yield from ((gram, GRAMS_SHARE / len(grams)) for gram in grams)


WEIGHT = 0.2  # of a synonym's term beside a term of the query
EXTRA_TERMS = 16  # added to a query, at most

Variant = tuple[str, ...]


def expansion(terms: Sequence[str]) -> list[tuple[str, float]]:
    """Terms of the synonyms of the names in `terms`, each with `WEIGHT`; at most `EXTRA_TERMS`.

    `terms` are in the query's order. The longest name at each position counts.
    """
    extra: dict[str, float] = {}
    given, position = set(terms), 0
    while position < len(terms) and len(extra) < EXTRA_TERMS:
        for length in range(min(_longest_name(), len(terms) - position), 0, -1):
            names = concepts().get(tuple(sorted(terms[position : position + length])))
            if names is not None:
                extra.update((term, WEIGHT) for variant in names for term in variant if term not in given)
                position += length - 1
                break
        position += 1
    return list(extra.items())[:EXTRA_TERMS]


@cache
def concepts() -> Mapping[Variant, Sequence[Variant]]:
    """Map a name, its terms sorted ("pressure, high blood" is "high blood pressure"), to the others of the thing."""
    return {tuple(sorted(name)): [other for other in row if other != name] for row in rows() for name in row}


@cache
def rows() -> Sequence[Sequence[Variant]]:
    """The names of each concept, as analysed terms. Raises `ValueError` for a table made with another analysis."""
    packed = resources.files("bio_mcp.retrieval").joinpath("synonyms.tsv.gz").read_bytes()
    version, *lines = gzip.decompress(packed).decode().split("\n")
    if version != f"#analysis {ANALYSIS_VERSION}":
        raise ValueError("synonyms.tsv.gz was made with another analysis; run benchmarks/build_synonyms.py")
    return [[tuple(name.split(" ")) for name in line.split("\t")] for line in lines]


@cache
def _longest_name() -> int:
    return max(map(len, concepts()))


def distinctive_shares(words: Collection[str], papers: Mapping[str, Collection[str]]) -> dict[str, float]:
    """The share of the weight of `words` that each paper has, in [0, 1], by the keys of `papers`: its analysed words.

    Without words every share is 0.
    """
    having = {word: sum(word in own for own in papers.values()) for word in words}
    weights = {word: max(0.0, log((len(papers) + 1) / (count + 0.5))) for word, count in having.items()}
    total = sum(weights.values()) or 1.0
    return {key: sum(weights[word] for word in weights if word in own) / total for key, own in papers.items()}
