"""The pages of what the corpus holds: a paper with its history, all in figures, and the syncs that bring it in."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Any

from bio_mcp.doors.console.console import CONSOLE, Page, Reading, Shown, facts_of
from bio_mcp.errors import NotFound
from bio_mcp.literature.citing import cite
from bio_mcp.literature.differences import differences
from bio_mcp.literature.identifiers import pubmed_page
from bio_mcp.literature.quality import design, year
from bio_mcp.literature.records import Article, Document
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.ports.stores import StoredDay
from bio_mcp.retrieval.passages import YearCount
from bio_mcp.syncing.cursor import SyncCursor
from bio_mcp.syncing.delta import KIND
from bio_mcp.syncing.queries import FollowedQuery, list_queries, report_on
from bio_mcp.tool import resource
from bio_mcp.tools.get_doc import links_of, paper_of, stored_document

DAYS = 90  # that are shown
MOST_QUERIES = 100
MOST_SYNCS = 50
MOST_NAMED = 200  # records that could not be fetched
OLD_VERSIONS = 5  # that the corpus stores of a paper
NAMES = {
    "vancouver": "Vancouver",
    "apa_string": "APA",
    "mla_string": "MLA",
    "bibtex": "BibTeX",
    "ris": "RIS",
    "csl_json": "CSL-JSON",
}


@resource("console://years/{pmids}", name="hits by year", family=CONSOLE, scope="read", timeout=5)
def hits_by_year(backends: Backends, pmids: str) -> Shown:
    """Papers, named by their PMIDs with commas between them, by year and study design."""
    found = backends.documents.get_many(pmids.split(",")).values()
    counts = Counter((year(each.article), design(each.article)) for each in found)
    return Shown(years=[YearCount(*of, count) for of, count in counts.items()])


@resource("console://corpora", name="corpora page", family=CONSOLE, scope="read", timeout=10)
def corpora_page(backends: Backends) -> Shown:
    """What the corpus holds, and how fresh it is. What a store does not answer is None, and among the `problems`."""
    reading = Reading()
    followed = reading.of(lambda: list_queries(None, MOST_QUERIES, backends))
    counted = reading.of(lambda: backends.passages.count())
    stored = reading.of(lambda: backends.documents.stored_by_day(DAYS))
    today, now = backends.today(), backends.now()
    return Shown(
        papers=reading.of(lambda: backends.documents.count()),
        passages=counted and counted[1],
        queries=followed and [_query(each, today, now) for each in followed[0]],
        left_out=followed[1] if followed else 0,
        days=None if stored is None else _days(stored, now.astimezone(UTC).date()),
        years=reading.of(lambda: list(backends.passages.by_year())),
        problems=reading.problems,
    )


def _query(query: FollowedQuery, today: date, now: datetime) -> dict[str, Any]:
    """A followed query. All that it matches is here up to the day `settled_to`, which is `age_days` before today."""
    settled = query.settled_to
    return {
        "query_key": query.checkpoint.query_key,
        "term": query.checkpoint.term,
        "settled_to": settled,
        "age_days": (today - date.fromisoformat(settled)).days if settled else None,
        "sync": facts_of(query.job, now) if query.job else None,
    }


def _days(stored: Sequence[StoredDay], today: date) -> list[StoredDay]:
    """Every day from the first one to today."""
    if not stored:
        return []
    by_day = {each.day: each for each in stored}
    every = map(date.fromordinal, range(stored[0].day.toordinal(), today.toordinal() + 1))
    return [by_day.get(day, StoredDay(day)) for day in every]


@resource("console://syncs", name="syncs page", family=CONSOLE, scope="read", timeout=8)
def syncs_page(backends: Backends) -> Shown:
    """The newest syncs and how far they are."""
    now = backends.now()
    syncs = [_sync(job, now) for job in backends.jobs.newest(KIND, MOST_SYNCS)]
    return Shown(syncs=syncs, moving=any(each["moving"] for each in syncs))


@resource("console://syncs/{job_id}", name="sync page", family=CONSOLE, scope="read", timeout=5)
def sync_page(backends: Backends, job_id: str) -> Shown:
    """One sync, with the PMIDs that were not fetched, and those that PubMed lists and withholds."""
    job = backends.jobs.get(job_id)
    if job.kind != KIND:
        raise NotFound(f"There is no sync {job_id!r}")
    cursor = SyncCursor.from_json(job.cursor)
    failed, missing = sorted(cursor.failed, key=int), sorted(cursor.missing, key=int)
    return Shown(
        sync=_sync(job, backends.now()),
        failed=failed[:MOST_NAMED],
        missing=missing[:MOST_NAMED],
        unnamed=sum(max(0, len(each) - MOST_NAMED) for each in (failed, missing)),
    )


def _sync(job: Job, now: datetime) -> dict[str, Any]:
    return {**job.request, **facts_of(job, now), **asdict(report_on(job, now))}


@resource("console://papers/{pmid}", name="paper page", family=CONSOLE, scope="read", timeout=8)
def paper_page(backends: Backends, pmid: str) -> Shown:
    """A paper of the corpus with its history, the newest version first."""
    document = stored_document(pmid, backends)
    article = document.article
    return Shown(
        paper=paper_of(document, backends),
        links=links_of(article),
        abstract=article.abstract,
        headings=[each.name for each in article.mesh],
        notices=list(_notices(article, backends)),
        citations=[{"style": name, "text": cite(article, style)} for style, name in NAMES.items()],
        versions=list(_versions(document, backends))[::-1],
    )


def _notices(article: Article, backends: Backends) -> Iterator[dict[str, Any]]:
    """Records that correct, retract or comment on the paper, or on which it does, each with the address of its page
    here, or in PubMed where the corpus does not have it."""
    here = backends.documents.get_many([each.pmid for each in article.corrections if each.pmid])
    for each in article.corrections:
        elsewhere = pubmed_page(each.pmid) if each.pmid else None
        address = f"/papers/{each.pmid}" if each.pmid in here else elsewhere
        yield {"kind": each.relation, "citation": each.citation, "pmid": each.pmid, "address": address}


def _versions(newest: Document, backends: Backends) -> Iterator[dict[str, Any]]:
    """The stored versions, and what each changed of the stored one before it; None: none before it is stored."""
    before: Document | None = None
    for version in range(max(1, newest.version - OLD_VERSIONS), newest.version + 1):
        try:
            stored = (
                newest if version == newest.version else backends.documents.at_version(newest.article.pmid, version)
            )
        except NotFound:
            continue
        changes = differences(before.article, stored.article) if before else None
        yield {"version": version, "revised": stored.article.date_revised, "changes": changes}
        before = stored


PAPER = Page("/papers/{pmid}", "paper.html", paper_page)
CORPORA = Page("/corpora", "corpora.html", corpora_page, "Corpora")
SYNCS = Page("/syncs", "syncs.html", syncs_page, "Syncs")
SYNC = Page("/syncs/{job_id}", "sync.html", sync_page)
