"""What a sentence of an abstract found: which outcome went up, down, better or worse, or did not change.

Only plain forms are read ("A reduced B", "B was lower", "no difference in B", "associated with higher B"), and nothing
that is an aim, a guess or another's work. What is not understood for certain is no finding.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.intervals import Estimate, estimates
from bio_mcp.retrieval.polarity import BETTER, DOWN, UP, WORSE, Clause, clauses
from bio_mcp.retrieval.spelling import QUERY_STOP_WORDS

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
_FORM = re.compile(
    "|".join(rf"(?P<{name}>\b(?:{'|'.join(forms.split())})\b)" for name, forms in _FORMS.items()), re.IGNORECASE
)
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
_PASSIVE = re.compile(r"ed\Z", re.IGNORECASE)
_NO_FINDING = re.compile(
    r"""\b(?: whether | aims? | aimed | objectives? | purpose | hypothes\w+ | investigat\w+ | examin\w+ | evaluat\w+
      | assess\w* | to\s+(?:determine|test|compare|study) | previous\w* | suggest\w* | thought | believed | unclear
      | controvers\w+ | unknown | may | might | could | would | should | if | expected | designed | protocol | will
      | conflicting | inconsistent | evidence | potential\w* )\b | \?""",
    re.VERBOSE | re.IGNORECASE,
)
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
    if _NO_FINDING.search(sentence):
        return []
    found = [each for clause in clauses(sentence) for each in _of_clause(clause)]
    intervals = estimates(sentence)
    if len(found) == len(intervals) == 1:
        return [replace(found[0], estimate=intervals[0])]
    return found


def outcome_terms(phrase: str) -> frozenset[str]:
    """The search terms of a phrase without generic ones."""
    terms = (term for term, _ in query_terms(_FORM.sub(" ", phrase)))
    return frozenset(_ONE_WORD.get(each, each) for each in terms) - _GENERIC


def _of_clause(clause: Clause) -> Iterator[Finding]:
    """The finding of a clause that names one direction about one outcome."""
    text = " ".join(clause.text.split())
    named = list(_FORM.finditer(text))
    linked = [each for each in named if each.lastgroup == LINKED]
    moved = [each for each in named if each.lastgroup != LINKED] or linked
    if len(moved) != 1 or len(linked) > 1:
        return
    [match] = moved
    subject = outcome_terms(_subject(text[: match.start()]))
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
    predicate = _AUX.search(text[: match.start()]) is not None
    return not (predicate and _STOP.match(text[match.end() :])) and not (predicate and _PASSIVE.search(match.group()))


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


def _subject(before: str) -> str:
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
