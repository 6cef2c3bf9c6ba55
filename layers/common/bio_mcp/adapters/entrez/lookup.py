"""NCBI's lookup services: MeSH, citation matching and PubMed Central by the E-utilities, ids by the PMC ID
Converter."""

from collections.abc import Sequence
from typing import Any

from bio_mcp.adapters.entrez.answer import Answer, well_formed
from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.converter import BATCH, read_ids
from bio_mcp.adapters.entrez.pmids import batches
from bio_mcp.adapters.entrez.search import read_search
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import InvalidInput, NcbiUnreadable, NotFound
from bio_mcp.literature import identifiers
from bio_mcp.literature.jats import FullText
from bio_mcp.literature.jats.article import parse
from bio_mcp.ports.ncbi import ArticleIds, Citation, CitationMatch, IdKind, MeshPage, MeshRecord

MAX_HEADINGS = 50


class EntrezLookup:
    """The port `NcbiLookup` over two clients with one rate limiter: one for the E-utilities, one for the ID
    converter."""

    def __init__(self, eutils: Eutils, converter: Eutils) -> None:
        self._eutils = eutils
        self._converter = converter

    def mesh(self, term: str, most: int, *, deadline: Deadline = NEVER) -> MeshPage:
        """Find at most `most` (up to 50) MeSH records that match `term`."""
        if not term.strip() or not 0 < most <= MAX_HEADINGS:
            raise InvalidInput(f"give at least one word, and ask for 1 to {MAX_HEADINGS} headings")
        form = {"db": "mesh", "term": term, "retmax": str(most), "retmode": "json"}
        page = self._eutils.ask("esearch", form, deadline, lambda answer: read_search(answer, 0, most))
        if not page.ids:
            return MeshPage(page.count, (), page.translation)
        summary_form = {"db": "mesh", "id": ",".join(page.ids), "retmode": "json"}
        records = self._eutils.ask("esummary", summary_form, deadline, lambda answer: read_headings(answer, page.ids))
        return MeshPage(page.count, records, page.translation)

    def ecitmatch(self, citations: Sequence[Citation], *, deadline: Deadline = NEVER) -> list[CitationMatch]:
        """Find the PMID of each citation, in order, or the reason why there is none."""
        return self._eutils.ecitmatch(citations, deadline=deadline)

    def convert(self, ids: Sequence[str], kind: IdKind, *, deadline: Deadline = NEVER) -> dict[str, ArticleIds]:
        """The ids that PubMed Central has for each of `ids`; those of articles not in it are absent."""
        known: dict[str, ArticleIds] = {}
        for batch in batches(list(ids), BATCH):
            form = {"ids": ",".join(batch), "idtype": kind, "format": "json", "versions": "no"}
            known |= self._converter.ask("idconv", form, deadline, _reader(batch, kind))
        return known

    def full_text(self, pmcid: str, *, deadline: Deadline = NEVER) -> FullText:
        """Fetch an article from PubMed Central. Raises `NotFound`."""
        number = identifiers.pmcid(pmcid).removeprefix("PMC")
        form = {"db": "pmc", "id": number, "retmode": "xml"}
        article = self._eutils.ask("efetch", form, deadline, lambda answer: parse(answer.body))
        if article is None:
            raise NotFound(f"PubMed Central has no article PMC{number}", pmcid=f"PMC{number}")
        if article.pmcid not in (None, f"PMC{number}"):
            raise NcbiUnreadable("PubMed Central sent another article than was asked for; try again")
        return article


def _reader(batch: Sequence[str], kind: IdKind) -> Any:
    return lambda answer: read_ids(answer, batch, kind)


def read_headings(answer: Answer, uids: Sequence[str]) -> tuple[MeshRecord, ...]:
    """The record of each uid, in order. Raises `NcbiUnreadable` if one is missing or has no name."""
    return well_formed(
        lambda: tuple(_heading(answer.json["result"][uid]) for uid in uids),
        "NCBI's MeSH answer lacks a record that its search named; try again",
    )


def _heading(row: Any) -> MeshRecord:
    links = row.get("ds_idxlinks") or ()
    if not row["ds_meshterms"]:
        raise ValueError("a heading without a name")
    return MeshRecord(
        ui=row["ds_meshui"],
        terms=tuple(str(term) for term in row["ds_meshterms"]),
        kind=row.get("ds_recordtype") or "descriptor",
        scope_note=" ".join(str(row.get("ds_scopenote") or "").split()),
        trees=tuple(link["treenum"] for link in links if link.get("treenum")),
        year=str(row.get("ds_yearintroduced") or "").strip(),
        qualifiers=tuple(row.get("ds_subheading") or ()),
    )
