"""Which node a name stands for. Every candidate stays, and the first has its reason."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from bio_mcp.extracting.gazetteer import Entry, Match, Naming
from bio_mcp.extracting.relations import Kinds


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


def named_for_certain(matches: Iterable[Match]) -> frozenset[str]:
    """The ids of nodes that a document names by a name that nothing else has."""
    return frozenset(each.entries[0].node.node_id for each in matches if len(each.entries) == 1)


def linked(match: Match, elsewhere: Set[str]) -> Linked:
    """The nodes that a name may stand for; `elsewhere` are those that the document names for certain.

    Those come first, then those whose name it is rather than a synonym, then by id.
    """
    ordered = sorted(
        match.entries, key=lambda each: (each.node.node_id not in elsewhere, each.naming, each.node.node_id)
    )
    if not ordered:
        return Linked((), "the graph has no node of this name", False)
    first = ordered[0]
    if len(ordered) == 1:
        return Linked((first,), _only(first), True)
    alone = sum(each.node.node_id in elsewhere for each in ordered) == 1
    return Linked(tuple(ordered), _because(ordered, alone), alone)


def _only(entry: Entry) -> str:
    if entry.naming is Naming.CONCEPT:
        return f"MeSH has it as another name of {entry.name!r}"
    return "the only node of this name"


def _because(ordered: Sequence[Entry], alone: bool) -> str:
    if alone:
        return "the document names it by another name too, and none of the others"
    if ordered[0].naming < ordered[1].naming:
        return "it is its name, and at most a synonym of the others"
    return "the first by id: nothing tells them apart"
