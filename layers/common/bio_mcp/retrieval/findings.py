"""What a sentence found: outcome, direction, comparison and interval, and whether it affirms or denies."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

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
        # "unchanged" is a denial of a change, which is a word of its own
        bare = _CUE.sub(lambda cue: cue.group() if _DENIED_WORD.match(cue.group()) else " ", part)
        plain = _DENIED_WORD.sub(lambda word: _DENIED[word.group().lower()], bare)
        terms = frozenset(term for term, _ in query_terms(plain))
        yield Clause(part, terms, len(cues) % 2 == 1, directions(part))


_NUMBER = r"\d+(?:\.\d+)?"
_FOLDED = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | dict.fromkeys("·∙⋅", "."))
_MEASURES = {"or": "odds ratio", "rr": "relative risk", "hr": "hazard ratio", "irr": "rate ratio"} | {
    "risk ratio": "relative risk"
}
_ESTIMATE = re.compile(
    rf"""\b(?P<measure>(?:odds|hazard|risk|rate)\s+ratios?|relative\s+risks?|a?OR|a?RR|a?HR|IRR)\b
         (?:\s*\[(?:OR|RR|HR)\]|\s*\((?:OR|RR|HR)\))? [\s,:=]* (?:of\s+|was\s+)? (?P<value>{_NUMBER}) [\s,;(\[]*
         (?:95\s?%\s?)? (?:CI|confidence\s+intervals?)? (?:\s*\[(?:95\s?%\s?)?CI\])? [\s,:=(\[]*
         (?P<low>{_NUMBER}) (?:\s*-\s*|\s+to\s+|\s*,\s*) (?P<high>{_NUMBER})""",
    re.VERBOSE,
)


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
    for match in _ESTIMATE.finditer(text.translate(_FOLDED)):
        words = " ".join(match["measure"].lower().split()).removesuffix("s")
        short = words.removeprefix("a") if len(words) < 4 else words
        value, low, high = (float(match[name]) for name in ("value", "low", "high"))
        if 0 < low <= value <= high:
            found.append(Estimate(_MEASURES.get(short, short), value, low, high))
    return found


LONGEST = 6  # words of one alternative

Alternative = tuple[str, str]  # it, and the question as it would ask of it alone

_TOKEN = re.compile(r"[,;:?!()]|(?:[^\s,;:?!()])+?(?=[,;:?!()]|\.?\s|\.?$)|\.")
_CONNECTOR = re.compile(
    r"\b(?:(?P<versus>vs\b\.?|versus|rather than|as opposed to)|(?P<or>or)"
    r"|(?P<after>(?:as |when )?compare[ds]? (?:with|to)|than))(?=\s)",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"\b(?:(?:difference|choice|choose|compare|comparison|decide)s? between\s+"
    r"(?P<first>[^,;:?]{1,100}?)\s+and\s+(?P<second>.{1,100})"
    r"|(?:do|does|did)\s+(?P<one>[^,;:?]{1,100}?)\s+and\s+(?P<other>.{1,100}?)\s+(?:compare|differ)\b)",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\?\s*$|^\s*(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|which|what|who|how|when|why)\b",
    re.IGNORECASE,
)
_AUXILIARIES = frozenset("is are was were do does did can could should would will may might has have".split())
_ARTICLES = frozenset("a an the either both whether using use".split())
_SETTINGS = frozenset("in for among amongst after during with".split())
_CHOICES = frozenset(["which", "what"])
_NO_ALTERNATIVE = frozenset(
    """
    not no yes more less greater fewer higher lower older younger above below over under other others another so later
    earlier both neither one two three same different else that those this these it them
    """.split()
)
_BOUNDARIES = (
    _AUXILIARIES
    | frozenset(", ; : ? ! ( ) .".split())
    | frozenset(
        """
        be been am done must had which what who whom whose when where why how if that and but or not than
        in on of for with without by at from to into among amongst during after before between within under over
        through against versus via as about regarding
        better worse best superior inferior safer safe effective efficacious preferable preferred equivalent more most
        less least equally similarly differently any first used given taken prescribed
        affect affects alter alters benefit benefits cause causes change changes cure cures cut cuts decrease decreases
        delay delays differ differs ease eases enhance enhances give gives help helps impact impacts improve improves
        increase increases induce induces influence influences inhibit inhibits lead leads lower lowers make makes need
        needs offer offers perform performs prevent prevents produce produces promote promotes protect protects provide
        provides raise raises reduce reduces relieve relieves result results shorten shortens show shows slow slows
        suppress suppresses treat treats trigger triggers work works yield yields
        """.split()
    )
)


class _Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """In lower case, "isn't" as "is"."""
        return re.sub("n['’]t$", "", self.text.lower())

    @property
    def bounds(self) -> bool:
        """Whether a phrase ends before it."""
        return self.word in _BOUNDARIES


def alternatives(question: str) -> list[Alternative]:
    """The things that the question compares, in its order; empty where it compares none.

    A statement compares nothing, unless it says "versus", and of things of which nothing else is asked nothing is
    compared: one search finds those.
    """
    connectors, is_asked = list(_CONNECTOR.finditer(question)), _ASKED.search(question)
    found: list[Alternative] = []
    if (pair := _PAIR.search(question)) and is_asked:
        found = _paired(question, pair)
    elif len(connectors) == 1 and (connectors[0]["versus"] or is_asked):
        found = _compared(question, connectors[0])
    rest = found[0][1].replace(found[0][0], " ") if found else ""
    return found if any(map(str.isalnum, rest)) and query_terms(rest) else []


def _paired(question: str, pair: re.Match[str]) -> list[Alternative]:
    """The alternatives that stand side by side."""
    first, second = ("first", "second") if pair["first"] else ("one", "other")
    right = _phrase(_tokens(question[: pair.end(second)], pair.start(second)), LONGEST)
    if not right:
        return []
    left = _Token(pair[first], *pair.span(first))
    return _each(question, [[left], right], left.end)


def _compared(question: str, connector: re.Match[str]) -> list[Alternative]:
    """The alternatives on both sides of the connector; several on its left where commas part them."""
    before = [each for each in _tokens(question) if each.end <= connector.start()]
    left = (_subject(before) if connector["after"] else []) or _listed(before)
    if not left or (connector["after"] and left[-1][-1] is before[-1] and connector.group().lower() == "than"):
        return []
    room = max(2, len(left[-1])) if connector["or"] else LONGEST
    right = _phrase(_tokens(question, connector.end()), room)
    return _each(question, [*left, right], connector.start()) if right and _are_things(left[-1], right) else []


def _each(question: str, phrases: Sequence[Sequence[_Token]], connector: int) -> list[Alternative]:
    """The question with each phrase in the place of all. The last stands behind the connector, the others before it."""
    start, end, last = phrases[0][0].start, phrases[-2][-1].end, phrases[-1][-1].end
    rest = f"{question[end:connector].rstrip(' ,')}{question[last:]}"
    things = [question[each[0].start : each[-1].end] for each in phrases]
    return [(each, " ".join(f"{question[:start]}{each}{rest}".split())) for each in things]


def _are_things(left: Sequence[_Token], right: Sequence[_Token]) -> bool:
    """Whether two phrases name things, and are no amounts, no two actions and no "or not"."""
    amount = right[0].text[0].isdigit() and not any(each.text[0].isdigit() for each in left)
    actions = left[-1].word.endswith("ing") and right[0].word.endswith("ing")
    return not amount and not actions and right[0].word not in _NO_ALTERNATIVE


def _subject(tokens: Sequence[_Token]) -> list[list[_Token]]:
    """What the question is about, as a list of one phrase: the words between its auxiliary and what is said of them.

    Empty without an auxiliary.
    """
    at = next((at for at, each in enumerate(tokens) if each.word in _AUXILIARIES), len(tokens))
    found = _phrase(tokens[at + 1 :], LONGEST)
    if len(found) > 1 and found[-1] is tokens[-1] and found[-1].word.endswith("er"):
        found = found[:-1]  # "is cocoa healthier than"
    return [found] if found else []


def _listed(tokens: Sequence[_Token]) -> list[list[_Token]]:
    """The phrases at the end that commas part: "A, B or" has two. Empty where one of them is too long."""
    start = next((at for at in range(len(tokens), 0, -1) if tokens[at - 1].bounds and tokens[at - 1].text != ","), 0)
    listed = [list(each) for comma, each in groupby(tokens[start:], lambda each: each.text == ",") if not comma]
    if listed[1:] and (tokens[0].word in _CHOICES or (start == 1 and tokens[0].word in _SETTINGS)):
        listed = listed[1:]  # "In gout, A or", "Which is safer for the kidney, A or"
    phrases = [_without_articles(each) for each in listed]
    return phrases if all(0 < len(each) <= LONGEST for each in phrases) else []


def _phrase(tokens: Sequence[_Token], room: int) -> list[_Token]:
    """The first words up to a boundary, `room` at most, articles aside."""
    words = _without_articles(tokens)
    end = next((at for at, each in enumerate(words) if each.bounds), len(words))
    return words[: min(end, room)]


def _without_articles(tokens: Sequence[_Token]) -> list[_Token]:
    start = next((at for at, each in enumerate(tokens) if each.word not in _ARTICLES), len(tokens))
    return list(tokens[start:])


def _tokens(text: str, start: int = 0) -> list[_Token]:
    return [_Token(each.group(), each.start(), each.end()) for each in _TOKEN.finditer(text, start)]


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
