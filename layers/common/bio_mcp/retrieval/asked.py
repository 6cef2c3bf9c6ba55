"""A question as it was asked, in English or Thai, and as what an English and a Thai index are searched by."""

from collections.abc import Iterator
from dataclasses import dataclass

from bio_mcp.retrieval.analysis import QUERY_CHARACTERS, analyse, query_terms
from bio_mcp.retrieval.thai_dictionary import dictionary, spelled
from bio_mcp.retrieval.thai_words import THAI, THAI_RUN, can_segment, cut, stop_words, term_of, words_of

GRAMS_SHARE = 0.5  # of a word's weight is what its n-grams have together, which texts have that were cut by them alone
MOST_UNKNOWN = 8  # words that are named
IN_QUESTIONS = frozenset(
    "ลด ระดับ ชนิด เพิ่ม เพิ่มขึ้น ช่วย ผล ผลลัพธ์ วิธี สัมพันธ์ ความสัมพันธ์ เปรียบเทียบ ใช้ การใช้ สามารถ ดีขึ้น "
    "กลุ่ม จำนวน ปริมาณ มี เป็น เกี่ยวข้อง ไหม มั้ย หรือเปล่า".split()
)  # words that say nothing of a subject, which PyThaiNLP does not count among such
PREFIXES = ("การ", "ความ", "โรค", "ภาวะ", "อาการ", "ผู้", "ยา", "ใบ", "ผล", "ต้น", "สาร")

Weighted = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. `english` is what is looked up in English, empty where nothing is; `thai` has the terms of its Thai
    words. `unknown` are Thai words that the dictionary does not have. `segmented`: PyThaiNLP cut the words.
    """

    text: str
    english: str
    thai: Weighted = ()
    unknown: tuple[str, ...] = ()
    segmented: bool = True

    @property
    def is_thai(self) -> bool:
        """Whether it was asked in Thai."""
        return bool(self.thai)

    @property
    def terms(self) -> Weighted:
        """The terms of both languages."""
        return (*(query_terms(self.english) if self.english else ()), *self.thai)


def asked(text: str, language: str | None = None) -> Asked:
    """Read a question. Every Thai word in it is translated, unless `language` is "en"; the rest stays as it is."""
    text = text[:QUERY_CHARACTERS]
    if language == "en" or not THAI.search(text):
        return Asked(text, text)
    empty = stop_words() | IN_QUESTIONS
    telling = [word for word in dict.fromkeys(words_of(text)) if _english(word) or word not in empty]
    unknown = [word for word in telling if not _english(word)]
    translated = THAI_RUN.sub(lambda run: f" {' '.join(_translated(run.group()))} ", spelled(text))
    english = " ".join(translated.split())
    looked_up = english if any(map(str.isalnum, english)) else ""
    return Asked(text, looked_up, tuple(_terms(telling)), tuple(unknown[:MOST_UNKNOWN]), can_segment())


def _translated(run: str) -> Iterator[str]:
    for word in cut(run):
        yield from _english(word) if THAI.match(word) else (word,)


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
