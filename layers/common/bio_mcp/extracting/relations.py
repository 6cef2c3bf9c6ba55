"""Relations that one sentence states by clear words between two names in it.

Names are replaced by single characters, so that a pattern shows what may stand between them. Whatever does not fit a
pattern whole states nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bio_mcp.extracting.negation import denies, leaves_open
from bio_mcp.graph.nodes import EdgeType, NodeType

FIRST = 0xE100  # of the characters that stand for names; they are for private use
MOST = 0x1700  # names of a sentence
_NAME = f"[{chr(FIRST)}-{chr(FIRST + MOST - 1)}]"
_FORM = (
    r"(?:\s+(?:extracts?|roots?|rhizomes?|leaf|leaves|oils?|juice|tea|supplements?|supplementation|preparations?|"
    r"products?|powder|use|intake|therapy|treatment|plants?|herbs?|species))"
)
_ONE = rf"{_NAME}(?:\s*\([^()]{{0,60}}\))?{_FORM}{{0,2}}"
_ASIDE = re.compile(r"\([^()]*\)")
_AND = r"(?:\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+|\s*(?:และ|หรือ)\s*)"
_LIST = rf"{_ONE}(?:{_AND}{_ONE}){{0,9}}"
_WHO = (
    r"(?:(?:the\s+)?(?:patients?|people|persons?|individuals?|those|women|men|children|adults|anyone|cases?|subjects?)\s+)?"
    r"(?:(?:who\s+(?:have|are|take|use)|with|having|taking|receiving|on|using|of|suffering\s+from)\s+)?"
    r"(?:(?:an?|the|any|all|other)\s+)?(?:(?:a\s+)?history\s+of\s+)?(?:(?:active|acute|chronic|severe|known|concomitant|"
    r"concurrent)\s+){0,2}"
)
_MODAL = r"(?:(?:may|might|could|can|does\s+not|do\s+not|did\s+not)\s+)?"  # so that what is held back is seen
_BE = (
    r"(?:(?:is|are|was|were)(?:\s+not)?|(?:may|might|could|can)\s+be)\s+"
    r"(?:also\s+)?(?:(?:strictly|absolutely|relatively|strongly|generally)\s+)?"
)
_GIVEN = r"(?:used|taken|given|administered|combined|consumed|co-?administered|prescribed)"
_WITH = r"(?:(?:together|concomitantly|concurrently|simultaneously)\s+)?(?:in|with|by|during|to|alongside)"
_OFTEN = (
    r"(?:(?:widely|commonly|traditionally|often|frequently|usually|routinely|largely|mainly|primarily|clinically|"
    r"successfully|also)\s+)?"
)
_MAIN = r"(?:(?:major|main|active|principal|bioactive|primary|characteristic)\s+){0,2}"
_KIND = r"(?:constituents?|components?|compounds?|alkaloids?|flavonoids?|ingredients?|curcuminoids?|terpenoids?)"
_THEN = (  # what may follow a name: any other word would make another thing of it, as in "cancer cells"
    r"(?=\s*(?:[.,;:()\[\]!]|$)|\s+(?:and|or|in|by|because|due|as|since|when|while|which|during|at|with|to|but|after|"
    r"before|for|on)\b)"
)
_GOVERNED = re.compile(  # a name after these is not what the sentence speaks of
    r"\b(?:of|from|than|unlike|like|with|by|to|in|for|on|except|besides|between|against|via|versus|vs\.?)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_THAI_WHO = r"(?:ผู้ป่วย|ผู้ที่|หญิง|คน|ที่|มี|เป็น|โรค|ภาวะ|ยา|\s)*"

TAKEN = frozenset({NodeType.HERB, NodeType.FORMULATION, NodeType.CONSTITUENT, NodeType.DRUG})
_ILL = (frozenset({NodeType.INDICATION}),)
_HARM = (frozenset({NodeType.CONTRAINDICATION}), _ILL[0] | TAKEN)
_HERB, _MIXTURE = frozenset({NodeType.HERB}), frozenset({NodeType.FORMULATION})
_INSIDE = (frozenset({NodeType.CONSTITUENT}),)
_AGAINST, _INTERACTS, _TREATS = EdgeType.CONTRAINDICATED_WITH, EdgeType.INTERACTS_WITH, EdgeType.TREATS
_HAS, _CONTAINS = EdgeType.HAS_CONSTITUENT, EdgeType.CONTAINS

Kinds = tuple[frozenset[NodeType], ...]
"""Types of nodes; those of a later set count where there is none of an earlier."""


@dataclass(frozen=True)
class Pattern:
    """A relation between names `a` and `b`, from nodes of `first` to nodes of `second`; in its words."""

    edge: EdgeType
    first: Kinds
    second: Kinds
    spelled: str

    @cached_property
    def words(self) -> re.Pattern[str]:
        """The words. They are compiled when first used: a start that reads no text does without."""
        return re.compile(self.spelled, re.IGNORECASE)


_PLACES = {
    **{"A": f"(?P<a>{_LIST})", "B": f"(?P<b>{_LIST})", "A1": f"(?P<a>{_ONE})", "B1": f"(?P<b>{_ONE})"},
    **{
        "WHO": _WHO,
        "BE": _BE,
        "GIVEN": _GIVEN,
        "WITH": _WITH,
        "OFTEN": _OFTEN,
        "MAIN": _MAIN,
        "MODAL": _MODAL,
        "KIND": _KIND,
    },
}


def _pattern(edge: EdgeType, first: frozenset[NodeType], second: Kinds | frozenset[NodeType], words: str) -> Pattern:
    """The pattern in which `<A>` and `<B>` are lists of names, and a space is any."""
    ended = words + _THEN if words.isascii() and words.endswith(">") else words
    spelled = re.sub("<([A-Z]+1?)>", lambda name: _PLACES[name[1]], ended.replace(" ", r"\s+"))
    kinds = second if isinstance(second, tuple) else (second,)
    return Pattern(edge, (first,), kinds, spelled)


PATTERNS = (
    _pattern(_AGAINST, TAKEN, _HARM, "<A> <BE>contra-?indicated (?:in|with|for|during|in cases? of) <WHO><B>"),
    _pattern(_AGAINST, TAKEN, _HARM, "<A> (?P<own>(?:should|must) (?:not|never) be) <GIVEN> <WITH> <WHO><B>"),
    _pattern(_AGAINST, TAKEN, _HARM, "<A> (?:should|must) be avoided (?:in|with|by|during) <WHO><B>"),
    _pattern(_AGAINST, TAKEN, _HARM, "<B> <BE>(?:an? )?contra-?indications? (?:to|for|of) (?:the use of )?<A>"),
    _pattern(_AGAINST, TAKEN, _HARM, "contra-?indications? (?:to|for|of) (?:the use of )?<A> (?:are|include) <B>"),
    _pattern(_AGAINST, TAKEN, _HARM, rf"<A>\s*ห้ามใช้\s*(?:ร่วม\s*)?(?:กับ|ใน)\s*{_THAI_WHO}<B>"),
    _pattern(
        _INTERACTS, TAKEN, TAKEN, "<A> <MODAL>(?:strongly |significantly )?interact(?:s|ed)? with (?:the drug )?<B>"
    ),
    _pattern(
        _INTERACTS,
        TAKEN,
        TAKEN,
        "interactions? between <A1> and <B1> (?:has been|have been|was|were|is|are) (?:reported|documented|observed)",
    ),
    _pattern(_INTERACTS, TAKEN, TAKEN, rf"<A>\s*(?:มี)?ปฏิกิริยากับ\s*{_THAI_WHO}<B>"),
    _pattern(_TREATS, TAKEN, _ILL, "<A> <MODAL>(?:effectively )?(?:treats?|cures?|relieves?) <WHO><B>"),
    _pattern(
        _TREATS,
        TAKEN,
        _ILL,
        "<A> (?:<BE>|(?:has|have) been )(?:(?:shown|found|proven) to be )?<OFTEN>(?:used|effective|indicated|approved) "
        "(?:to treat|for treating|in treating|against|for|(?:in|for) (?:the )?(?:treatment|relief) of) <WHO><B>",
    ),
    _pattern(_TREATS, TAKEN, _ILL, "<A> <BE>an? (?:effective )?(?:treatment|remedy) (?:for|of) <WHO><B>"),
    _pattern(
        _TREATS,
        TAKEN,
        _ILL,
        r"<A>\s*(?:เป็น(?:สมุนไพร|ยา|พืช)(?:ไทย)?ที่)?(?:ใช้|ช่วย)\s*(?:รักษา|บรรเทา)\s*(?:โรค|อาการ|ภาวะ)?\s*<B>",
    ),
    _pattern(_HAS, _HERB, _INSIDE, "<A> <MODAL>contains? (?:the )?(?:<KIND> )?<B>"),
    _pattern(_HAS, _HERB, _INSIDE, "<B>,? (?:is|are)?\\s*(?:an?|the) <MAIN><KIND> (?:of|in|from) <A>"),
    _pattern(_CONTAINS, _MIXTURE, _HERB, "<A> <MODAL>(?:contains?|consists? of|is composed of|is made of) <B>"),
    _pattern(_CONTAINS, _MIXTURE, _HERB, r"<A>\s*(?:ประกอบด้วย|มีส่วนผสมของ)\s*<B>"),
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between two names of a sentence, by their places in it.

    `problem` says why the sentence does not state it: it denies it or leaves it open; None where it states it.
    """

    edge: EdgeType
    first: int
    second: int
    kinds: tuple[Kinds, Kinds]
    problem: str | None = None


def relations_in(sentence: str, names: Sequence[tuple[int, int]]) -> Iterator[Relation]:
    """Yield what `sentence` says of the names at these places, in order; whether they are of fitting kinds is open."""
    masked = _masked(sentence, names[:MOST])
    for pattern in PATTERNS:
        for found in pattern.words.finditer(masked):
            if _GOVERNED.search(masked[: found.start()]):
                continue
            problem = _problem(masked, found)
            for first in _places(found["a"]):
                for second in _places(found["b"]):
                    yield Relation(pattern.edge, first, second, (pattern.first, pattern.second), problem)


def _masked(sentence: str, names: Sequence[tuple[int, int]]) -> str:
    """The sentence with each name as one character."""
    parts, end = [], 0
    for place, (start, stop) in enumerate(names):
        parts += [sentence[end:start], chr(FIRST + place)]
        end = stop
    return "".join([*parts, sentence[end:]])


def _places(listed: str) -> list[int]:
    """The names of a list. What stands in parentheses is another word for the name before, or a part of it."""
    return [ord(each) - FIRST for each in _ASIDE.sub("", listed) if FIRST <= ord(each) < FIRST + MOST]


def _problem(masked: str, found: re.Match[str]) -> str | None:
    """What takes the statement back: a denial or a doubt anywhere in the sentence, but for the pattern's own "not"."""
    own = found.span("own") if "own" in found.re.groupindex else (0, 0)
    rest = f"{masked[: own[0]]} {masked[own[1] :]}"
    if denies(rest):
        return "the sentence denies something"
    return "the sentence leaves it open" if leaves_open(rest) else None
