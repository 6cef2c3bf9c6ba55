"""A question as it was asked, in English or Thai, and as what an English and a Thai index are searched by: its words,
and other names of what it names."""

import gzip
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import chain
from typing import TypeVar

from bio_mcp.retrieval.abbreviations import LONG_FORM
from bio_mcp.retrieval.analysis import ANALYSIS_VERSION, QUERY_CHARACTERS, analyse, query_terms
from bio_mcp.retrieval.passages import OtherName
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

    @property
    def told(self) -> list[str]:
        """What the user of a Thai question should know."""
        if not self.thai:
            return []
        unknown = f"The Thai dictionary does not have {', '.join(self.unknown)}: ask for that in English too."
        return [f"Looked up in English as: {self.english}.", *([unknown] if self.unknown else [])]


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


WEIGHT = 0.3  # of the term of another name beside a term of the query, where that name has one meaning alone
EXTRA_TERMS = 16  # added to a query, at most

Variant = tuple[str, ...]
Thing = TypeVar("Thing")


def expansion(terms: Sequence[str]) -> list[tuple[str, float]]:
    """Terms of the synonyms of the names in `terms`, each with `WEIGHT`; at most `EXTRA_TERMS`.

    `terms` are in the query's order. The longest name at each position counts.
    """
    names = chain.from_iterable(_named(terms, concepts(), _longest_name(), in_any_order=True))
    given, extra = set(terms), dict.fromkeys(chain.from_iterable(names))
    return [(term, WEIGHT) for term in extra if term not in given][:EXTRA_TERMS]


def _named(
    terms: Sequence[str], names: Mapping[Variant, Thing], longest: int, *, in_any_order: bool = False
) -> Iterator[Thing]:
    """Yield what the names in `terms` are of: at each position the longest one, of so many terms at most, counts."""
    position = 0
    while position < len(terms):
        lengths = range(min(longest, len(terms) - position), 0, -1)
        parts = (terms[position : position + length] for length in lengths)
        name = next((each for part in parts if (each := tuple(sorted(part) if in_any_order else part)) in names), ())
        if name:
            yield names[name]
        position += len(name) or 1


MOST_MEANINGS = 3  # of a name that are looked up, its usual ones ...
LEAST_SHARE = 0.1  # ... each of which is meant by so many of the papers that define one of the two
LEAST_DEFINED = 0.05  # of the papers that have a word in lower case, for a short form
MOST_READ = 32  # terms of a question among which names are looked for
_LETTER = re.compile(r"(?<!\w)[^\W\d_](?!\w)")  # by itself: the D of vitamin D, and not what is left of DS
_IN_LOWER_CASE = re.compile(r"(?<!\w)[a-z]{2,10}(?!\w)")

OtherNames = Callable[[Collection[str]], Iterable[OtherName]]
Papers = Callable[[str], int]


def other_forms(text: str, terms: Sequence[str], other_names: OtherNames, papers: Papers) -> list[tuple[str, float]]:
    """Terms of what the abbreviations in a question stand for, and of the abbreviations of its names, for
    `query_terms`, which has `terms` of its `text`; at most `EXTRA_TERMS`.

    Each has `WEIGHT` times the share of definitions that mean it. The longest name at each position counts. A word in
    lower case is a short form only where `LEAST_DEFINED` of the `papers` that have it define it: "age" is none.
    """
    found: dict[Variant, dict[str, int]] = {}  # by name, in how many papers each of its other forms is defined
    places, lengths = range(len(terms[:MOST_READ])), range(1, LONG_FORM + 1)
    names = {" ".join(terms[at : at + length]) for at in places for length in lengths}
    for each in other_names(names.difference(map(str.lower, _LETTER.findall(text)))):
        found.setdefault(tuple(each.name.split()), {})[each.other] = each.papers
    for word in _IN_LOWER_CASE.findall(text) if found else ():
        name = tuple(analyse(word))
        if name in found and sum(found[name].values()) < LEAST_DEFINED * papers(word):
            del found[name]
    defined: Counter[str] = Counter()
    for each in other_names({other for others in found.values() for other in others}) if found else ():
        defined[each.name] += each.papers
    extra: dict[str, float] = {}
    for others in _named(terms, found, LONG_FORM):
        for other in sorted(others, key=lambda each: -others[each])[:MOST_MEANINGS]:
            share = others[other] / max(sum(others.values()), defined[other])
            if share >= LEAST_SHARE:
                extra.update((term, max(extra.get(term, 0.0), WEIGHT * share)) for term in other.split())
    given = set(terms)
    return [(term, weight) for term, weight in extra.items() if term not in given][:EXTRA_TERMS]


EVERYDAY_WEIGHT = 1.0  # of a term of what an everyday word is called in papers


def names_in_papers(terms: Sequence[str]) -> list[str]:
    """What papers call the things that have everyday names or brands among `terms`: "myocardial infarction" for a heart
    attack. The longest name at each position counts."""
    return list(dict.fromkeys(chain.from_iterable(_named(terms, _everyday(), _LONGEST_EVERYDAY))))


_LONGEST_EVERYDAY = 4  # terms


@cache
def _everyday() -> Mapping[Variant, Sequence[str]]:
    """By the analysed terms of an everyday name, what papers call it."""
    text = resources.files("bio_mcp.retrieval").joinpath("everyday.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {tuple(term for term, _ in query_terms(name)): names.split(", ") for name, names in rows}


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
def words_of_names() -> frozenset[str]:
    """Every term that a name has."""
    return frozenset(term for name in concepts() for term in name)


@cache
def _longest_name() -> int:
    return max(map(len, concepts()))
