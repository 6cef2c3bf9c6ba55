"""Papers that papers cite and are cited by, as a graph of citations says: a search that no words can do."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Misconfigured, UpstreamFailed
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import CITED_IN, REFERENCES
from bio_mcp.querying.search import required

Direction = Literal["both", "references", "citations"]
ICITE, NCBI = "NIH iCite", "NCBI's links"
AT_ONCE = 200  # papers that iCite is asked for
WIDTH = 100  # papers whose own citations are followed in a second step, those that most seeds name
_WAYS = {"both": ("references", "citations"), "references": ("references",), "citations": ("citations",)}
_LINK_NAMES = {"references": REFERENCES, "citations": CITED_IN}


@dataclass(slots=True)
class Neighbour:
    """A paper that was found, with the seeds that it is linked to directly, and from what steps on.

    `links` counts the papers, seeds or not, that name it or that it names. `ways`: "references" where one of them
    cites it, "citations" where it cites one.
    """

    pmid: str
    step: int
    seeds: set[str] = field(default_factory=set)
    links: int = 0
    ways: set[str] = field(default_factory=set)

    @property
    def order(self) -> tuple[int, int, int, int]:
        """Most seeds first, then most links, the nearest, the newest."""
        return -len(self.seeds), -self.links, self.step, -int(self.pmid)


@dataclass(slots=True)
class Snowball:
    """Papers around the seeds, in order; `unlinked` seeds have no citation that is known.

    `sources` are who was asked. `reasons` say what is missing of an answer that is partial.
    """

    papers: list[Neighbour]
    unlinked: list[str]
    sources: list[str]
    reasons: list[str]


Links = Mapping[str, Mapping[str, Sequence[str]]]  # paper -> way -> the papers it is linked to


def snowball(
    seeds: Sequence[str], direction: Direction, steps: int, backends: Backends, deadline: Deadline
) -> Snowball:
    """Find the papers around the seeds, which are not among them.

    Raises what NCBI raises when neither source can be read for the seeds; a second step that fails is a reason.
    """
    asking = _Asking(_WAYS[direction], backends, deadline)
    found: dict[str, Neighbour] = {}
    with required():
        links = asking.links(seeds)
    _take(links, 1, frozenset(seeds), found)
    if steps > 1:
        nearest = [each.pmid for each in sorted(found.values(), key=lambda each: each.order)[:WIDTH]]
        try:
            _take(asking.links(nearest), 2, frozenset(seeds), found)
        except (UpstreamFailed, DeadlineExceeded) as failure:
            asking.reasons.append(f"the second step could not be read: {failure}")
    unlinked = [each for each in seeds if not any(links.get(each, {}).values())]
    papers = sorted(found.values(), key=lambda each: each.order)
    return Snowball(papers, unlinked, list(asking.sources), asking.reasons)


def _take(links: Links, step: int, seeds: frozenset[str], found: dict[str, Neighbour]) -> None:
    """Count each link of a step; those of seeds to each other find nothing."""
    for paper, ways in links.items():
        for way, others in ways.items():
            for other in dict.fromkeys(others):
                if other in seeds:
                    continue
                neighbour = found.setdefault(other, Neighbour(other, step))
                neighbour.links += 1
                neighbour.ways.add(way)
                if step == 1:
                    neighbour.seeds.add(paper)


class _Asking:
    """Reads citations from iCite, and from NCBI what iCite does not have or cannot give."""

    def __init__(self, ways: Sequence[str], backends: Backends, deadline: Deadline) -> None:
        self._ways, self._backends, self._deadline = ways, backends, deadline
        self.sources: Counter[str] = Counter()
        self.reasons: list[str] = []

    def links(self, pmids: Sequence[str]) -> Links:
        """The links of each paper."""
        found = self._by_icite(pmids)
        if missing := [each for each in pmids if each not in found]:
            self.sources[NCBI] += 1
        for way in self._ways if missing else ():
            name = _LINK_NAMES[way]
            for each in self._backends.pubmed.elink(missing, link_name=name, deadline=self._deadline):
                found.setdefault(each.pmid, {})[way] = [link.uid for link in each.links if link.uid != each.pmid]
        return found

    def _by_icite(self, pmids: Sequence[str]) -> dict[str, dict[str, Sequence[str]]]:
        found: dict[str, dict[str, Sequence[str]]] = {}
        try:
            for at in range(0, len(pmids), AT_ONCE):
                metrics = self._backends.metrics.of(pmids[at : at + AT_ONCE], deadline=self._deadline)
                for pmid, each in metrics.items():
                    linked = {"references": each.references, "citations": each.cited_by}
                    found[pmid] = {way: linked[way] for way in self._ways}
        except (UpstreamFailed, Misconfigured) as failure:
            reason = f"{ICITE} was not read, so citations are NCBI's, which knows fewer: {failure}"
            self.reasons += [reason] if reason not in self.reasons else []
        self.sources.update([ICITE] if found else [])
        return found


def known_to(pmids: Iterable[str], project: str | None, review: str | None, backends: Backends) -> dict[str, list[str]]:
    """Which of the papers are in the corpus, in the project and in the review, by these words."""
    asked = list(pmids)
    where = {"corpus": set(backends.documents.heads(asked))}
    if project:
        found = backends.project_documents.find(project, [f"pmid:{each}" for each in asked])
        where["project"] = {name.removeprefix("pmid:") for each in found for name in each.identifiers}
    if review:
        where["review"] = {each.record_id for each in backends.screenings.records(review)}
    return {each: [place for place, held in where.items() if each in held] for each in asked}
