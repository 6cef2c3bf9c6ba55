"""Whether two names of journals can be one: full, abbreviated by any rule, or by initials."""

import re
from collections.abc import Iterable

from bio_mcp.literature.records import Journal
from bio_mcp.literature.references.words import alike, words_of

_SMALL = frozenset(
    "of the and in for on de la le les des du et der die das und fur e di del y do da a an to von van i".split()
)
_PLACE = re.compile(r"\s*\([^()]*\)")
_FIRST = re.compile(r"^\W*(\w*)")
_COUNTRIES = {"usa": "united states america", "us": "united states", "uk": "united kingdom"}
_KNOWN = {"pnas": "proceedings national academy sciences united states america", "nejm": "new england journal medicine"}


def same_journal(stated: str, journal: Journal | None) -> bool | None:
    """Whether `stated` can name the journal; None where either side has no name.

    Abbreviations compare by the beginnings of words, in order; places in brackets and subtitles do not count.
    """
    ours = _words(stated)
    names = (journal.title, journal.iso_abbreviation, journal.medline_abbreviation) if journal else ()
    printed = [words for name in names if name and (words := _words(name))]
    if not ours or not printed:
        return None
    return any(_can_be(ours, theirs) or _can_be(theirs, ours) for theirs in printed) or _initials(ours, printed, names)


def _words(name: str) -> list[str]:
    bare = _PLACE.sub("", name).partition(" : ")[0].partition("=")[0]
    spoken = " ".join(_COUNTRIES.get(word, word) for word in words_of(bare))
    words = [word for word in spoken.split() if word not in _SMALL]
    return _KNOWN.get(words[0], words[0]).split() if len(words) == 1 else words


def _can_be(short: list[str], long: list[str]) -> bool:
    """Whether each word of `short` begins, or shortens, a word of `long`, in order and from its first."""
    at = 0
    for place, word in enumerate(short):
        found = next((i for i in range(at, len(long)) if _shortens(word, long[i])), None)
        if found is None or (place == 0 and found != 0):
            return False
        at = found + 1
    return len(short) > 1 or len(long) <= 2 or at == len(long)


def _shortens(word: str, whole: str) -> bool:
    if whole.startswith(word) or alike(word, whole):
        return True
    letters = iter(whole)
    contracted = len(word) > 2 and word[0] == whole[0] and all(letter in letters for letter in word)
    return contracted and (whole.endswith(word[-1]) or _consonants(whole).startswith(_consonants(word)))


def _consonants(word: str) -> str:
    return re.sub("[aeiou]", "", word)


def _initials(ours: list[str], printed: list[list[str]], names: Iterable[str | None]) -> bool:
    """`JACC` or `AJNR`: the initials of a name, or the capitals with which a name itself begins."""
    if len(ours) != 1 or len(ours[0]) < 3:
        return False
    capitals = {word.casefold() for name in names if name and (word := _FIRST.findall(name)[0]).isupper()}
    return ours[0] in capitals or any("".join(each[0] for each in theirs).startswith(ours[0]) for theirs in printed)
