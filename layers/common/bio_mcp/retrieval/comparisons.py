"""What a question compares: "colchicine or allopurinol", "A versus B", "better than B", "between A and B".

English alone, by its function words. A comparison that is not plain is none.
"""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from bio_mcp.retrieval.analysis import query_terms

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
    found = _alternatives(question)
    rest = found[0][1].replace(found[0][0], " ") if found else ""
    return found if any(character.isalnum() for character in rest) and query_terms(rest) else []


def _alternatives(question: str) -> list[Alternative]:
    connectors = list(_CONNECTOR.finditer(question))
    if (pair := _PAIR.search(question)) and _ASKED.search(question):
        return _paired(question, pair)
    if len(connectors) == 1 and (connectors[0]["versus"] or _ASKED.search(question)):
        return _compared(question, connectors[0])
    return []


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
