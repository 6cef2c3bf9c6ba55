"""What a sentence found: outcome, direction, comparison and interval, and whether it affirms or denies."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from bio_mcp.retrieval.analysis import QUERY_STOP_WORDS, query_terms
from bio_mcp.retrieval.chunking import sentence_spans

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
_CUE = r"""(?xi)
      \b(?: no (?!\.?\s?\d | \s(?:less|more|fewer)\s+than\s+\d)
      | not (?!\s(?:only\b|(?:less|more|fewer)\s+than\s+\d)) | cannot | never
      | none | nor | neither | without | lack(?:s|ed|ing)? | absen(?:t|ce) | hardly | scarcely | unable | unlikely
      | fail(?:s|ed|ing|ure)?\s+to | non-?significant\w* | insignificant\w* | ineffective\w* | unchanged | unaffected
      | unrelated | uncorrelated | free\s+of | rather\s+than | instead\s+of )\b | n't\b"""
_CLAUSE = r"""(?xi)
      [;:] | ,?\s+ (?: but | whereas | while | although | though | however | yet | except | despite )\b
      | ,?\s+ (?= without\b | rather\s+than\b | instead\s+of\b )
      | ,?\s+ (?: and | or )\s+ (?= (?:(?:did|does|do|was|were|is|are|had|has|have|could|can)\s+)? (?:not?|never)\b )
      | , \s+ and \s+ (?= [^,;]{1,60} \s (?:was|were|is|are|had|has|have|did|does|do|could|may|can|will)\b )"""
_DENIED = {
    "ineffective": "effective", "unchanged": "change", "unaffected": "affect", "unrelated": "relate",
    "uncorrelated": "correlate", "insignificant": "significant", "nonsignificant": "significant",
}  # fmt: skip
_DENIED_WORD = re.compile(rf"\b(?:{'|'.join(_DENIED)})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that affirms or denies one thing, with its search terms and the directions that it names:
    up, down, better, worse."""

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
    found = []
    for part in (part for start, end in sentence_spans(text) for part in re.split(_CLAUSE, text[start:end])):
        cues = re.findall(_CUE, part)
        # "unchanged" is a denial of a change, which is a word of its own
        bare = re.sub(_CUE, lambda cue: cue.group() if _DENIED_WORD.match(cue.group()) else " ", part)
        plain = _DENIED_WORD.sub(lambda word: _DENIED[word.group().lower()], bare)
        if terms := frozenset(term for term, _ in query_terms(plain)):
            directions = frozenset(name for name, words in _DIRECTIONS.items() if words.search(part))
            found.append(Clause(part, terms, len(cues) % 2 == 1, directions))
    return tuple(found)


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


_NUMBER = r"\d+(?:\.\d+)?"
_FOLDED = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | dict.fromkeys("·∙⋅", "."))
_MEASURES = {"or": "odds ratio", "rr": "relative risk", "hr": "hazard ratio", "irr": "rate ratio"} | {
    "risk ratio": "relative risk"
}
_ESTIMATE = rf"""(?x)
      \b(?P<measure>(?:odds|hazard|risk|rate)\s+ratios?|relative\s+risks?|a?OR|a?RR|a?HR|IRR)\b
         (?:\s*\[(?:OR|RR|HR)\]|\s*\((?:OR|RR|HR)\))? [\s,:=]* (?:of\s+|was\s+)? (?P<value>{_NUMBER}) [\s,;(\[]*
         (?:95\s?%\s?)? (?:CI|confidence\s+intervals?)? (?:\s*\[(?:95\s?%\s?)?CI\])? [\s,:=(\[]*
         (?P<low>{_NUMBER}) (?:\s*-\s*|\s+to\s+|\s*,\s*) (?P<high>{_NUMBER})"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio with its interval, `low` to `high`; `measure` is what kind of ratio it is."""

    measure: str
    value: float
    low: float
    high: float

    def excludes(self, other: "Estimate") -> bool:
        """Whether both are of one kind and their intervals do not meet."""
        return self.measure == other.measure and (self.high < other.low or other.high < self.low)

    def __str__(self) -> str:
        return f"{self.measure} {self.value:g} ({self.low:g} to {self.high:g})"


def estimates(text: str) -> list[Estimate]:
    """The estimates of a text whose value lies within its interval."""
    found = []
    for match in re.finditer(_ESTIMATE, text.translate(_FOLDED)):
        words = " ".join(match["measure"].lower().split()).removesuffix("s")
        short = words.removeprefix("a") if len(words) < 4 else words
        value, low, high = (float(match[name]) for name in ("value", "low", "high"))
        if 0 < low <= value <= high:
            found.append(Estimate(_MEASURES.get(short, short), value, low, high))
    return found


SAME = "same"
LINKED = "linked"

_FORMS = {
    UP: "increas(?:e|es|ed|ing) higher elevat(?:ed|es) rais(?:ed|es) rose greater enhanc(?:ed|es) more",
    DOWN: "decreas(?:e|es|ed|ing) lower lowers lowered reduc(?:e|es|ed|ing) reductions? declin(?:e|ed|es) fell fewer "
    "less diminish(?:ed|es) attenuat(?:ed|es) suppress(?:ed|es) prevent(?:ed|s)? inhibit(?:ed|s)?",
    BETTER: "improv(?:e|es|ed|ing) improvements? ameliorat(?:ed|es) alleviat(?:ed|es)",
    WORSE: "worsen(?:ed|s|ing)? worse deteriorat(?:ed|es|ion) aggravat(?:ed|es) exacerbat(?:ed|es)",
    SAME: "differ(?:ed|s)? differences? different chang(?:e|es|ed) effects? impact influenc(?:e|ed|es) "
    "affect(?:ed|s)? alter(?:ed|s)? similar comparable unchanged unaffected",
    LINKED: "associated association related correlat(?:ed|es)",
}
_FORM = "(?i)" + "|".join(rf"(?P<{name}>\b(?:{'|'.join(forms.split())})\b)" for name, forms in _FORMS.items())
_ALREADY_SAME = re.compile(r"similar|comparable|unchanged|unaffected", re.IGNORECASE)
_NOUN = re.compile(
    r"(?:reductions?|improvements?|differences?|deterioration|association|effects?|impact|influence"
    r"|(?:increas|decreas|declin|chang)es?)\Z",
    re.IGNORECASE,
)
_ONLY_NOUN = re.compile(
    r"(?:reductions?|improvements?|differences?|deterioration|association|associated|related|correlated|effects?|impact)\Z",
    re.I,
)
_NO_FINDING = r"""(?xi)
      \b(?: whether | aims? | aimed | objectives? | purpose | hypothes\w+ | investigat\w+ | examin\w+ | evaluat\w+
      | assess\w* | to\s+(?:determine|test|compare|study) | previous\w* | suggest\w* | thought | believed | unclear
      | controvers\w+ | unknown | may | might | could | would | should | if | expected | designed | protocol | will
      | conflicting | inconsistent | evidence | potential\w* )\b | \?"""
_CONTROLS_FIRST = re.compile(
    r"\A\W*(?:\w+ly\s+)?(?:in|with|among|for|after)\s+(?:the\s+)?(?:placebo|controls?|untreated|sham|non-?users?|usual)",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"\b(?:placebo|controls?|untreated|sham|non-?users?)\b", re.IGNORECASE)
_THAN = re.compile(r"\b(?:than|compared|versus|vs|relative\s+to)\b", re.IGNORECASE)
_AUX = re.compile(
    r"\b(?:was|were|is|are|had|has|have|did|does|do|remained|been|be|cannot|fail(?:ed|s)?\s+to)\b(?:\s+(?:not|also|both|all|significantly"
    r"|statistically|markedly|slightly|substantially|been|be|no))*\s*\Z",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"\s(?:in|among|with|by|after|at|during|compared|versus|vs|than|and|or|for|from|to|when|was|were|is|are|but|between"
    r"|over|within|as|that|which|who|on|did|had|has|without|relative|through|via|under|showed|both|nor|while|more)\b|[(),;:=]",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"\s(?:in|among|with|at|after|during|between|for|from|by|on|over)\b", re.IGNORECASE)
_SUBJECT_FROM = re.compile(r".*(?:[,;:(]|\bthat\b|\band\b|\bwhile\b|\bwhereas\b)", re.IGNORECASE | re.DOTALL)
_LIST = re.compile(r"\A\s*(?:,|and\b|or\b|/)", re.IGNORECASE)
_GENERIC = frozenset(
    term
    for word in """
    administration amount average beneficial change clinical clinically concentration consumption daily difference
    effect frequency further group groups incidence intake intervention level levels likelihood markedly mean
    number occurrence odds patient patients plasma probability rate rates risk risks score scores serum
    significant significantly slightly statistical statistically study studies subsequent substantially
    supplementation therapy time treatment trend trial use users value values
    """.split()
    + sorted(QUERY_STOP_WORDS)
    for term, _ in query_terms(word)
)
_ONE_WORD = {"mortal": "death", "die": "death", "fatal": "death", "dead": "death"}


@dataclass(frozen=True, slots=True)
class Finding:
    """An outcome, as its search terms without generic ones, and what became of it.

    `direction` is one of up, down, better, worse, linked, or same; "" for a change without direction. With same,
    `denied` is the direction that was denied; None where any change was. `agent` has the terms of what did it, where
    the sentence names it before. `about` is the clause, `estimate` the sentence's estimate, where it has just one.
    """

    outcome: frozenset[str]
    direction: str
    denied: str | None
    agent: frozenset[str]
    about: str
    estimate: Estimate | None = None

    def contradicts(self, other: "Finding") -> bool:
        """Whether the directions exclude each other. The outcomes are not compared."""
        if self.direction == SAME or other.direction == SAME:
            same, change = (self, other) if self.direction == SAME else (other, self)
            return change.direction != SAME and same.denied in (None, change.direction)
        return {self.direction, other.direction} in ({UP, DOWN}, {BETTER, WORSE})


def findings(sentence: str) -> list[Finding]:
    """The findings of a sentence; none where it states an aim, a guess or what others found."""
    if re.search(_NO_FINDING, sentence):
        return []
    found = [each for clause in clauses(sentence) for each in _of_clause(clause)]
    intervals = estimates(sentence)
    if len(found) == len(intervals) == 1:
        return [replace(found[0], estimate=intervals[0])]
    return found


def outcome_terms(phrase: str) -> frozenset[str]:
    """The search terms of a phrase without generic ones."""
    terms = (term for term, _ in query_terms(re.sub(_FORM, " ", phrase)))
    return frozenset(_ONE_WORD.get(each, each) for each in terms) - _GENERIC


def _of_clause(clause: Clause) -> Iterator[Finding]:
    """The finding of a clause that names one direction about one outcome."""
    text = " ".join(clause.text.split())
    named = list(re.finditer(_FORM, text))
    linked = [each for each in named if each.lastgroup == LINKED]
    moved = [each for each in named if each.lastgroup != LINKED] or linked
    if len(moved) != 1 or len(linked) > 1:
        return
    [match] = moved
    subject = outcome_terms(_subject_findings(text[: match.start()]))
    phrase = _behind(match, text[match.end() :]) if _goes_on(text, match) else ""
    if phrase is None:
        return
    behind = outcome_terms(phrase)
    outcome = behind or (frozenset() if _ONLY_NOUN.match(match.group()) else subject)
    if outcome and not _reversed(text, match):
        yield Finding(outcome, *_direction(clause, match), subject if behind else frozenset(), text)


def _direction(clause: Clause, match: re.Match[str]) -> tuple[str, str | None]:
    name = str(match.lastgroup)
    if _ALREADY_SAME.match(match.group()):
        return SAME, None
    if not clause.denies:
        return ("", None) if name == SAME else (name, None)
    return SAME, None if name in (SAME, LINKED) else name


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the outcome may stand behind the direction, as in "reduced pain", "had lower pain", "no effect on pain".

    In "pain was reduced" it stands before it.
    """
    if match.lastgroup == LINKED or _NOUN.match(match.group()):
        return True
    if not _AUX.search(text[: match.start()]):
        return True
    return not _STOP.match(text[match.end() :]) and not match.group().lower().endswith("ed")


def _behind(match: re.Match[str], after: str) -> str | None:
    """The phrase behind the direction; None where it is a list, whose parts may have gone different ways."""
    if match.lastgroup == LINKED:
        inside = re.match(r"\s+with\s+(.*)", after)
        return _noun_phrase(inside[1]) if inside else ""
    if _NOUN.match(match.group()):
        inside = re.match(r"\s+(?:between\b.{1,60}?\s)?(?:in|of|on|for)\s+(.*)", after)
        if inside or not re.match(r"(?:increas|decreas|declin|chang)e?s?\Z|influence", match.group(), re.IGNORECASE):
            return _noun_phrase(inside[1]) if inside else ""
    return _noun_phrase(after)


def _noun_phrase(text: str) -> str | None:
    padded = f" {text.strip()} "
    end = _STOP.search(padded)
    if end is None:
        return padded
    return None if _LIST.match(padded[end.start() :]) else padded[: end.start()]


def _subject_findings(before: str) -> str:
    """What is said to have changed, in "pain in adults was significantly": pain."""
    subject = _AUX.sub("", before)
    start = _SUBJECT_FROM.match(subject)
    if start and re.search(r"(?:,|\band)\Z", start.group(), re.IGNORECASE) and "," in start.group()[:-1]:
        return ""
    padded = f" {subject[start.end() :] if start else subject} "
    cut = _PREPOSITION.search(padded)
    return padded[: cut.start()] if cut else padded


def _reversed(text: str, match: re.Match[str]) -> bool:
    """Whether the direction is that of the controls, compared with those who were treated."""
    if _CONTROLS_FIRST.match(text[match.end() :]):
        return True
    than = _THAN.search(text)
    return bool(than and _CONTROL.search(text[: than.start()]))
