"""Lines joined to text: words that were parted at the end of a line made whole."""

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_LAST = re.compile(r"([^\W_]+(?:-[^\W_]+)*)-$")
_FIRST = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_LINK = re.compile(r"(https?://|www\.|doi\.org/|\b10\.\d{4,9}/)\S*$", re.IGNORECASE)
_THAI = re.compile("[ก-๎]")  # written without spaces
_SUSPENDED = frozenset("and or to und oder bis bzw et ou y o".split())  # "pre- and post-"
_HYPHENATED = frozenset(  # before these, a hyphen belongs to the word
    """non self all half quasi well ill cross alpha beta gamma delta high low long short double single triple two
    three four five six one first second third left right full open near follow time dose age sex""".split()
)
_LINKING = frozenset("to of by in the and on a de".split())  # within a compound, as in center-to-center
_CLOSED = frozenset("over under there where with some any every how more out in on up fore here further with".split())

Words = Counter[str]


def words_of(lines: Iterable[str]) -> Words:
    """Count the words of the lines, in small letters, but for those that the end of a line parts."""
    words: Words = Counter()
    parted = False
    for line in lines:
        found = [word.casefold() for word in _WORD.findall(line)]
        words.update(found[parted : len(found) - line.endswith("-")])
        parted = line.endswith("-")
    return words


def joined(text: str, line: str, words: Words) -> str:
    """Return `text` with `line` after it: a space between, or none where a word, a link or a range goes on.

    `words` are the document's, which tell whether a word is written with its hyphen.
    """
    if not text or not line:
        return text + line
    if text.endswith("\u00ad"):
        return text[:-1] + line
    if text.endswith("-"):
        return _hyphenated(text, line, words)
    if text[-1] in "/–—_=&" and _goes_on(text, line):
        return text + line
    if _THAI.match(text[-1]) and _THAI.match(line):
        return text + line
    return f"{text} {line}"


def _goes_on(text: str, line: str) -> bool:
    """Whether what ends in a slash or a dash goes on: `finger/`, a link, `10–`; not a dash between spaces."""
    return text[-2:-1].isalnum() and line[0].isalnum() and (text[-1] == "/" or text[-2].isdigit() == line[0].isdigit())


def _hyphenated(text: str, line: str, words: Words) -> str:
    before, after = _LAST.search(text), _FIRST.match(line)
    if not before or not after:
        return text + line if text[-2:-1].isalnum() and line[0].isalnum() else f"{text} {line}"
    if after[0].casefold() in _SUSPENDED:
        return f"{text} {line}"
    if _LINK.search(text) or _keeps_hyphen(before[1], after[0], words):
        return text + line
    return text[:-1] + line


def _keeps_hyphen(before: str, after: str, words: Words) -> bool:
    last, first = before.rpartition("-")[2], after.partition("-")[0]
    if not first[0].islower() or not last[-1].islower() or (len(last) == 1 and last == before):
        return True
    with_hyphen, without = words[f"{before}-{after}".casefold()], words[(before + after).casefold()]
    if with_hyphen != without:
        return with_hyphen > without
    if last != before and last.casefold() in _LINKING:
        return True
    if last.casefold() in _CLOSED:
        return False
    if last.casefold() in _HYPHENATED:
        return True
    return min(len(last), len(first)) >= 4 and bool(words[last.casefold()] and words[first.casefold()])
