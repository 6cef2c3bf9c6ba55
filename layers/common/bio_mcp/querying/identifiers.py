"""PMIDs, PMCIDs and DOIs of each other, and the PMID of a citation."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from bio_mcp.deadline import Deadline
from bio_mcp.literature import identifiers
from bio_mcp.literature.records import Article
from bio_mcp.literature.references.comparing import compare
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports.ncbi import ArticleIds, Citation, CitationMatch, IdKind, NcbiLookup, Pubmed, SearchPage, Summaries
from bio_mcp.querying.search import articles, optional, required

IdState = Literal["found", "not_found", "unknown", "invalid"]
_KINDS: tuple[tuple[IdKind, Callable[[str], str]], ...] = (
    ("pmcid", identifiers.pmcid),
    ("pmid", identifiers.parse_pmid),
    ("doi", identifiers.doi),
)
_SEARCHED = 20  # ids in one search


@dataclass(frozen=True, slots=True)
class Converted:
    """The ids of one requested article.

    `state` unknown: NCBI failed, which says nothing about the id. `ids` are empty for an invalid one.
    """

    asked: str
    state: IdState
    ids: ArticleIds


def convert(
    texts: Sequence[str], lookup: NcbiLookup, pubmed: Pubmed, deadline: Deadline
) -> tuple[list[Converted], tuple[str, ...]]:
    """The ids of each article in `texts`, in order, and the reasons why some are unknown.

    PubMed Central's converter knows only the articles in PMC; the others are looked up in PubMed itself. Never raises
    for an id: one that cannot be read is `invalid`, one that could not be looked up `unknown`.
    """
    known = {text: kind_of(text) for text in texts}
    reasons: list[str] = []
    ids: dict[str, ArticleIds] = {}
    failed: set[IdKind] = set()
    for kind, _ in _KINDS:
        wanted = list(dict.fromkeys(one[1] for one in known.values() if one and one[0] == kind))
        before = len(reasons)
        ids |= _looked_up(kind, wanted, lookup, pubmed, deadline, reasons) if wanted else {}
        failed |= {kind} if len(reasons) > before else set()
    found = []
    for text in texts:
        if (one := known[text]) is None:
            found.append(Converted(text, "invalid", ArticleIds()))
        elif one[1] in ids:
            found.append(Converted(text, "found", ids[one[1]]))
        else:  # when any lookup of its kind failed, nothing is known of it
            state: IdState = "unknown" if one[0] in failed else "not_found"
            found.append(Converted(text, state, ArticleIds(**{one[0]: one[1]})))
    return found, tuple(dict.fromkeys(reasons))


def kind_of(text: str) -> tuple[IdKind, str] | None:
    """Recognise an id: its kind and its normal form; None for text that is none."""
    found = ((kind, identifiers.normal(read, text)) for kind, read in _KINDS)
    return next(((kind, known) for kind, known in found if known), None)


def _looked_up(
    kind: IdKind, wanted: list[str], lookup: NcbiLookup, pubmed: Pubmed, deadline: Deadline, reasons: list[str]
) -> dict[str, ArticleIds]:
    """Ids of the articles that `wanted` names by `kind`; absent ones are unknown to NCBI, or `reasons` has grown.

    A PMID that the converter returns without a DOI is looked up in PubMed too, which may know the DOI. A search for
    a DOI may return other papers, so ids are compared.
    """
    missing = "some ids could not be looked up"
    ask = partial(lookup.convert, wanted, kind, deadline=deadline)
    found = dict(optional(ask, dict[str, ArticleIds](), missing, reasons))
    pmids = rest = [text for text in wanted if text not in found or (kind == "pmid" and not found[text].doi)]
    if kind != "pmid":
        pmids = []
        for start in range(0, len(rest), _SEARCHED):
            term = " OR ".join(f'"{each}"[doi]' if kind == "doi" else each for each in rest[start : start + _SEARCHED])
            search = partial(pubmed.esearch, term, deadline=deadline, retmax=3 * _SEARCHED)
            pmids += optional(search, SearchPage(0, (), ""), missing, reasons).ids
    if pmids:
        read = partial(pubmed.esummary, pmids, deadline=deadline)
        for each in optional(read, Summaries((), {}), missing, reasons).found:
            text: str = getattr(each, kind) or ""
            text = text.casefold() if kind == "doi" else text
            if text in rest:
                found[text] = ArticleIds(each.pmid, each.pmcid, each.doi)
    return found


Verdict = Literal["matched", "doubtful", "ambiguous", "not_found", "unverified"]
SEARCHED = 10  # citations that NCBI did not match are looked for one by one: so many of a call
CANDIDATES = 5
# The fields that are compared, by their names in a verdict. A journal has too many names to differ by.
_COMPARED = {"year": "year", "volume": "volume", "pages": "first_page", "authors": "author", "title": "title"}


@dataclass(frozen=True, slots=True)
class Matched:
    """The verdict on one citation. `agrees` and `differs` name the fields that record and citation both have.

    matched: one record, and no field differs. doubtful: NCBI names a record, but a field differs. ambiguous: several
    records fit (`candidates`). not_found: none fits. unverified: a record could not be fetched, or not be
    searched for.
    """

    verdict: Verdict
    article: Article | None = None
    pmid: str | None = None
    agrees: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    reason: str | None = None


def match(
    cited: Sequence[CitedWork], lookup: NcbiLookup, pubmed: Pubmed, deadline: Deadline
) -> tuple[list[Matched], list[str]]:
    """Give a verdict on each citation, in order, and the reasons why the answer is partial. `pages` are first pages.

    NCBI's matcher is asked for all; what it does not match is searched by title or by its fields. A record counts only
    after it was fetched and compared. Raises NCBI's failure when the matcher itself fails.
    """
    imprints = [Citation(each.journal, each.year, each.volume, each.pages, "".join(each.authors)) for each in cited]
    with required():
        named = lookup.ecitmatch(imprints, deadline=deadline)
    reasons: list[str] = []
    searched = _search_unmatched(cited, named, pubmed, deadline, reasons)
    found = [(each.pmid, *(pmids or ())) for each, pmids in zip(named, searched, strict=True)]
    wanted = list(dict.fromkeys(pmid for pmids in found for pmid in pmids if pmid))
    records: dict[str, Article] = {}
    if wanted:
        ask = partial(articles, wanted, pubmed, deadline)
        records = optional(ask, records, "the matches could not be checked", reasons)
    return [_verdict(*each, records) for each in zip(cited, named, searched, strict=True)], reasons


def _search_unmatched(
    cited: Sequence[CitedWork], named: Sequence[CitationMatch], pubmed: Pubmed, deadline: Deadline, reasons: list[str]
) -> list[tuple[str, ...] | None]:
    """PMIDs that a search returns for each citation that NCBI did not match; at most `SEARCHED` searches.

    None where a search failed or was not made.
    """
    searched: list[tuple[str, ...] | None] = []
    searches = 0
    for each, answer in zip(cited, named, strict=True):
        term = "" if answer.pmid else _term(each)
        searches += bool(term)
        if not term or searches > SEARCHED:
            searched.append(None if term else ())
            continue
        ask = partial(pubmed.esearch, term, deadline=deadline, retmax=CANDIDATES)
        page = optional(ask, None, "a citation that NCBI did not match could not be searched for", reasons)
        searched.append(None if page is None else () if page.dropped else page.ids)
    if searches > SEARCHED:
        reasons.append(f"only {SEARCHED} of {searches} unmatched citations were searched for; send the others again")
    return searched


def _term(cited: CitedWork) -> str:
    """A PubMed query of the title, or else of at least three fields; "" when too little is known."""
    title = " ".join(re.findall(r"\w+", cited.title))
    if title:
        return f"{title}[Title]"
    author = "".join(cited.authors)
    parts = ((cited.journal, "ta"), (cited.year, "dp"), (cited.volume, "vi"), (cited.pages, "pg"), (author, "au"))
    words = [(" ".join(re.findall(r"[\w.-]+", text)), tag) for text, tag in parts]
    known = [f"{text}[{tag}]" for text, tag in words if text]
    return " AND ".join(known) if len(known) > 2 else ""


def _verdict(
    cited: CitedWork, named: CitationMatch, searched: Sequence[str] | None, records: dict[str, Article]
) -> Matched:
    """Judge one citation by NCBI's match if there is one, else by the records that a search returned."""
    if named.pmid:
        article = records.get(named.pmid)
        if article is None:
            return Matched("unverified", None, named.pmid, reason="NCBI names this record, which could not be fetched")
        agrees, differs = compared(cited, article)
        reason = "NCBI names this record, but it differs from the citation" if differs else None
        return Matched("doubtful" if differs else "matched", article, named.pmid, agrees, differs, reason=reason)
    fitting = {pmid: compared(cited, records[pmid]) for pmid in searched or () if pmid in records}
    fitting = {pmid: (agrees, differs) for pmid, (agrees, differs) in fitting.items() if agrees and not differs}
    if len(fitting) == 1:
        [(pmid, (agrees, _))] = fitting.items()
        return Matched("matched", records[pmid], pmid, agrees, reason="found by a search, not by NCBI's matcher")
    ambiguous = bool(fitting) or (named.reason or "").startswith("AMBIGUOUS")
    unchecked = [pmid for pmid in searched or () if pmid not in records]
    candidates = tuple(fitting) or tuple(unchecked)
    verdict: Verdict = "ambiguous" if ambiguous else "unverified" if unchecked or searched is None else "not_found"
    return Matched(verdict, candidates=candidates, reason=named.reason)


def compared(cited: CitedWork, article: Article) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields that agree and those that differ. A field that either side lacks is in neither list."""
    found = compare(cited, article)
    differs = {each.field for each in found.differs}
    names = _COMPARED.items()
    return tuple(name for field, name in names if field in found.agrees), tuple(n for f, n in names if f in differs)
