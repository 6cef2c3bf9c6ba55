"""Nodes and edges of the graph. Every edge has a source."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a walk: along edges of this type, or against their direction."""

    edge: EdgeType
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Edges at a node, and how many further ones were left out."""

    edges: tuple[Edge, ...] = field(default=())
    left_out: int = 0
