"""A review: how its records come in, the decisions on them, its searches and the counts of a PRISMA flow."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from bio_mcp.answering.project_search import pmids_of
from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.clock import instant
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import LISTABLE
from bio_mcp.ports.stores import (
    Decision,
    ReviewRecord,
    ReviewSearch,
    ScreeningLabel,
    Screenings,
    Stage,
    review_of_project,
    review_of_query,
)
from bio_mcp.querying import search as fetching
from bio_mcp.querying.search import clean, required
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.syncing.queries import list_queries, report_on

if TYPE_CHECKING:
    from bio_mcp.screening.ranking import Stopping


MOST_RECORDS = 20_000  # of a review: what can be ranked within a call


@dataclass(frozen=True)
class Review:
    """The state of a review. `records` are by id, `labels` the oldest first."""

    name: str
    records: Sequence[ReviewRecord]
    labels: Sequence[ScreeningLabel]

    @cached_property
    def by_id(self) -> Mapping[str, ReviewRecord]:
        return {each.record_id: each for each in self.records}

    def decisions(self, stage: Stage) -> dict[str, ScreeningLabel]:
        """The labels of a stage by record, the oldest first, of records that are in the review."""
        return {each.record_id: each for each in self.labels if each.stage == stage and each.record_id in self.by_id}

    def of(self, stage: Stage, decision: Decision) -> list[str]:
        """The records that were decided so, the oldest decision first."""
        return [name for name, label in self.decisions(stage).items() if label.decision == decision]

    def settled(self, stage: Stage) -> dict[str, bool]:
        """True for each included record and False for each excluded one; `maybe` is left for later."""
        decisions = self.decisions(stage).items()
        return {name: label.decision == "include" for name, label in decisions if label.decision != "maybe"}

    def eligible(self, stage: Stage) -> list[ReviewRecord]:
        """The records that the stage is about: all, or for the full text those included by their abstracts."""
        if stage == "abstract":
            return list(self.records)
        passed = set(self.of("abstract", "include"))
        return [each for each in self.records if each.record_id in passed]

    def stopping(self, stage: Stage) -> "Stopping":
        from bio_mcp.screening.ranking import estimate  # loads numpy, which a label does not need

        settled = self.settled(stage)
        names = {each.record_id for each in self.eligible(stage)}
        decided = [included for name, included in settled.items() if name in names]
        return estimate(decided, len(names) - len(decided))


def review_name(project: str | None, query_key: str | None, backends: Backends) -> str | None:
    """The name of the review of a project or of a query key; None where neither is given.

    Raises `InvalidInput` for both, `NotFound` for an unknown project.
    """
    if project and query_key:
        raise InvalidInput("give either project or query_key")
    if project:
        backends.projects.get(project)
        return review_of_project(project)
    return review_of_query(query_key) if query_key else None


def review_of(name: str, screenings: Screenings) -> Review:
    """Read the review; one that nobody began has no records."""
    return Review(name, screenings.records(name), screenings.labels(name))


READ = 500  # papers of the corpus that are read at once
FETCHED = 200  # records that PubMed is asked for at once
SPARE_S = 6.0  # of a call, for storing what was read
LONGEST_ABSTRACT = 20_000  # characters
LONGEST_TITLE = 2_000


@dataclass(frozen=True, slots=True)
class Origin:
    """What found the papers: a `database` by a `term`, which has `found` so many, or something other."""

    database: str
    term: str | None
    found: int
    method: Literal["database", "other"] = "database"


BY_HAND = Origin("chosen by hand", None, 0, "other")


@dataclass(slots=True)
class Collected:
    """What came of it: records that are `new`, and papers that were `known` to the review; `unknown` to PubMed.

    `left` papers could not be read in time: the same call again goes on.
    """

    new: int = 0
    known: int = 0
    unknown: list[str] = field(default_factory=list)
    left: int = 0


def search_pubmed(review: str, term: str, backends: Backends, deadline: Deadline) -> Collected:
    """Add what PubMed finds. Raises `InvalidInput` for more than PubMed lists."""
    asked = clean(term, "term")
    with required():
        page = backends.pubmed.esearch(asked, deadline=deadline, retmax=LISTABLE, sort="pub_date")
    if page.count > LISTABLE:
        raise InvalidInput(
            f"PubMed finds {page.count} records and lists {LISTABLE} of them: narrow the term, or search it by years"
        )
    return collect(review, page.ids, Origin("PubMed", asked, page.count), backends, deadline)


def collect(review: str, pmids: Sequence[str], origin: Origin, backends: Backends, deadline: Deadline) -> Collected:
    """Add the papers, from the corpus or else from PubMed, and the search that found them.

    Papers are stored as they are read, so that a call that ends early loses none. Raises `InvalidInput` for more
    records than a review may have.
    """
    asked = list(dict.fromkeys(pmids))
    known = {each.record_id for each in backends.screenings.records(review)}
    missing = [each for each in asked if each not in known]
    check_room(len(known), len(missing))
    done = Collected(known=len(asked) - len(missing))
    absent: list[str] = []
    for at in range(0, len(missing), READ):
        some = missing[at : at + READ]
        stored = backends.documents.get_many(some)
        _store(review, (each.article for each in stored.values()), done, backends)
        absent += [each for each in some if each not in stored]
    for at in range(0, len(absent), FETCHED):
        if at and deadline.remaining < SPARE_S:  # the first are always asked for
            done.left = len(absent) - at
            break
        asked_for = absent[at : at + FETCHED]
        fetched = fetching.articles(asked_for, backends.pubmed, deadline)
        _store(review, fetched.values(), done, backends)
        done.unknown += [each for each in asked_for if each not in fetched]
    gone = {*done.unknown, *(absent[-done.left :] if done.left else ())}
    store_search(review, origin, [each for each in asked if each not in gone], backends)
    return done


def _store(review: str, articles: Iterable[Article], done: Collected, backends: Backends) -> None:
    if records := [record_of(each) for each in articles]:
        backends.screenings.put(review, records)
    done.new += len(records)


def check_room(known: int, more: int) -> None:
    """Raise `InvalidInput` where the review would have more records than it may."""
    if known + more > MOST_RECORDS:
        raise InvalidInput(
            f"the review has {known} records and would have {known + more}; {MOST_RECORDS} are the most: "
            "narrow the search, or make a review of each part"
        )


def store_search(review: str, origin: Origin, record_ids: Iterable[str], backends: Backends) -> None:
    """Store the search. The same one on the same day (UTC) is one, with the records of both."""
    now = backends.now()
    key = "|".join([origin.method, origin.database, origin.term or "", now.date().isoformat()])
    search_id = sha256(key.encode()).hexdigest()[:16]
    before = next((each for each in backends.screenings.searches(review) if each.search_id == search_id), None)
    names = dict.fromkeys([*(before.record_ids if before else ()), *record_ids])
    found = origin.found if origin.term else len(names)
    search = ReviewSearch(search_id, now, origin.database, origin.term, found, tuple(names), origin.method)
    backends.screenings.put(review, [search])


def record_of(article: Article) -> ReviewRecord:
    abstract = " ".join(f"{each.label}: {each.text}" if each.label else each.text for each in article.abstract)
    date = article.publication_date or article.electronic_date
    title = (article.title or "")[:LONGEST_TITLE]
    return ReviewRecord(article.pmid, title, abstract[:LONGEST_ABSTRACT], date.year if date else None, article.doi)


def collect_query(review: str, query_key: str, backends: Backends, deadline: Deadline) -> Collected:
    """Add what PubMed finds by the term that the query key was synced by last. Raises `InvalidInput` without one."""
    term = backends.checkpoints.get(query_key).term
    if term is None:
        raise InvalidInput(f"query_key {query_key!r} was never synced: sync it, or give a term")
    return search_pubmed(review, term, backends, deadline)


def collect_project(review: str, project_id: str, backends: Backends, deadline: Deadline) -> Collected:
    """Add the documents of the project; one that is not in PubMed has its title alone."""
    works = [each.work for each in backends.project_documents.all(project_id)]
    pmids = pmids_of(works, backends)
    origin = Origin("documents of the project", None, 0, "other")
    done = collect(review, [each for each in pmids if each], origin, backends, deadline)
    known = {each.record_id for each in backends.screenings.records(review)}
    others: dict[str, ReviewRecord] = {}
    for each, pmid in zip(works, pmids, strict=True):
        name = record_id_of(each)
        if not pmid and name not in known:
            title = each.title or each.source or each.doc_id
            others[name] = ReviewRecord(name, title, "", each.year, each.doi)
    check_room(len(known), len(others))
    if others:
        backends.screenings.put(review, list(others.values()))
        store_search(review, origin, others, backends)
    done.new += len(others)
    return done


def record_id_of(work: Work) -> str:
    """The id in a review of a document of a project that has no PMID."""
    return f"doi:{work.doi}" if work.doi else f"document:{sha256(work.doc_id.encode()).hexdigest()[:24]}"


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that somebody made; "none" takes an earlier one back."""

    record_id: str
    decision: Literal["include", "exclude", "maybe", "none"]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """How many labels changed; records that are not in the review, and those that are not at the stage."""

    labelled: int
    unchanged: int
    unknown: tuple[str, ...]
    not_at_stage: tuple[str, ...]


def label(
    review: Review, stage: Stage, decisions: Sequence[Decided], caller: str | None, backends: Backends
) -> Changes:
    """Store the decisions, in their order, and audit those that replace or take back another.

    The full text of a record is decided only where its abstract was included. A decision that stands already changes
    nothing, and keeps its time.
    """
    wanted = {each.record_id: each for each in decisions}
    eligible = {each.record_id for each in review.eligible(stage)}
    elsewhere = [name for name in wanted if name not in eligible]
    unknown = [name for name in elsewhere if name not in review.by_id]
    stands = {name: (each.decision, each.reason) for name, each in review.decisions(stage).items()}
    new = [
        each
        for name, each in wanted.items()
        if name in eligible and stands.get(name, ("none", each.reason)) != (each.decision, each.reason)
    ]
    _store_labels(review, stage, new, caller, backends)
    not_at_stage = tuple(name for name in elsewhere if name in review.by_id)
    return Changes(len(new), len(wanted) - len(elsewhere) - len(new), tuple(unknown), not_at_stage)


def _store_labels(review: Review, stage: Stage, new: Sequence[Decided], caller: str | None, backends: Backends) -> None:
    now = backends.now()
    labels = [
        ScreeningLabel(each.record_id, stage, each.decision, now, each.reason, caller)
        for each in new
        if each.decision != "none"
    ]
    taken_back = [each.record_id for each in new if each.decision == "none"]
    if labels:
        backends.screenings.put(review.name, labels)
    if taken_back:
        backends.screenings.remove_labels(review.name, stage, taken_back)
    before = review.decisions(stage)
    old = {each.record_id: before[each.record_id].decision for each in new if each.record_id in before}
    if old:  # a first decision is its own record
        replaced = {each.record_id: each.decision for each in new if each.record_id in old}
        backends.audit.record(f"review.{stage}", review.name, old, replaced)


PLATFORMS = {"PubMed": "NCBI E-utilities"}
MOST_TERMS = 100  # of a query key


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """A search: `term` exactly as it was sent, `at` when, `found` what it returned, `new` what no search before had."""

    database: str
    platform: str | None
    method: str
    term: str | None
    at: str
    found: int
    new: int | None
    note: str | None = None


def search_log(searches: Sequence[ReviewSearch], query_key: str | None, backends: Backends) -> list[LoggedSearch]:
    """The searches of a review, the oldest first, and for a query key the syncs of its terms."""
    logged: list[LoggedSearch] = []
    known: set[str] = set()
    for search in searches:
        new = len(set(search.record_ids) - known)
        known.update(search.record_ids)
        platform, at = PLATFORMS.get(search.database), instant(search.at)
        logged.append(LoggedSearch(search.database, platform, search.method, search.term, at, search.found, new))
    queries = list_queries(query_key, MOST_TERMS, backends)[0] if query_key else []
    for query in queries:
        if query.job:
            report = report_on(query.job, backends.now())
            to = f"; all that PubMed dates to {query.settled_to} or before is in the corpus" if query.settled_to else ""
            note = f"the newest sync of the followed query: records that were new or changed{to}"
            term, at = query.checkpoint.term, instant(query.job.updated)
            platform = PLATFORMS["PubMed"]
            logged.append(LoggedSearch("PubMed", platform, "database", term, at, report.processed, None, note))
    return logged


NOT_RETRIEVED = "not retrieved"  # the reason of an exclusion at the full text that is none of its content
NO_REASON = "no reason given"


def flow(review: Review, searches: Sequence[ReviewSearch]) -> dict[str, Any]:
    """Numbers by the names of PRISMA 2020, of records and from "sought" on of reports; and why reports were excluded.

    "identified" is what all searches returned; records that came by no search count as found by other methods.
    "undecided" records were not screened yet, `maybe` ones among them.
    """
    found_by_search = {name for each in searches for name in each.record_ids}
    databases = sum(each.found for each in searches if each.method == "database")
    others = sum(each.found for each in searches if each.method == "other")
    others += len(review.by_id.keys() - found_by_search)  # by hand
    settled, sought = review.settled("abstract"), set(review.of("abstract", "include"))
    reports = [each for name, each in review.decisions("full_text").items() if name in sought]
    reasons = Counter(each.reason or NO_REASON for each in reports if each.decision == "exclude")
    not_retrieved = reasons.pop(NOT_RETRIEVED, 0)
    included = sum(each.decision == "include" for each in reports)
    return {
        "identified": databases + others,
        "from_databases": databases,
        "from_other_methods": others,
        "duplicates_removed": max(0, databases + others - len(review.records)),
        "screened": len(settled),
        "excluded": len(settled) - len(sought),
        "sought": len(sought),
        "not_retrieved": not_retrieved,
        "assessed": included + reasons.total(),
        "included": included,
        "excluded_by_reason": [
            {"reason": reason, "count": count}
            for reason, count in sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
        ],
        "undecided": len(review.records) - len(settled),
    }
