"""Text to search terms: one analysis for documents and queries, in every engine.

Folds width, accents, super- and subscripts ("m²" = "m2", "H₂O" = "H2O"); spells Greek letters and joins the parts of
names with digits, Greek letters or single letters, keeping the parts ("IL-6" gives il6, il, 6 and so meets "IL6" and
"IL 6"; "TNF-α" = "TNFα" = "TNF-alpha"); brings British spellings and Latin plurals to one form; drops stop words that
are not written as names ("NO", "AS"); stems with Porter. Scripts without spaces give overlapping n-grams. A term
holds no white space. Each choice was measured (docs/benchmarks.md).
"""

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

import Stemmer

from bio_mcp.retrieval.folding import fold
from bio_mcp.retrieval.spelling import GREEK_NAMES, QUERY_STOP_WORDS, STOP_WORDS, one_spelling
from bio_mcp.retrieval.vocabulary import Terms, Vocabulary, current

ANALYSIS_VERSION = 1
QUERY_CHARACTERS = 10_000  # of a query that are read
QUERY_TERMS = 128  # distinct terms of a query that are looked up, its first ones
TERM_LENGTH = 100  # characters of a term that count
NAME_PARTS = 4  # joined at most
PIECES = 1 << 17  # remembered: some 25 MB

_LETTER = r"[^\W_]"
_MARKS = r"ְ-ֽؐ-ًؚ-ٰٟऀ-ॣ०-෿ั-ฺ็-๎ັ-ໍ༘-ྼါ-႟ា-៝"  # vowels and tones that \w leaves out
_ASCII_WORD = re.compile(
    r"[A-Za-z][0-9A-Za-z]*(?:['-][0-9A-Za-z]+)*"
    r"|[0-9](?:[0-9]*(?:[.,][0-9]+)+|[0-9A-Za-z]*(?:['-][0-9A-Za-z]+)*)"
)
_WORD = re.compile(rf"\d+(?:[.,]\d+)+|(?:{_LETTER}|[{_MARKS}])+(?:['-](?:{_LETTER}|[{_MARKS}])+)*")
_OTHER_LETTER = re.compile(rf"[^\x00-\x7f](?<=[\w{_MARKS}])")
_EDGES = '.,;:%=<>[]"'  # no word begins or ends with one of these
_SPACED_NAME = re.compile(r"([A-Z](?<!\w.)[A-Za-z]{0,4}) (\d{1,2}[A-Za-z]?|alpha|beta|gamma|delta|kappa)\b")
_SPACED_NAME_ASKED = re.compile(r"\b([A-Z][A-Za-z]{0,4}|[a-z]{2,3}) (\d{1,2}[A-Za-z]?|alpha|beta|gamma|delta|kappa)\b")
_SCRIPT_RUN = re.compile(
    "(?P<han>[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
    "|(?P<thai>[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"
    "|(?P<other>[^\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"
)
_PREFIXES = frozenset(["anti", "co", "non", "post", "pre", "pro"])
_MARKS_OF_NAMES = GREEK_NAMES | {"kb"}  # NF-kB
_GRAM = {"han": 2, "thai": 3}

_local = threading.local()


def analyse(text: str) -> list[str]:
    """The terms of a document, in its order and with repetitions.

    Stop words are dropped, unless the text has nothing else. The terms depend on `ANALYSIS_VERSION`: raise it with any
    change here, and index again.
    """
    return list(analysed((text, 1)))


def analysed(*texts: tuple[str, int]) -> Terms:
    """The terms of texts, one after the other, those of each so many times."""
    pieces = _pieces_known()
    return Terms(pieces.vocabulary, b"".join([_numbers(text, pieces) * times for text, times in texts]))


def _numbers(text: str, known: "_Pieces") -> bytes:
    folded, numbered = fold(text), known.vocabulary.numbered
    numbers = numbered(chain.from_iterable(map(_joined, _SPACED_NAME.findall(folded))))
    if folded.isupper():
        numbers += numbered(chain.from_iterable(map(_terms_in_capitals, _words(folded))))
    else:
        numbers += b"".join(map(known.__getitem__, _pieces(folded)))
    return numbers or numbered(_terms(folded, frozenset(), _SPACED_NAME))


def query_terms(
    text: str, expand: Callable[[list[str]], Iterable[tuple[str, float]]] | None = None
) -> tuple[tuple[str, float], ...]:
    """The terms of a query with their weights, without repetition: at most the first `QUERY_TERMS`.

    A term's weight is its number of occurrences in the query. `expand` may add terms; a term that is already there
    has the weight of the query. Text beyond `QUERY_CHARACTERS` is ignored. A query of stop words only is looked up by
    these words.
    """
    folded = fold(text[:QUERY_CHARACTERS])
    terms = list(_terms(folded, QUERY_STOP_WORDS, _SPACED_NAME_ASKED))
    terms = terms or list(_terms(folded, frozenset(), _SPACED_NAME))
    weights: dict[str, float] = dict(list(Counter(terms).items())[:QUERY_TERMS])
    for term, weight in expand(terms) if expand else ():
        weights.setdefault(term, weight)
    return tuple(weights.items())


def _terms(folded: str, stop: frozenset[str], spaced: re.Pattern[str]) -> Iterator[str]:
    """Yield the terms of folded text, `stop` words left out unless they are written as names, in capitals."""
    for name in spaced.findall(folded):
        yield from _joined(name)
    shouted = folded.isupper()
    for word in _words(folded):
        yield from _terms_of(word, stop, shouted)


def _words(folded: str) -> list[str]:
    """The words of folded text; those of ASCII letters are found in a third of the time."""
    words: list[str] = (_WORD if _OTHER_LETTER.search(folded) else _ASCII_WORD).findall(folded)
    return words


def _pieces(folded: str) -> list[str]:
    """Cut folded text where no word goes on, in a third of the time in which its words are found."""
    for separator in (", ", ". ", "(", ")", "/"):
        folded = folded.replace(separator, "  "[: len(separator)])  # text of the same length is replaced faster
    return folded.split()


class _Pieces(dict[str, bytes]):
    """The terms of the pieces of documents, remembered as numbers of a vocabulary. Half of the pieces, those used last,
    outlast the others."""

    def __init__(self, most: int, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self._most, self._earlier = most, dict[str, bytes]()

    def __missing__(self, piece: str) -> bytes:
        terms = self._earlier.get(piece)
        if terms is None:
            core = piece.strip(_EDGES)
            terms = self[core] if core != piece else self._analysed(piece)
        if len(self) >= self._most // 2:
            self._earlier = dict(self)
            self.clear()
        self[piece] = terms
        return terms

    def _analysed(self, piece: str) -> bytes:
        if piece.isascii() and piece.isalpha():  # over half of them
            lower = piece.lower()
            if lower not in STOP_WORDS:
                return self.vocabulary[_stem(one_spelling(piece[:TERM_LENGTH]))] if lower == piece else self[lower]
        parts = piece.split("-")
        if piece.isascii() and all(map(str.isalnum, parts)):
            if len(parts) == 1:
                return self.vocabulary.numbered(_terms_of(piece, STOP_WORDS, shouted=False))
            name = _name(piece.lower().split("-"))
            joined = self.vocabulary.numbered(_joined(name)) if name else b""
            return joined + b"".join(map(self.__getitem__, parts))
        of_words = [_terms_of(word, STOP_WORDS, shouted=False) for word in _words(piece)]
        return self.vocabulary.numbered(chain.from_iterable(of_words))


_known = _Pieces(PIECES, current())


def _pieces_known() -> _Pieces:
    """What is remembered of pieces, in the vocabulary in use."""
    global _known
    if _known.vocabulary is not (vocabulary := current()):
        _known = _Pieces(PIECES, vocabulary)
    return _known


def _terms_in_capitals(word: str) -> Iterable[str]:
    """The terms of a document's word where all words are written in capitals."""
    return _terms_of(word, STOP_WORDS, shouted=True)


def _terms_of(word: str, stop: frozenset[str], shouted: bool) -> Iterable[str]:
    if "-" in word or "'" in word:
        return _compound(word, stop, shouted)
    lower = word.lower()
    return _normal(lower) if lower not in stop or (word.isupper() and len(word) > 1 and not shouted) else ()


def _compound(word: str, stop: frozenset[str], shouted: bool) -> list[str]:
    """The joined name of a hyphenated word, if it holds one, then its parts."""
    parts = _parts(word.lower())
    name = _name(parts)
    terms = [*_joined(name)] if name else []
    for part, written in zip(parts, _parts(word), strict=True):
        if part not in stop or (written.isupper() and len(part) > 1 and not shouted):
            terms += _normal(part)
    return terms


def _parts(word: str) -> list[str]:
    return word.replace("'", "-").split("-")


def _name(parts: Sequence[str]) -> Sequence[str]:
    """The leading parts of a hyphenated word that form one name: up to the last with a digit, Greek or single letter.

    "anti-tnf-alpha-induced" has tnf, alpha; "t-cell-mediated" has t, cell; "10-15" and "double-blind" have none.
    """
    parts = parts[1:] if parts[0] in _PREFIXES else parts
    marks = [at for at, part in enumerate(parts) if len(part) == 1 or part in _MARKS_OF_NAMES or not part.isalpha()]
    if not marks or len(parts) < 2 or all(map(str.isdecimal, parts)):
        return ()
    name = parts[: max(marks[-1], 1) + 1]
    return name if len(name) <= NAME_PARTS else ()


def _joined(parts: Iterable[str]) -> tuple[str, ...]:
    return _normal("".join(parts).lower().replace("kappab", "kb"))


@lru_cache(maxsize=1 << 17)
def _normal(word: str) -> tuple[str, ...]:
    """The terms of one lower-case word: its stem, the number without separators, or n-grams."""
    if word.isascii():
        number = word.replace(",", "") if word[0].isdecimal() else word
        return (_stem(one_spelling(number[:TERM_LENGTH])),)
    return tuple(term for run in _SCRIPT_RUN.finditer(word) for term in _grams(run.group(), str(run.lastgroup)))


def _grams(run: str, script: str) -> Iterator[str]:
    """Yield overlapping n-grams of scripts without spaces: 2 characters of Chinese or Japanese, 3 of Thai or Khmer."""
    size = _GRAM.get(script)
    if size is None:
        yield run[:TERM_LENGTH]
    elif len(run) <= size:
        yield run
    else:
        yield from (run[at : at + size] for at in range(len(run) - size + 1))


def _stem(word: str) -> str:
    """Stem by Porter. PyStemmer's objects are not thread-safe, so each thread has its own."""
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("porter", 0)
    return str(stemmer.stemWord(word)) or word  # it stems "s" to nothing
