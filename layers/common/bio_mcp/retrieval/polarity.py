"""Whether the clauses of a text affirm or deny, and in which direction they say that something changed."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.sentences import sentence_spans

UP, DOWN, BETTER, WORSE = "up", "down", "better", "worse"
OPPOSITE = {UP: DOWN, DOWN: UP, BETTER: WORSE, WORSE: BETTER}

_STEMS = {
    UP: "increas|higher|highest|elevat|rais(?:e|ed|es|ing)|rise|rises|rising|rose|greater|more|enhanc|upregulat"
    "|up-regulat|promot|gain|gains|gained|longer|prolong|positively",
    DOWN: "decreas|lower|reduc|declin|fell|fall|falls|falling|fewer|less|diminish|attenuat|suppress|inhibit"
    "|downregulat|down-regulat|shorter|shorten|inversely|negatively|smaller|prevent|protect",
    BETTER: "improv|better|ameliorat|alleviat|superior|benefi",
    WORSE: "worse|worst|worsen|deteriorat|aggravat|exacerbat|inferior|harm",
}
_DIRECTIONS = {name: re.compile(rf"\b(?:{stems})(?!\s+than\s+\d)", re.IGNORECASE) for name, stems in _STEMS.items()}
_CUE = re.compile(
    r"""\b(?: no (?!\.?\s?\d | \s(?:less|more|fewer)\s+than\s+\d)
      | not (?!\s(?:only\b|(?:less|more|fewer)\s+than\s+\d)) | cannot | never
      | none | nor | neither | without | lack(?:s|ed|ing)? | absen(?:t|ce) | hardly | scarcely | unable | unlikely
      | fail(?:s|ed|ing|ure)?\s+to | non-?significant\w* | insignificant\w* | ineffective\w* | unchanged | unaffected
      | unrelated | uncorrelated | free\s+of | rather\s+than | instead\s+of )\b | n't\b""",
    re.VERBOSE | re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"""[;:] | ,?\s+ (?: but | whereas | while | although | though | however | yet | except | despite )\b
      | ,?\s+ (?= without\b | rather\s+than\b | instead\s+of\b )
      | ,?\s+ (?: and | or )\s+ (?= (?:(?:did|does|do|was|were|is|are|had|has|have|could|can)\s+)? (?:not?|never)\b )
      | , \s+ and \s+ (?= [^,;]{1,60} \s (?:was|were|is|are|had|has|have|did|does|do|could|may|can|will)\b )""",
    re.VERBOSE | re.IGNORECASE,
)
_DENIED = {
    "ineffective": "effective", "unchanged": "change", "unaffected": "affect", "unrelated": "relate",
    "uncorrelated": "correlate", "insignificant": "significant", "nonsignificant": "significant",
}  # fmt: skip
_DENIED_WORD = re.compile(rf"\b(?:{'|'.join(_DENIED)})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that affirms or denies one thing, with its search terms and the directions that it names."""

    text: str
    terms: frozenset[str]
    denies: bool
    directions: frozenset[str]

    def contradicts(self, other: "Clause") -> bool:
        """Whether the two cannot both hold of the same thing."""
        if self.denies != other.denies:
            return True
        return bool(self.directions & {OPPOSITE[each] for each in other.directions} - other.directions)


@lru_cache(4096)
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of all sentences of `text`, in order, without those that have no words."""
    return tuple(each for start, end in sentence_spans(text) for each in _clauses(text[start:end]) if each.terms)


def directions(text: str) -> frozenset[str]:
    """The directions that a text names: up, down, better, worse."""
    return frozenset(name for name, words in _DIRECTIONS.items() if words.search(text))


def distorts(text: str, sources: Iterable[str]) -> bool:
    """Whether a clause of `text` contradicts the clause of `sources` that it takes its words from.

    Words count by how few clauses of the sources have them. The closest clause that agrees has to share as much as
    the closest one that contradicts.
    """
    theirs = [clause for source in sources for clause in clauses(source)]
    return any(_agreement(each, theirs, agree=False) > _agreement(each, theirs, agree=True) for each in clauses(text))


def unsupported(text: str, sources: Iterable[str]) -> bool:
    """Whether `text` denies where no source does, or names a direction that none of them names."""
    theirs = [clause for source in sources for clause in clauses(source)]
    named = frozenset().union(*(each.directions for each in theirs))
    denied = any(each.denies for each in theirs)
    return any((each.denies and not denied) or not each.directions <= named for each in clauses(text))


def _agreement(clause: Clause, theirs: list[Clause], *, agree: bool) -> float:
    """How much `clause` shares with the closest of those that agree with it, or of those that contradict it."""
    shared = (clause.terms & each.terms for each in theirs if clause.contradicts(each) is not agree)
    rarity = {term: 1 / (sum(term in each.terms for each in theirs) or 1) for term in clause.terms}
    return max((sum(rarity[term] for term in terms) for terms in shared), default=0.0)


def _clauses(sentence: str) -> Iterator[Clause]:
    for part in _CLAUSE.split(sentence):
        cues = _CUE.findall(part)
        plain = _DENIED_WORD.sub(lambda word: _DENIED[word.group().lower()], _CUE.sub(_word_in, part))
        terms = frozenset(term for term, _ in query_terms(plain))
        yield Clause(part, terms, len(cues) % 2 == 1, directions(part))


def _word_in(cue: re.Match[str]) -> str:
    """What of a cue is a word of its own: "unchanged" is a denial of a change."""
    return cue.group() if _DENIED_WORD.match(cue.group()) else " "
