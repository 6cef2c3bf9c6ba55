"""Convert between the PMID, PMCID and DOI of an article."""

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

IdState = Literal["found", "not_found", "unknown", "invalid"]
_KINDS: tuple[tuple[IdKind, Callable[[str], str]], ...] = (
    ("pmcid", identifiers.pmcid),
    ("pmid", identifiers.parse_pmid),
    ("doi", identifiers.doi),
)
_SEARCHED = 20  # ids in one search
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Converted:
    """The ids of one requested article.

    `state` unknown: NCBI failed, which says nothing about the id. `kind` and `ids` are empty for an invalid one.
    """

    asked: str
    state: IdState
    kind: IdKind | None
    ids: ArticleIds


def convert(
    texts: Sequence[str], lookup: NcbiLookup, pubmed: Pubmed, deadline: Deadline
) -> tuple[list[Converted], tuple[str, ...]]:
    """The ids of each article in `texts`, in order, and the reasons why some are unknown.

    PubMed Central's converter knows only the articles in PMC; the others are looked up in PubMed itself. Never raises
    for an id: one that cannot be read is `invalid`, one that could not be looked up `unknown`.
    """
    known = {text: kind_of(text) for text in texts}
    id_lookup = _IdLookup(lookup, pubmed, deadline, [])
    ids: dict[str, ArticleIds] = {}
    failed: set[IdKind] = set()
    for kind, _ in _KINDS:
        wanted = list(dict.fromkeys(one[1] for one in known.values() if one and one[0] == kind))
        before = len(id_lookup.reasons)
        ids |= id_lookup.by_kind(kind, wanted) if wanted else {}
        failed |= {kind} if len(id_lookup.reasons) > before else set()
    return [_result(text, known[text], ids, failed) for text in texts], tuple(dict.fromkeys(id_lookup.reasons))


def kind_of(text: str) -> tuple[IdKind, str] | None:
    """Recognise an id: its kind and its normal form; None for text that is none."""
    for kind, read in _KINDS:
        try:
            return kind, read(text)
        except InvalidInput:
            continue
    return None


@dataclass(frozen=True, slots=True)
class _IdLookup:
    """The two lookups of one call, and the reasons for what they could not find."""

    lookup: NcbiLookup
    pubmed: Pubmed
    deadline: Deadline
    reasons: list[str]

    def by_kind(self, kind: IdKind, wanted: list[str]) -> dict[str, ArticleIds]:
        """Ids of the articles that `wanted` names by `kind`; absent ones are unknown to NCBI, or `reasons` has grown.

        A PMID that the converter returns without a DOI is looked up in PubMed too, which may know the DOI.
        """
        nothing: dict[str, ArticleIds] = {}
        in_pmc = dict(self._or_reason(lambda: self.lookup.convert(wanted, kind, deadline=self.deadline), nothing))
        rest = [text for text in wanted if text not in in_pmc or (kind == "pmid" and not in_pmc[text].doi)]
        in_pubmed = {
            _id_of(summary, kind): ArticleIds(summary.pmid, summary.pmcid, summary.doi)
            for summary in self._summaries(kind, rest)
        }
        return in_pmc | {text: in_pubmed[text] for text in rest if text in in_pubmed}

    def _summaries(self, kind: IdKind, ids: list[str]) -> tuple[DocSummary, ...]:
        """PubMed's summaries of those ids. A search for a DOI may return other papers, so the caller compares."""
        pmids = ids if kind == "pmid" else self._pmids(kind, ids)
        if not pmids:
            return ()
        return self._or_reason(lambda: self.pubmed.esummary(pmids, deadline=self.deadline), Summaries((), {})).found

    def _pmids(self, kind: IdKind, ids: list[str]) -> list[str]:
        """PMIDs that a search returns for PMCIDs or DOIs, `_SEARCHED` at a time."""
        pmids: list[str] = []
        for start in range(0, len(ids), _SEARCHED):
            some = ids[start : start + _SEARCHED]
            term = " OR ".join(f'"{each}"[doi]' if kind == "doi" else each for each in some)
            pmids += self._or_reason(partial(self._page, term), SearchPage(0, (), "")).ids
        return pmids

    def _page(self, term: str) -> SearchPage:
        return self.pubmed.esearch(term, deadline=self.deadline, retmax=3 * _SEARCHED)

    def _or_reason(self, ask: Callable[[], T], otherwise: T) -> T:
        return optional(ask, otherwise, "some ids could not be looked up", self.reasons)


def _id_of(summary: DocSummary, kind: IdKind) -> str:
    text: str | None = getattr(summary, kind)
    return (text or "").casefold() if kind == "doi" else text or ""


def _result(asked: str, known: tuple[IdKind, str] | None, ids: dict[str, ArticleIds], failed: set[IdKind]) -> Converted:
    """The result for one text; an id that was not found is `unknown` when any lookup of its kind failed."""
    if known is None:
        return Converted(asked, "invalid", None, ArticleIds())
    kind, text = known
    if text in ids:
        return Converted(asked, "found", kind, ids[text])
    return Converted(asked, "unknown" if kind in failed else "not_found", kind, ArticleIds(**{kind: text}))
