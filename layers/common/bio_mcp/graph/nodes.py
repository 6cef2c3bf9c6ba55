"""The knowledge graph: nodes and edges, their names and types, how they are merged, and how they are stored."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from bio_mcp.errors import InvalidInput
from bio_mcp.retrieval.analysis import GREEK

NODE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}", re.ASCII)


class NodeType(StrEnum):
    """What a node stands for."""

    HERB = "herb"
    FORMULATION = "formulation"
    CONSTITUENT = "constituent"
    INDICATION = "indication"
    DRUG = "drug"
    CONTRAINDICATION = "contraindication"


class EdgeType(StrEnum):
    """What an edge says of its two nodes, read from the first to the second."""

    HAS_CONSTITUENT = "has_constituent"
    TREATS = "treats"
    CONTAINS = "contains"
    CONTRAINDICATED_WITH = "contraindicated_with"
    INTERACTS_WITH = "interacts_with"
    ACTS_ON = "acts_on"


@dataclass(frozen=True, slots=True)
class Node:
    """A thing that the graph knows. `names` has a name by language: "en", "th", "la" (Latin), at least one.

    `parts` are the parts of a herb that are used. `sources` name where it is from.
    """

    node_id: str
    type: NodeType
    names: Mapping[str, str]
    synonyms: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    icd_code: str | None = None
    description: str | None = None
    sources: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name to show: English, else Thai, else Latin, else whatever there is; the id without any."""
        named = (self.names[language] for language in ("en", "th", "la") if language in self.names)
        return next(named, next(iter(self.names.values()), self.node_id))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why an edge is believed: a paper, and the sentence of it that says so, letter by letter where one is known."""

    pmid: str | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A statement about two nodes. `sources` is never empty."""

    type: EdgeType
    from_id: str
    to_id: str
    sources: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells one edge from another: first node, type, second node."""
        return self.from_id, self.type.value, self.to_id

    @property
    def pmids(self) -> list[str]:
        """The papers that it cites, each once."""
        return list(dict.fromkeys(each.pmid for each in self.evidence if each.pmid))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a walk: along edges of this type, or against their direction."""

    edge: EdgeType
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Edges at a node, and how many further ones were left out."""

    edges: tuple[Edge, ...] = ()
    left_out: int = 0


_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")
_APOSTROPHES = re.compile("['`\u2018\u2019\u201b\u02bc\u02b9\u2032]")
_ASCII_WORD = re.compile("[a-z0-9]+")
_GREEK_LETTER = re.compile("[α-ω]")
_LETTERS = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
_LETTER = re.compile(f"[{''.join(_LETTERS)}]")
_HYBRID = re.compile(r"(?<=\w)(?: x)+ (?=\w)")  # Mentha x piperita
_THAI_MARKS = re.compile("[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]{2,}")
_THAI_SPACE = re.compile("(?<=[\u0e00-\u0e7f]) (?=[\u0e00-\u0e7f])")


def fold_name(name: str) -> str:
    """Fold `name` to what names are compared by; "" if it has no letter and no digit.

    Case, accents, marks of length, punctuation, apostrophes and the sign of a hybrid do not count; Greek letters are
    spelled ("β-Carotene" = "beta carotene"). In Thai, vowels and tones count, as they tell words apart; their order,
    spaces and a sara ae typed as two sara e do not.
    """
    text = unicodedata.normalize("NFKD", name).casefold()
    if not text.isascii():
        text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        text = _GREEK_LETTER.sub(lambda letter: f" {GREEK[letter.group()]} ", text)
        text = _LETTER.sub(lambda letter: _LETTERS[letter.group()], text)
        text = _THAI_MARKS.sub(lambda marks: "".join(sorted(marks.group())), text.replace("เเ", "แ"))
    text = _APOSTROPHES.sub("", text)
    text = " ".join(_ASCII_WORD.findall(text) if text.isascii() else "".join(map(_in_word, text)).split())
    return _THAI_SPACE.sub("", _HYBRID.sub(" ", text))


def _in_word(character: str) -> str:
    """The character if it is a letter, a digit, or a vowel or tone of a script that writes them as marks; nothing for
    one that has no width; else a space."""
    category = unicodedata.category(character)
    if character.isalnum() or category in ("Mn", "Mc"):
        return character
    return "" if category == "Cf" else " "


def names_of(node: Node) -> Iterator[str]:
    yield from dict.fromkeys((*node.names.values(), *node.synonyms))


def folded_names(node: Node) -> Iterator[str]:
    """Yield what `node` is found by: its names and synonyms, folded, each once."""
    yield from dict.fromkeys(filter(None, map(fold_name, names_of(node))))


MOST_HOPS = 6
LONGEST = 300  # characters

BOTH_WAYS = tuple(Step(each, backwards) for each in EdgeType for backwards in (False, True))
NODE_TYPES = {each.value: each for each in NodeType}
EDGE_TYPES = {each.value: each for each in EdgeType}


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge of a path: by any of `steps`, to a node of type `to` where one is named."""

    steps: tuple[Step, ...]
    to: NodeType | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """The hops of a path, and the type of the node that it starts at, where one is named."""

    start: NodeType | None
    hops: tuple[Hop, ...]


def parse_pattern(text: str) -> Pattern:
    """Read a pattern.

    A node type after another is reached by any edge, in either direction; after an edge it is what that edge leads to.
    An edge is walked in its direction, with `^` before it against it. Raises `InvalidInput` that names the choices.
    """
    if len(text) > LONGEST:
        raise InvalidInput(f"at most {LONGEST} characters", field="pattern")
    words = [each.strip().lower() for each in text.split(">")]
    start = NodeType(words.pop(0)) if words[0] in NODE_TYPES else None
    hops: list[Hop] = []
    for before, word in zip([start, *words], words, strict=False):
        hop = _hop(word)
        if hop.to and before not in (*NODE_TYPES, None):
            hop = Hop(hops.pop().steps, hop.to)
        hops.append(hop)
    if not 1 <= len(hops) <= MOST_HOPS:
        raise InvalidInput(
            f"it has {len(hops)} steps; give 1 to {MOST_HOPS}, as herb>constituent>indication", field="pattern"
        )
    return Pattern(start, tuple(hops))


def _hop(word: str) -> Hop:
    if word in NODE_TYPES:
        return Hop(BOTH_WAYS, NodeType(word))
    if word.removeprefix("^") in EDGE_TYPES:
        return Hop((Step(EdgeType(word.removeprefix("^")), word.startswith("^")),))
    raise InvalidInput(
        f"{word[:40]!r} is neither a node type ({', '.join(NODE_TYPES)}) nor an edge "
        f"({', '.join(EDGE_TYPES)}; ^ before it walks it backwards)",
        field="pattern",
    )


Type = TypeVar("Type", NodeType, EdgeType)


def type_named(name: str, types: Mapping[str, Type], what: str) -> Type:
    """The type of this name. Raises `InvalidInput` that names them all."""
    if name not in types:
        raise InvalidInput(f"{name[:40]!r} is no {what}; there are {', '.join(types)}")
    return types[name]


_DOCUMENT = "document:"


def document_source(project_id: str, doc_id: str) -> str:
    """The source of what a document of a project states; it stays the same whatever becomes known of the document."""
    return f"{_DOCUMENT}{project_id}/{doc_id}"


def without_documents(sources: Iterable[str]) -> tuple[str, ...]:
    """The sources out of which a person has read a statement."""
    return tuple(each for each in sources if not each.startswith(_DOCUMENT))


T = TypeVar("T")


def merge_nodes(stored: Node | None, given: Node) -> Node:
    """The node with all that both say. What `given` says of a name, the code or the description replaces what is
    stored; a name that is replaced becomes a synonym.

    Raises `InvalidInput` if the types differ.
    """
    if stored is None:
        return given
    if stored.type != given.type:
        raise InvalidInput(
            f"{given.node_id} is a {stored.type}, and cannot be a {given.type} too: give one of them another id"
        )
    names = {**stored.names, **given.names}
    replaced = [each for each in stored.names.values() if each not in names.values()]
    synonyms = _all(stored.synonyms, given.synonyms, replaced)
    return replace(
        given,
        names=names,
        synonyms=tuple(each for each in synonyms if each not in names.values()),
        parts=_all(stored.parts, given.parts),
        icd_code=given.icd_code or stored.icd_code,
        description=given.description or stored.description,
        sources=_all(stored.sources, given.sources),
    )


def merge_edges(stored: Edge | None, given: Edge) -> Edge:
    if stored is None:
        return given
    return replace(given, sources=_all(stored.sources, given.sources), evidence=_all(stored.evidence, given.evidence))


def _all(*lists: Iterable[T]) -> tuple[T, ...]:
    """What the lists have, once, in the order in which it comes first."""
    return tuple(dict.fromkeys(each for listed in lists for each in listed))


def to_record(what: Node | Edge) -> dict[str, Any]:
    """The JSON object of a node or an edge; what is empty is left out."""
    fields: dict[str, Any]
    if isinstance(what, Node):
        fields = {
            "node": what.type.value,
            "id": what.node_id,
            "names": dict(what.names),
            "synonyms": list(what.synonyms),
            "parts": list(what.parts),
            "icdCode": what.icd_code,
            "description": what.description,
            "sources": list(what.sources),
        }
    else:
        evidence = ({"pmid": each.pmid, "quote": each.quote} for each in what.evidence)
        fields = {
            "edge": what.type.value,
            "from": what.from_id,
            "to": what.to_id,
            "sources": list(what.sources),
            "evidence": [{key: value for key, value in each.items() if value} for each in evidence],
        }
    return {key: value for key, value in fields.items() if value}


def node_of(record: Mapping[str, Any]) -> Node:
    """The node of its JSON object, which is not checked: `lines.parse` checks one that comes from a file."""
    return Node(
        node_id=record["id"],
        type=NODE_TYPES[record["node"]],
        names=record["names"],
        synonyms=tuple(record.get("synonyms", ())),
        parts=tuple(record.get("parts", ())),
        icd_code=record.get("icdCode"),
        description=record.get("description"),
        sources=tuple(record.get("sources", ())),
    )


def edge_of(record: Mapping[str, Any]) -> Edge:
    evidence = record.get("evidence", ())
    return Edge(
        type=EDGE_TYPES[record["edge"]],
        from_id=record["from"],
        to_id=record["to"],
        sources=tuple(record["sources"]),
        evidence=tuple(Evidence(each.get("pmid"), each.get("quote")) for each in evidence),
    )
