"""Words of texts and questions: which count, in which spelling, and the terms that an index has of them."""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat

import Stemmer

STOP_WORDS = frozenset(
    """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with
    """.split()
)
"""Left out of the index and of queries."""

QUERY_STOP_WORDS = STOP_WORDS | frozenset(
    """
    i me my we our ours us you your he him his she her its them what which who whom whose am were been being have
    has had having do does did doing because until while about against between through during before after above
    below from up down out off over under again further once here when where why how all any both each few more most
    other some nor only own same so than too very can just should now may might could would also
    """.split()
)
"""Left out of queries: function words that no paper is about. They stay in the index, for a query of nothing else."""

GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        """
        alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau
        upsilon phi chi psi omega
        """.split(),
        strict=True,
    )
)
GREEK_NAMES = frozenset(GREEK.values())

SEPARATORS = str.maketrans(
    dict.fromkeys("‐‑‒–—―−﹣－", "-") | dict.fromkeys("’‘ʼ′`´＇", "'") | dict.fromkeys("·∙⋅", ".")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)  # fmt: skip
"""Every dash, apostrophe and raised decimal point to its ASCII form; invisible characters to nothing."""

_IRREGULAR = {
    "bacteria": "bacterium", "children": "child", "criteria": "criterion", "feet": "foot", "foci": "focus",
    "fungi": "fungus", "indices": "index", "larvae": "larva", "loci": "locus", "men": "man", "mice": "mouse",
    "mitochondria": "mitochondrion", "nuclei": "nucleus", "phenomena": "phenomenon", "sera": "serum",
    "spectra": "spectrum", "stimuli": "stimulus", "teeth": "tooth", "vertebrae": "vertebra", "women": "woman",
}  # fmt: skip
_OUR = re.compile(r"(behavi|col|endeav|fav|flav|harb|hon|hum|lab|neighb|od|rig|rum|tum|vap)our")
_ISE = re.compile(r"is(e|ed|es|er|ers|ing|ation|ations)$")
_YSE = re.compile(r"ys(e|ed|er|ing)$")
_OE = re.compile(r"^oe|oe(?=d[ei])|(?<=[hnu])oe(?=a)|(?<=[fc])oe(?=[tl])|(?<=am)oe(?=b)|(?<=hom)oe")
_SES = tuple("stases gnoses broses croses leroses tenoses tomoses mboses choses uroses yses theses".split())


def one_spelling(word: str) -> str:
    """Map all spellings of a lower-case word to one: "tumour" -> "tumor", "diagnoses" -> "diagnosis".

    The result is not always a word ("aero" -> "ero"), but it is the same for documents and queries.
    """
    word = _IRREGULAR.get(word, word)
    if len(word) < 5:
        return word
    word = _OUR.sub(r"\1or", word) if "our" in word else word
    word = (_OE.sub("e", word) if "oe" in word else word).replace("ae", "e")
    if word.endswith(("tre", "bre")):
        return f"{word[:-2]}er"
    if len(word) < 7:
        return word
    if word.endswith(_SES):
        return f"{word[:-2]}is"
    word = _ISE.sub(r"iz\1", word) if "is" in word else word
    return _YSE.sub(r"yz\1", word) if "ys" in word else word


_POSSESSIVE = re.compile(r"'[sS]\b")
_GREEK_LETTER = re.compile("[α-ω]", re.IGNORECASE)
_MICRO = re.compile(r"[µμ](?=[a-zA-Z])")
_GLUED = ("alpha", "beta", "gamma", "delta", "kappa")
_GLUED_GREEK = re.compile(rf"([A-Z0-9])-?({'|'.join(_GLUED)})(?![a-z])")
_HYPHENS = re.compile(r"--+")
_ACCENTS = re.compile("[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Fold `text` to one form of each character; Greek letters are spelled and set off by hyphens, case is left."""
    if not text.isascii():
        # piece by piece, as nothing that is folded reaches across a space
        pieces = text.replace("`", "'").split(" ")
        text = " ".join([each if each.isascii() else _fold_others(each) for each in pieces])
    if any(map(text.__contains__, _GLUED)):
        text = _GLUED_GREEK.sub(r"\1-\2-", text)
    if "--" in text:
        text = _HYPHENS.sub("-", text)
    return _POSSESSIVE.sub("", text) if "'" in text else text


_PLAIN_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text as PubMed's queries and records are compared by: no stems, no stop words left out."""
    return tuple(_PLAIN_WORD.findall(fold(text).lower()))


@lru_cache(maxsize=1 << 14)
def _fold_others(text: str) -> str:
    text = _MICRO.sub("micro", text)
    text = unicodedata.normalize("NFKD", text.translate(SEPARATORS))
    text = unicodedata.normalize("NFC", _ACCENTS.sub("", text)).translate(SEPARATORS)
    return _GREEK_LETTER.sub(lambda letter: f"-{GREEK[letter.group().lower()]}-", text)


ANALYSIS_VERSION = 1
QUERY_CHARACTERS = 10_000  # of a query that are read
QUERY_TERMS = 128  # distinct terms of a query that are looked up, its first ones
TERM_LENGTH = 100  # characters of a term that count
NAME_PARTS = 4  # joined at most

_LETTER = r"[^\W_]"
_MARKS = r"ְ-ֽؐ-ًؚ-ٰٟऀ-ॣ०-෿ั-ฺ็-๎ັ-ໍ༘-ྼါ-႟ា-៝"  # vowels and tones that \w leaves out
_ASCII_WORD = re.compile(
    r"[A-Za-z][0-9A-Za-z]*(?:['-][0-9A-Za-z]+)*"
    r"|[0-9](?:[0-9]*(?:[.,][0-9]+)+|[0-9A-Za-z]*(?:['-][0-9A-Za-z]+)*)"
)
_WORD = re.compile(rf"\d+(?:[.,]\d+)+|(?:{_LETTER}|[{_MARKS}])+(?:['-](?:{_LETTER}|[{_MARKS}])+)*")
_OTHER_LETTER = re.compile(rf"[^\x00-\x7f](?<=[\w{_MARKS}])")
_SPACED_NAME = re.compile(r"([A-Z](?<!\w.)[A-Za-z]{0,4}) (\d{1,2}[A-Za-z]?|alpha|beta|gamma|delta|kappa)\b")
_SPACED_NAME_ASKED = re.compile(r"\b([A-Z][A-Za-z]{0,4}|[a-z]{2,3}) (\d{1,2}[A-Za-z]?|alpha|beta|gamma|delta|kappa)\b")
_SCRIPT_RUN = (  # compiled on first use
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
    folded = fold(text)
    return _terms(folded, STOP_WORDS, _SPACED_NAME) or _terms(folded, frozenset(), _SPACED_NAME)


def query_terms(
    text: str, expand: Callable[[list[str]], Iterable[tuple[str, float]]] | None = None
) -> tuple[tuple[str, float], ...]:
    """The terms of a query with their weights, without repetition: at most the first `QUERY_TERMS`.

    A term's weight is its number of occurrences in the query. `expand` may add terms; a term that is already there
    has the weight of the query. Text beyond `QUERY_CHARACTERS` is ignored. A query of stop words only is looked up by
    these words.
    """
    folded = fold(text[:QUERY_CHARACTERS])
    terms = _terms(folded, QUERY_STOP_WORDS, _SPACED_NAME_ASKED) or _terms(folded, frozenset(), _SPACED_NAME)
    weights: dict[str, float] = dict(list(Counter(terms).items())[:QUERY_TERMS])
    for term, weight in expand(terms) if expand else ():
        weights.setdefault(term, weight)
    return tuple(weights.items())


def _terms(folded: str, stop: frozenset[str], spaced: re.Pattern[str]) -> list[str]:
    """The terms of folded text, `stop` words left out unless they are written as names, in capitals."""
    names = map(_joined, spaced.findall(folded))
    pattern = _WORD if _OTHER_LETTER.search(folded) else _ASCII_WORD  # which takes a third of the time
    words = pattern.findall(folded)
    parts = map(_terms_of, words, repeat(stop), repeat(folded.isupper()))
    return list(chain.from_iterable(chain(names, parts)))


@lru_cache(maxsize=1 << 17)
def _terms_of(word: str, stop: frozenset[str], shouted: bool) -> tuple[str, ...]:
    """The terms of a word: of a hyphenated one the joined name, if it holds one, then its parts."""
    plain = word.replace("'", "-")
    parts = plain.lower().split("-")
    name = _name(parts) if len(parts) > 1 else ()
    terms = [*_joined(name)] if name else []
    for part, written in zip(parts, plain.split("-"), strict=True):
        if part not in stop or (written.isupper() and len(part) > 1 and not shouted):
            terms += _normal(part)
    return tuple(terms)


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
    return tuple(term for run in re.finditer(_SCRIPT_RUN, word) for term in _grams(run.group(), str(run.lastgroup)))


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
