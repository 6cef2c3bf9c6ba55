"""Misspelt words of a question, by the words that a corpus has."""

from collections import Counter
from collections.abc import Iterable

from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.question import concepts

SHORTEST = 5  # letters of a word that is corrected
LONG = 10  # letters of a word in which two may be wrong
SHORT = 6  # letters of a word that may well be another one that the corpus lacks: fennel is no misspelt funnel
SEVERAL = 2  # papers that have what such a word is read as
LONGEST = 40
_BITS = 31

OPPOSITES = (("hyper", "hypo"), ("inter", "intra"), ("macro", "micro"), ("ab", "ad"), ("af", "ef"), ("ante", "anti"))
ENDINGS = ("ase ose", "ate ite", "ine ide", "ane ene", "emia uria", "itis osis")
LOOK_ALIKE = frozenset(
    """
    acetazolamide acetohexamide aspirin bupropion buspirone carbamazepine cefazolin cefotaxime cefotetan cefoxitin
    ceftazidime ceftriaxone chlorpromazine chlorpropamide clomifene clomiphene clomipramine clonazepam clonidine
    cyclosporine ciclosporin cycloserine daunorubicin dimenhydrinate diphenhydramine dobutamine dopamine doxorubicin
    epirubicin fluoxetine duloxetine glipizide glyburide hydralazine hydroxyzine idarubicin lamivudine lamotrigine
    medroxyprogesterone methylprednisolone methyltestosterone nicardipine nifedipine nimodipine oxcarbazepine
    paroxetine prednisolone prednisone quinidine quinine sulfadiazine sulfasalazine sulfisoxazole tolazamide
    tolbutamide vinblastine vincristine vinorelbine zidovudine
    """.split()
)
"""Drugs that are mistaken for each other, after the lists of the FDA and ISMP: none is a misspelt other one."""


class Spelling:
    """The words of a corpus, lower-case and unstemmed, each with the number of papers that have it."""

    def __init__(self, words: Iterable[tuple[str, int]]) -> None:
        import numpy as np

        self._papers = {word: papers for word, papers in words if SHORTEST <= len(word) <= LONGEST and word.isalpha()}
        self._words = list(self._papers)
        self._lengths = np.fromiter(map(len, self._words), np.int16, len(self._words))
        self._letters = np.fromiter(map(_letters, self._words), np.uint32, len(self._words))

    def correct(self, word: str) -> str | None:
        """The nearest word that the corpus has, where it does not have this lower-case one and it is no name of a
        disease or drug; of equally near ones that of the most papers.

        Letters that are wrong, too many, missing or exchanged with the next one count: one, or two from `LONG` letters
        on. Of a word of `SHORT` letters at most, one may be missing, doubled or exchanged, and none be wrong. None
        where nothing is as near, or the nearest is looked up as the same word, or is another word by its beginning or
        end (hypotension, lactase).
        """
        if word in self._papers or not (SHORTEST <= len(word) <= LONGEST and word.isalpha()):
            return None
        import numpy as np

        most = 2 if len(word) >= LONG else 1
        terms = analyse(word)
        if word in LOOK_ALIKE or tuple(terms) in concepts():
            return None
        near = np.abs(self._lengths - len(word)) <= most
        near &= np.bitwise_count(self._letters ^ np.uint32(_letters(word))) <= 2 * most
        alike = [self._words[place] for place in np.flatnonzero(near)]
        if len(word) <= SHORT:
            alike = [each for each in alike if self._papers[each] >= SEVERAL and _is_slip(word, each)]
        found = ((edits(word, each, most), -self._papers[each], each) for each in alike)
        distance, _, best = min(found, default=(most + 1, 0, ""))
        if distance > most or analyse(best) == terms or _differ_in_meaning(word, best):
            return None
        return best


def _differ_in_meaning(word: str, other: str) -> bool:
    beginnings = ((one, another) for pair in OPPOSITES for one, another in (pair, pair[::-1]))
    endings = ((one, another) for pair in map(str.split, ENDINGS) for one, another in (pair, pair[::-1]))
    return any(word.startswith(one) and other.startswith(another) for one, another in beginnings) or any(
        word.endswith(one) and other.endswith(another) for one, another in endings
    )


def _is_slip(word: str, other: str) -> bool:
    """Whether the word has the letters of the other one, but for one that is missing or doubled."""
    fewer, more = sorted((word, other), key=len)
    missing = Counter(more) - Counter(fewer)
    if len(word) == len(other):
        return not missing
    return len(word) < len(other) or all(letter * 2 in word for letter in missing)


def _letters(word: str) -> int:
    """A bit for each letter of the word: that of a changed letter is at most two bits away."""
    bits = 0
    for letter in word:
        bits |= 1 << ord(letter) % _BITS
    return bits


def edits(one: str, other: str, most: int) -> int:
    """The edits between two words, of adjacent letters in exchange too (Damerau and Levenshtein, each place once); any
    number above `most` where there are more."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, against in enumerate(other, 1):
            edits = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != against))
            exchanged = row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against
            line.append(min(edits, before[column - 2] + 1) if exchanged else edits)
        if min(line) > most:
            return most + 1
        before, last = last, line
    return last[-1]
