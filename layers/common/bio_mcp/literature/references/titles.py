"""Whether two titles are one."""

from collections.abc import Sequence

from bio_mcp.literature.references.words import SMALL, aligned, alike, words_of

LEAST = 0.8  # share of the words of both that must be the same, where none is exchanged for another
_WHOLE = 4  # words of a title whose subtitle may be left out
_MOST = 80  # words of a title that are compared
_TRIED = 20  # places in a text where a title may begin
_MARKS = ("retracted article", "retracted", "withdrawn", "correction to", "correction", "expression of concern")


def same_title(stated: str, printed: str) -> bool | None:
    """Whether they are one title; None where either has no words.

    Accents, case, punctuation, Greek letters and a mistyped letter do not count. A subtitle may be left out. Titles
    that have another word in one place are not the same.
    """
    ours, theirs = (_unmarked(words_of(each)[:_MOST]) for each in (stated, printed))
    if not ours or not theirs:
        return None
    return _agree(ours, theirs)


def contains_title(text: str, printed: str) -> bool | None:
    """Whether running text has the title in it, by the same rules; None for a title of less than four words."""
    whole, title = words_of(text), _unmarked(words_of(printed)[:_MOST])
    if len(title) < _WHOLE:
        return None
    if len(set(whole) & set(title)) < LEAST / 2 * len(set(title)):
        return False
    places = [place for place, word in enumerate(whole) if any(_begins(word, each) for each in title[:3])][:_TRIED]
    windows = (whole[at : at + _reach(whole[at:], title)] for at in places)
    return any(_has_edges(each, title) and _agree_whole(each, title) for each in windows)


def _reach(words: Sequence[str], title: Sequence[str]) -> int:
    """How many of `words` the title takes: up to the place, near its length, of its last word."""
    most = min(len(words), len(title) + len(title) // 4 + 2)
    last = next((word for word in reversed(title) if word not in SMALL), title[-1])
    ends = [place + 1 for place in range(most) if _ends(words[place], last)]
    return min(ends, key=lambda end: abs(end - len(title)), default=0)


def contains_phrase(text: str, phrase: str) -> bool:
    """Whether running text has these very words."""
    return f" {' '.join(words_of(phrase))} " in f" {' '.join(words_of(text))} "


def _has_edges(words: Sequence[str], title: Sequence[str]) -> bool:
    """Whether the first and the last word that count are the title's: beside them stands other text."""
    ours, theirs = ([word for word in side if word not in SMALL] for side in (words, title))
    return bool(ours and theirs) and _begins(ours[0], theirs[0]) and _ends(ours[-1], theirs[-1])


def _begins(one: str, other: str) -> bool:
    """Whether the words are one, or one is the first part of the other, which is written in one."""
    return alike(one, other) or (min(len(one), len(other)) > 1 and (one.startswith(other) or other.startswith(one)))


def _ends(one: str, other: str) -> bool:
    """The same of their last parts."""
    return _begins(one[::-1], other[::-1])


def _agree(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    cut = len(ours) if _WHOLE <= len(ours) < len(theirs) else 0
    return bool(cut and _agree_whole(ours, theirs[:cut])) or _agree_whole(ours, theirs)


def _agree_whole(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    if len(set(ours) & set(theirs)) < LEAST / 2 * min(len(set(ours)), len(set(theirs))):
        return False
    different = 0
    for left, right in aligned(ours, theirs):
        counted = [[word for word in side if word not in SMALL] for side in (left, right)]
        if all(counted):
            return False
        different += max(map(len, counted))
    return different <= (1 - LEAST) * max(len(ours), len(theirs))


def _unmarked(words: list[str]) -> list[str]:
    """The words without what NLM and publishers put before the title of a retracted paper."""
    for mark in _MARKS:
        if words[: len(mark.split())] == mark.split():
            return words[len(mark.split()) :]
    return words
