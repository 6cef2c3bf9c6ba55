"""What a document names, and what it states of the nodes of the graph. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from bio_mcp.extracting.gazetteer import Match
from bio_mcp.extracting.linking import Linked, linked, named_for_certain
from bio_mcp.extracting.negation import denied_spans
from bio_mcp.extracting.relations import Relation, relations_in
from bio_mcp.extracting.telling import Telling, telling
from bio_mcp.graph.nodes import EdgeType
from bio_mcp.literature.parsed import SEPARATOR, ParsedDocument
from bio_mcp.retrieval.sentences import sentence_spans

LONGEST = 1_000  # characters of a sentence that may state something: a longer one is no sentence


class Recognition(Protocol):
    """Finds names in a text, none of which overlap, in order."""

    def find(self, text: str) -> list[Match]:
        """Return the names with the nodes that each may stand for."""
        ...


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


def findings_of(document: ParsedDocument, recognition: Recognition) -> Findings:
    """Read `document`: first all its names, then what each stands for, then what sentences state."""
    sentences = [each for each in _sentences(document, recognition) if each.matches]
    elsewhere = named_for_certain(match for each in sentences for match in each.matches)
    mentions: list[Mention] = []
    statements: list[Statement] = []
    for sentence in sentences:
        links = [linked(match, elsewhere) for match in sentence.matches]
        mentions += _mentions(sentence, links)
        statements += dict.fromkeys(_statements(sentence, links))
    return Findings(tuple(mentions), tuple(statements))


def _sentences(document: ParsedDocument, recognition: Recognition) -> Iterator[_Sentence]:
    offset = 0
    for section in document.sections:
        believed = telling(section)
        for start, end in sentence_spans(section.text) if believed else ():
            text = section.text[start:end]
            yield _Sentence(text, offset + start, section.heading, believed, recognition.find(text))
        offset += len(section.text) + len(SEPARATOR)


def _mentions(sentence: _Sentence, links: Sequence[Linked]) -> Iterator[Mention]:
    denied = denied_spans(sentence.text)
    for match, link in zip(sentence.matches, links, strict=True):
        inside = any(start <= match.start < end for start, end in denied)
        text, offset = sentence.text[match.start : match.end], sentence.offset
        yield Mention(offset + match.start, offset + match.end, text, sentence.section, inside, link)


def _statements(sentence: _Sentence, links: Sequence[Linked]) -> Iterator[Statement]:
    spans = [(each.start, each.end) for each in sentence.matches]
    if sentence.telling < Telling.STATEMENTS or len(sentence.text) > LONGEST:
        return
    for relation in relations_in(sentence.text, spans):
        first, second = (links[relation.first].of(relation.kinds[0]), links[relation.second].of(relation.kinds[1]))
        if not first.candidates or not second.candidates:
            continue
        ends = (first.candidates[0].node.node_id, second.candidates[0].node.node_id)
        if ends[0] != ends[1]:
            problem = relation.problem or _doubt(sentence, relation, first, second)
            end = sentence.offset + len(sentence.text)
            yield Statement(relation.edge, *ends, sentence.text, sentence.offset, end, problem)


def _doubt(sentence: _Sentence, relation: Relation, *links: Linked) -> str | None:
    """The name that may stand for several nodes, where there is one."""
    for place, link in zip((relation.first, relation.second), links, strict=True):
        if not link.certain:
            match = sentence.matches[place]
            ids = " or ".join(each.node.node_id for each in link.candidates)
            return f"{sentence.text[match.start : match.end]!r} may be {ids}"
    return None
