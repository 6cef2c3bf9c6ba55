"""What a section states: names that stand for nodes, relations between them, and what takes a statement back."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import product

from bio_mcp.extracting.gazetteer import Entry, Match, Naming
from bio_mcp.graph.nodes import EdgeType, NodeType
from bio_mcp.literature.documents import SEPARATOR, ParsedDocument, ParsedSection, SectionKind
from bio_mcp.literature.layout.headings import bare, named
from bio_mcp.retrieval.chunking import sentence_spans


def _any_of(phrases: str) -> re.Pattern[str]:
    listed = sorted((each.strip() for each in phrases.replace("\n", " ").split(";")), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(listed)})\b", re.IGNORECASE)


_NO_DENIAL = _any_of("""
no increase; no change; no further; not only; not just; not merely; not limited to; not necessarily; no doubt; without
doubt; without difficulty; not to mention; gram[- ]negative; negative control; if not all; nor only
""")
_BEFORE = _any_of(r"""
no; not; never; neither; nor; without; cannot; can't; don't; doesn't; didn't; isn't; aren't; wasn't; weren't; won't;
absence of; absent; lack of; lacks?; lacked; lacking; free of; devoid of; denie[sd]; deny; denying; rules? out; ruled
out; ruling out; fail(?:s|ed)? to; failure to; negative for; no longer; none; rather than; instead of; unrelated to;
excludes?; excluded; no evidence; insufficient evidence; contrary to; false(?:ly)?; myth
""")
_AFTER = _any_of(r"""
(?:is|was|were|are|has been|have been) (?:ruled out|excluded|denied|absent|refuted|disproved|withdrawn);
(?:is|was|were|are) unlikely; did not occur; unlikely
""")
_BREAK = re.compile(
    r";|:|\b(?:but|however|although|though|except|whereas|while|yet|nevertheless|still|because|since)\b", re.IGNORECASE
)
_OPEN = _any_of(r"""
may; might; could; would; can; possibl[ey]; possibility; potential(?:ly)?; probabl[ey]; perhaps; likely; presumably;
unclear; unknown; uncertain; unproven; controversial; debated; whether; if; suggest(?:s|ed|ing)?; hypothes\w+;
assum\w+; speculat\w+; suspect\w*; believed; thought to; claim(?:s|ed)?; alleged(?:ly)?; appears?; appeared; seems?;
seemed; propos(?:e|es|ed|ing); theoretical(?:ly)?; conceivabl[ey]; conjecture; we
(?:asked?|aim(?:ed)?|test(?:ed)?|investigated?|studied|examined?); aim(?:s|ed)? (?:to|of|was|is); objective; purpose;
to (?:determine|investigate|assess|evaluate|examine|test|study); should be
(?:studied|investigated|examined|tested|confirmed); remains? to be; further (?:studies|research|trials)
""")
_THAI_DENIAL = ("ไม่", "มิได้", "ปราศจาก", "ไร้")
_THAI_NO_DENIAL = re.compile("อาหารไม่ย่อย|นอนไม่หลับ|ไม่เพียง|ไม่ว่า|ไม่นาน")
_THAI_OPEN = ("อาจ", "คาดว่า", "น่าจะ", "สันนิษฐาน", "หรือไม่", "ยังไม่", "เชื่อว่า")
REACH = 80  # characters that a denial reaches, where nothing ends it before


def denied(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield what is denied: what follows "no", up to "but", a semicolon or `REACH`, and so on."""
    hidden = _without_no_denials(sentence)
    for cue in _BEFORE.finditer(hidden):
        reach = min(cue.end() + REACH, len(hidden))
        ends = _BREAK.search(hidden, cue.end(), reach)
        yield cue.end(), ends.start() if ends else reach
    for cue in _AFTER.finditer(hidden):
        begins = [max(cue.start() - REACH, 0)]
        begins += [each.end() for each in _BREAK.finditer(hidden, begins[0], cue.start())]
        yield begins[-1], cue.start()
    for word in _THAI_DENIAL:
        for found in re.finditer(word, hidden):
            yield found.end(), min(found.end() + REACH, len(hidden))


def _without_no_denials(text: str) -> str:
    """The text, as long as it is, with what only looks like a denial blotted out."""
    for pattern in (_NO_DENIAL, _THAI_NO_DENIAL):
        text = pattern.sub(lambda found: "_" * len(found.group()), text)
    return text


def denies(text: str) -> bool:
    """Whether anything in the text is a denial."""
    hidden = _without_no_denials(text)
    return bool(_BEFORE.search(hidden) or _AFTER.search(hidden)) or any(word in hidden for word in _THAI_DENIAL)


class Telling(IntEnum):
    """How far a section is believed."""

    NOTHING = 0  # the titles of other works, and thanks
    MENTIONS = 1  # what was asked and done, and rows of tables
    STATEMENTS = 2


_ASKING = re.compile(
    r"aims?|objectives?|purpose|hypothes[ei]s|research questions?|.*\bmethods?|methodology|experimental( section)?|"
    r"study design|(search|selection) .*|(inclusion|exclusion|eligibility) criteria|.*\bprotocol|"
    r"future (work|research).*|limitations?|วัตถุประสงค์|วิธี.*|ข้อจำกัด.*|methodik|zielsetzung|fragestellung",
    re.IGNORECASE,
)


def telling(section: ParsedSection) -> Telling:
    """Return what may be taken from a section, by its kind and by each heading above it."""
    headings = [bare(each) for each in section.path or ((section.heading,) if section.heading else ())]
    beside = any(named(each) in ("references", "contents", "formal", "back") for each in headings)
    if section.kind is SectionKind.REFERENCES or beside:
        return Telling.NOTHING
    if section.kind is not SectionKind.BODY or any(_ASKING.fullmatch(each) for each in headings):
        return Telling.MENTIONS
    return Telling.STATEMENTS


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
_PLACES = {
    "A": f"(?P<a>{_LIST})",
    "B": f"(?P<b>{_LIST})",
    "A1": f"(?P<a>{_ONE})",
    "B1": f"(?P<b>{_ONE})",
    "WHO": (
        r"(?:(?:the\s+)?(?:patients?|people|persons?|individuals?|those|women|men|children|adults|anyone|cases?|subjects?)\s+)?"
        r"(?:(?:who\s+(?:have|are|take|use)|with|having|taking|receiving|on|using|of|suffering\s+from)\s+)?"
        r"(?:(?:an?|the|any|all|other)\s+)?(?:(?:a\s+)?history\s+of\s+)?(?:(?:active|acute|chronic|severe|known|concomitant|"
        r"concurrent)\s+){0,2}"
    ),
    "MODAL": r"(?:(?:may|might|could|can|does\s+not|do\s+not|did\s+not)\s+)?",  # so that what is held back is seen
    "BE": (
        r"(?:(?:is|are|was|were)(?:\s+not)?|(?:may|might|could|can)\s+be)\s+"
        r"(?:also\s+)?(?:(?:strictly|absolutely|relatively|strongly|generally)\s+)?"
    ),
    "GIVEN": r"(?:used|taken|given|administered|combined|consumed|co-?administered|prescribed)",
    "WITH": r"(?:(?:together|concomitantly|concurrently|simultaneously)\s+)?(?:in|with|by|during|to|alongside)",
    "OFTEN": (
        r"(?:(?:widely|commonly|traditionally|often|frequently|usually|routinely|largely|mainly|primarily|clinically|"
        r"successfully|also)\s+)?"
    ),
    "MAIN": r"(?:(?:major|main|active|principal|bioactive|primary|characteristic)\s+){0,2}",
    "KIND": (r"(?:constituents?|components?|compounds?|alkaloids?|flavonoids?|ingredients?|curcuminoids?|terpenoids?)"),
}
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
_HERB = frozenset({NodeType.HERB})

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


def _pattern(edge: EdgeType, first: frozenset[NodeType], second: Kinds, words: str) -> Pattern:
    """The pattern in which `<A>` and `<B>` are lists of names, and a space is any."""
    ended = words + _THEN if words.isascii() and words.endswith(">") else words
    spelled = re.sub("<([A-Z]+1?)>", lambda name: _PLACES[name[1]], ended.replace(" ", r"\s+"))
    return Pattern(edge, (first,), second, spelled)


_SPELLED: dict[tuple[EdgeType, frozenset[NodeType], Kinds], tuple[str, ...]] = {
    (EdgeType.CONTRAINDICATED_WITH, TAKEN, _HARM): (
        "<A> <BE>contra-?indicated (?:in|with|for|during|in cases? of) <WHO><B>",
        "<A> (?P<own>(?:should|must) (?:not|never) be) <GIVEN> <WITH> <WHO><B>",
        "<A> (?:should|must) be avoided (?:in|with|by|during) <WHO><B>",
        "<B> <BE>(?:an? )?contra-?indications? (?:to|for|of) (?:the use of )?<A>",
        "contra-?indications? (?:to|for|of) (?:the use of )?<A> (?:are|include) <B>",
        rf"<A>\s*ห้ามใช้\s*(?:ร่วม\s*)?(?:กับ|ใน)\s*{_THAI_WHO}<B>",
    ),
    (EdgeType.INTERACTS_WITH, TAKEN, (TAKEN,)): (
        "<A> <MODAL>(?:strongly |significantly )?interact(?:s|ed)? with (?:the drug )?<B>",
        "interactions? between <A1> and <B1> (?:has been|have been|was|were|is|are) (?:reported|documented|observed)",
        rf"<A>\s*(?:มี)?ปฏิกิริยากับ\s*{_THAI_WHO}<B>",
    ),
    (EdgeType.TREATS, TAKEN, _ILL): (
        "<A> <MODAL>(?:effectively )?(?:treats?|cures?|relieves?) <WHO><B>",
        "<A> (?:<BE>|(?:has|have) been )(?:(?:shown|found|proven) to be )?<OFTEN>(?:used|effective|indicated|approved) "
        "(?:to treat|for treating|in treating|against|for|(?:in|for) (?:the )?(?:treatment|relief) of) <WHO><B>",
        "<A> <BE>an? (?:effective )?(?:treatment|remedy) (?:for|of) <WHO><B>",
        r"<A>\s*(?:เป็น(?:สมุนไพร|ยา|พืช)(?:ไทย)?ที่)?(?:ใช้|ช่วย)\s*(?:รักษา|บรรเทา)\s*(?:โรค|อาการ|ภาวะ)?\s*<B>",
    ),
    (EdgeType.HAS_CONSTITUENT, _HERB, (frozenset({NodeType.CONSTITUENT}),)): (
        "<A> <MODAL>contains? (?:the )?(?:<KIND> )?<B>",
        "<B>,? (?:is|are)?\\s*(?:an?|the) <MAIN><KIND> (?:of|in|from) <A>",
    ),
    (EdgeType.CONTAINS, frozenset({NodeType.FORMULATION}), (_HERB,)): (
        "<A> <MODAL>(?:contains?|consists? of|is composed of|is made of) <B>",
        r"<A>\s*(?:ประกอบด้วย|มีส่วนผสมของ)\s*<B>",
    ),
}
PATTERNS = tuple(_pattern(*of, words) for of, spelled in _SPELLED.items() for words in spelled)


def _masked(sentence: str, names: Iterable[Match]) -> str:
    """The sentence with each name as one character."""
    parts, end = [], 0
    for place, name in enumerate(names):
        parts += [sentence[end : name.start], chr(FIRST + place)]
        end = name.end
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
    is_open = "?" in rest or _OPEN.search(rest) or any(word in rest for word in _THAI_OPEN)
    return "the sentence leaves it open" if is_open else None


@dataclass(frozen=True, slots=True)
class Linked:
    """The candidates of a name, the likeliest first, and why that is the first. `certain`: there is no doubt."""

    candidates: tuple[Entry, ...]
    reason: str
    certain: bool

    def of(self, kinds: Kinds) -> "Linked":
        """The link among the nodes of these types alone; without candidates where there are none."""
        for types in kinds:
            fitting = tuple(each for each in self.candidates if each.node.type in types)
            if len(fitting) == len(self.candidates):
                return self
            if fitting:
                only = len(fitting) == 1
                return Linked(fitting, "the only one of a fitting type" if only else self.reason, only)
        return Linked((), self.reason, False)


def linked(match: Match, elsewhere: Set[str]) -> Linked:
    """The nodes that a name may stand for; `elsewhere` are those that the document names for certain.

    Those come first, then those whose name it is rather than a synonym, then by id.
    """
    ordered = sorted(
        match.entries, key=lambda each: (each.node.node_id not in elsewhere, each.naming, each.node.node_id)
    )
    alone = sum(each.node.node_id in elsewhere for each in ordered) == 1
    if not ordered:
        reason = "the graph has no node of this name"
    elif len(ordered) == 1 and ordered[0].naming is Naming.CONCEPT:
        reason = f"MeSH has it as another name of {ordered[0].name!r}"
    elif len(ordered) == 1:
        reason = "the only node of this name"
    elif alone:
        reason = "the document names it by another name too, and none of the others"
    elif ordered[0].naming < ordered[1].naming:
        reason = "it is its name, and at most a synonym of the others"
    else:
        reason = "the first by id: nothing tells them apart"
    return Linked(tuple(ordered), reason, alone or len(ordered) == 1)


LONGEST = 1_000  # characters of a sentence that may state something: a longer one is no sentence


Find = Callable[[str], list[Match]]
"""Finds names in a text, none of which overlap, in order, with the nodes that each may stand for."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a document, from `start` to `end` of its text. `denied`: the sentence says that it is not so."""

    start: int
    end: int
    text: str
    section: str | None
    denied: bool
    linked: Linked


@dataclass(frozen=True, slots=True)
class Statement:
    """A relation that a sentence is about, quoted letter by letter, from `start` to `end` of the document's text.

    `problem` says why it does not enter the graph; None for one that does.
    """

    edge: EdgeType
    from_id: str
    to_id: str
    quote: str
    start: int
    end: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """Mentions and statements, each in the order of the text."""

    mentions: tuple[Mention, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence that begins at `offset` of the document, with the names in it."""

    text: str
    offset: int
    section: str | None
    telling: Telling
    matches: Sequence[Match]


def findings_of(document: ParsedDocument, find: Find) -> Findings:
    """Read `document`: first all its names, then what each stands for, then what sentences state."""
    sentences = [each for each in _sentences(document, find) if each.matches]
    certain = (match.entries[0] for each in sentences for match in each.matches if len(match.entries) == 1)
    elsewhere = {each.node.node_id for each in certain}
    mentions: list[Mention] = []
    statements: list[Statement] = []
    for sentence in sentences:
        links = [linked(match, elsewhere) for match in sentence.matches]
        mentions += _mentions(sentence, links)
        statements += dict.fromkeys(_statements(sentence, links))
    return Findings(tuple(mentions), tuple(statements))


def _sentences(document: ParsedDocument, find: Find) -> Iterator[_Sentence]:
    offset = 0
    for section in document.sections:
        believed = telling(section)
        for start, end in _spans(section.text) if believed else ():
            text = section.text[start:end]
            yield _Sentence(text, offset + start, section.heading, believed, find(text))
        offset += len(section.text) + len(SEPARATOR)


def _spans(text: str) -> list[tuple[int, int]]:
    """The sentences of a text. A Thai one goes on behind the author of a Latin name: "(Curcuma longa L.)"."""
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        if spans and text.endswith(".)", 0, spans[-1][1]) and "\u0e00" < text[start] <= "\u0e7f":
            start = spans.pop()[0]
        spans.append((start, end))
    return spans


def _mentions(sentence: _Sentence, links: Sequence[Linked]) -> Iterator[Mention]:
    spans = list(denied(sentence.text))
    for match, link in zip(sentence.matches, links, strict=True):
        text, offset = sentence.text[match.start : match.end], sentence.offset
        is_denied = any(start <= match.start < end for start, end in spans)
        yield Mention(offset + match.start, offset + match.end, text, sentence.section, is_denied, link)


def _statements(sentence: _Sentence, links: Sequence[Linked]) -> Iterator[Statement]:
    """Yield what the sentence says of the names in it, with why it does not state it where it denies it or leaves it
    open."""
    if sentence.telling < Telling.STATEMENTS or len(sentence.text) > LONGEST:
        return
    named = [(match, link) for match, link in zip(sentence.matches, links, strict=True) if link.candidates][:MOST]
    masked = _masked(sentence.text, (match for match, _ in named))
    span = sentence.offset, sentence.offset + len(sentence.text)
    for pattern in PATTERNS:
        for found in pattern.words.finditer(masked):
            if _GOVERNED.search(masked[: found.start()]):
                continue
            problem = _problem(masked, found)
            for first, second in product(_places(found["a"]), _places(found["b"])):
                ends = [named[first], named[second]]
                of_kinds = [ends[0][1].of(pattern.first), ends[1][1].of(pattern.second)]
                ids = [link.candidates[0].node.node_id for link in of_kinds if link.candidates]
                if len(set(ids)) == 2:
                    doubt = problem or _doubt(sentence.text, [match for match, _ in ends], of_kinds)
                    yield Statement(pattern.edge, ids[0], ids[1], sentence.text, *span, doubt)


def _doubt(sentence: str, matches: Sequence[Match], links: Sequence[Linked]) -> str | None:
    """The name that may stand for several nodes, where there is one."""
    for match, link in zip(matches, links, strict=True):
        if not link.certain:
            ids = " or ".join(each.node.node_id for each in link.candidates)
            return f"{sentence[match.start : match.end]!r} may be {ids}"
    return None
