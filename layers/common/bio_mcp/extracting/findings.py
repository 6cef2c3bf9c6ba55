"""What a document names, and what it states of the nodes of the graph. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from bio_mcp.extracting.gazetteer import Match
from bio_mcp.extracting.linking import Linked, linked, named_for_certain
from bio_mcp.extracting.negation import denied
from bio_mcp.extracting.relations import relations_in
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
        for start, end in _spans(section.text) if believed else ():
            text = section.text[start:end]
            yield _Sentence(text, offset + start, section.heading, believed, recognition.find(text))
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
    marks = denied(sentence.text)
    for match, link in zip(sentence.matches, links, strict=True):
        text, offset = sentence.text[match.start : match.end], sentence.offset
        yield Mention(offset + match.start, offset + match.end, text, sentence.section, bool(marks[match.start]), link)


def _statements(sentence: _Sentence, links: Sequence[Linked]) -> Iterator[Statement]:
    if sentence.telling < Telling.STATEMENTS or len(sentence.text) > LONGEST:
        return
    named = [(match, link) for match, link in zip(sentence.matches, links, strict=True) if link.candidates]
    for relation in relations_in(sentence.text, [(match.start, match.end) for match, _ in named]):
        ends = [named[relation.first], named[relation.second]]
        of_kinds = [link.of(kinds) for (_, link), kinds in zip(ends, relation.kinds, strict=True)]
        ids = [link.candidates[0].node.node_id for link in of_kinds if link.candidates]
        if len(set(ids)) == 2:
            problem = relation.problem or _doubt(sentence.text, [match for match, _ in ends], of_kinds)
            end = sentence.offset + len(sentence.text)
            yield Statement(relation.edge, ids[0], ids[1], sentence.text, sentence.offset, end, problem)


def _doubt(sentence: str, matches: Sequence[Match], links: Sequence[Linked]) -> str | None:
    """The name that may stand for several nodes, where there is one."""
    for match, link in zip(matches, links, strict=True):
        if not link.certain:
            ids = " or ".join(each.node.node_id for each in link.candidates)
            return f"{sentence[match.start : match.end]!r} may be {ids}"
    return None
