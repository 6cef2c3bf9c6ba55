"""PMID, PMCID and DOI of an article, from any of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers
from bio_mcp.ports.ncbi import ArticleIds, IdKind, NcbiLookup
from bio_mcp.ports.pubmed import DocSummary, Pubmed, SearchPage, Summaries
from bio_mcp.querying.partial import optional

Found = Literal["found", "not_found", "unknown", "invalid"]
_KINDS: tuple[tuple[IdKind, Callable[[str], str]], ...] = (
    ("pmcid", identifiers.pmcid),
    ("pmid", identifiers.pmid),
    ("doi", identifiers.doi),
)
_SEARCHED = 20  # ids in one search
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Converted:
    """`unknown`: NCBI failed at it, which says nothing of the id. `kind` and `ids` are empty for an invalid one."""

    asked: str
    state: Found
    kind: IdKind | None
    ids: ArticleIds


def convert(
    texts: Sequence[str], lookup: NcbiLookup, pubmed: Pubmed, deadline: Deadline
) -> tuple[list[Converted], tuple[str, ...]]:
    """The ids of each article asked for, in order, and what is lacking.

    PubMed Central's converter knows the articles in it; the others are looked up in PubMed itself.
    """
    known = {text: kind_of(text) for text in texts}
    looking = _Looking(lookup, pubmed, deadline, [])
    ids: dict[str, ArticleIds] = {}
    failed: set[IdKind] = set()
    for kind, _ in _KINDS:
        wanted = list(dict.fromkeys(one[1] for one in known.values() if one and one[0] == kind))
        before = len(looking.reasons)
        ids |= looking.up(kind, wanted) if wanted else {}
        failed |= {kind} if len(looking.reasons) > before else set()
    return [_converted(text, known[text], ids, failed) for text in texts], tuple(dict.fromkeys(looking.reasons))


def kind_of(text: str) -> tuple[IdKind, str] | None:
    """What kind of id it is, and the id itself; None where it is none."""
    for kind, read in _KINDS:
        try:
            return kind, read(text)
        except InvalidInput:
            continue
    return None


@dataclass(frozen=True, slots=True)
class _Looking:
    lookup: NcbiLookup
    pubmed: Pubmed
    deadline: Deadline
    reasons: list[str]

    def up(self, kind: IdKind, wanted: list[str]) -> dict[str, ArticleIds]:
        nothing: dict[str, ArticleIds] = {}
        found = dict(self._tried(lambda: self.lookup.convert(wanted, kind, deadline=self.deadline), nothing))
        rest = [each for each in wanted if each not in found or (kind == "pmid" and not found[each].doi)]
        in_pubmed = {_id_of(each, kind): ArticleIds(each.pmid, each.pmcid, each.doi) for each in self._in(kind, rest)}
        return found | {each: in_pubmed[each] for each in rest if each in in_pubmed}

    def _in(self, kind: IdKind, ids: list[str]) -> tuple[DocSummary, ...]:
        """What PubMed says of those; a search for a DOI may find other papers, so the caller compares."""
        pmids = ids if kind == "pmid" else self._pmids(kind, ids)
        if not pmids:
            return ()
        return self._tried(lambda: self.pubmed.esummary(pmids, deadline=self.deadline), Summaries((), {})).found

    def _pmids(self, kind: IdKind, ids: list[str]) -> list[str]:
        pmids: list[str] = []
        for start in range(0, len(ids), _SEARCHED):
            some = ids[start : start + _SEARCHED]
            term = " OR ".join(f'"{each}"[doi]' if kind == "doi" else each for each in some)
            pmids += self._tried(partial(self._page, term), SearchPage(0, (), "")).ids
        return pmids

    def _page(self, term: str) -> SearchPage:
        return self.pubmed.esearch(term, deadline=self.deadline, retmax=3 * _SEARCHED)

    def _tried(self, ask: Callable[[], T], otherwise: T) -> T:
        return optional(ask, otherwise, "some ids could not be looked up", self.reasons)


def _id_of(summary: DocSummary, kind: IdKind) -> str:
    text: str | None = getattr(summary, kind)
    return (text or "").casefold() if kind == "doi" else text or ""


def _converted(
    asked: str, known: tuple[IdKind, str] | None, ids: dict[str, ArticleIds], failed: set[IdKind]
) -> Converted:
    if known is None:
        return Converted(asked, "invalid", None, ArticleIds())
    kind, text = known
    if text in ids:
        return Converted(asked, "found", kind, ids[text])
    return Converted(asked, "unknown" if kind in failed else "not_found", kind, ArticleIds(**{kind: text}))
