"""What PubMed and Crossref say of documents that nobody here knows. A project remembers whether they may be asked."""

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Misconfigured, UpstreamFailed
from bio_mcp.ingesting.documents import Lookup
from bio_mcp.literature.descriptions import Description, of_article
from bio_mcp.literature.references.comparing import compare
from bio_mcp.literature.references.works import CitedWork, work
from bio_mcp.ports import Backends
from bio_mcp.querying.references.checking import Checked, article_of, check_references, verdict_on

_REMEMBERED = "lookup"  # among what a project keeps of its libraries
_WORDS = 4  # of a title, by which alone a paper is looked for


def may_look_up(project_id: str, backends: Backends) -> bool | None:
    """Whether titles and ids of the project's documents may be sent to PubMed and Crossref; None if nobody said."""
    allowed = backends.project_documents.cursor(project_id, _REMEMBERED).get("allowed")
    return None if allowed is None else bool(allowed)


def remember(project_id: str, backends: Backends, *, allowed: bool) -> None:
    """Keep what the user said about `may_look_up`. Raises `NotFound` for an unknown project."""
    backends.projects.get(project_id)
    backends.project_documents.put_cursor(project_id, _REMEMBERED, {"allowed": allowed})


def lookup_of(project_id: str, backends: Backends, deadline: Deadline) -> Lookup | None:
    """What asks PubMed, then Crossref, by PMID, PMCID or DOI, or by a confirmed title; None unless they may be asked.

    It raises `UpstreamFailed` where they do not answer.
    """
    if not may_look_up(project_id, backends):
        return None

    def look_up(known: Description) -> tuple[str, Description] | None:
        year = str(known.year or "")
        names = {"title": known.title, "authors": known.authors, "year": year, "journal": known.journal}
        cited = work(**names, doi=known.doi, pmid=known.pmid, pmcid=known.pmcid)
        if not (cited.doi or cited.pmid or cited.pmcid or len(cited.title.split()) >= _WORDS):
            return None
        [checked], _ = check_references([cited], backends, deadline)
        if checked.verdict == "unknown":
            raise UpstreamFailed("PubMed or Crossref did not answer")
        if checked.article is None or not _is_meant(checked):
            checked = _by_title(cited, backends, deadline) if len(cited.title.split()) >= _WORDS else checked
        if checked.article is None or not _is_meant(checked):
            return None
        return "pubmed" if checked.article.pmid else "crossref", of_article(checked.article)

    return look_up


def _by_title(cited: CitedWork, backends: Backends, deadline: Deadline) -> Checked:
    """What Crossref has that comes nearest by its title, where the settings name Crossref."""
    try:
        found = backends.notices.titled(cited.title, deadline=deadline)
    except Misconfigured:
        found = ()
    articles = list(map(article_of, found))
    return verdict_on(cited, [(each, compare(cited, each)) for each in articles], complete=True)


def _is_meant(checked: Checked) -> bool:
    """Whether the record is the document's: confirmed, or by its id or title with nothing else that differs in
    earnest."""
    named = {"doi", "pmid", "pmcid"} & set(checked.agrees) or len(checked.work.title.split()) >= _WORDS
    agrees = "title" in checked.agrees or {"doi", "pmid", "pmcid"} & set(checked.agrees)
    confirmed = checked.verdict in ("found", "retracted")
    return confirmed or bool(named and agrees and not {each.field for each in checked.differs} & {"title", "doi"})
