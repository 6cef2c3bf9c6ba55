"""How records come into a review: by searches, topics, projects, files and by hand, each once, and what is merged."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Literal

from bio_mcp.answering.project_search import pmids_of
from bio_mcp.answering.search import papers_that_fit
from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.ingesting.turns import in_turns, turn
from bio_mcp.literature.records import Article, Journal
from bio_mcp.literature.references.exports import read_export
from bio_mcp.literature.references.files import decoded
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import LISTABLE
from bio_mcp.ports.stores import ReviewMerge, ReviewPlan, ReviewRecord, ReviewSearch, Stage
from bio_mcp.querying import search as fetching
from bio_mcp.querying.search import clean, required
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.scope import call_deadline
from bio_mcp.screening.deduplicating import Records, pmid_of
from bio_mcp.screening.reviews import Review

MOST_RECORDS = 20_000  # of a review: what can be ranked within a call
READ = 500  # papers of the corpus that are read at once
FETCHED = 200  # records that PubMed is asked for at once
SPARE_S = 6.0  # of a call, for storing what was read
LONGEST_ABSTRACT = 20_000  # characters
LONGEST_TITLE = 2_000
MOST_AUTHORS = 30  # of a record


@dataclass(frozen=True, slots=True)
class Origin:
    """What found the papers: a `database` by a `term`, which has `found` so many, or something other. `source` is as of
    a `ReviewSearch`."""

    database: str
    term: str | None
    found: int
    method: Literal["database", "other"] = "database"
    source: str = ""


BY_HAND = Origin("chosen by hand", None, 0, "other")
CORPUS = "bio-mcp corpus"
DOCUMENTS = "documents of the project"


@dataclass(slots=True)
class Collected:
    """What came of it: records that are `new`, and papers that were `known` to the review; `unknown` to PubMed.

    `left` papers could not be read in time: the same call again goes on. `merged` entries were taken for records that
    the review had; `unreadable` ones of a file state nothing.
    """

    new: int = 0
    known: int = 0
    unknown: list[str] = field(default_factory=list)
    left: int = 0
    merged: list[ReviewMerge] = field(default_factory=list)
    unreadable: int = 0
    origin: Origin = BY_HAND
    warnings: Sequence[str] = ()


class _Incoming:
    """The records of a review while others come in: which record each entry is, and what is merged into what.

    A record that no search has was stored by a run that was killed: the first entry like it takes it up.
    """

    def __init__(self, review: str, backends: Backends) -> None:
        screenings = backends.screenings
        self.review, self._screenings = review, screenings
        self.records = {each.record_id: each for each in screenings.records(review)}
        self.searches = screenings.searches(review)
        self.merges: list[tuple[ReviewRecord, str, str, int]] = []
        self._known = Records(self.records.values())
        self.by_pmid = {pmid_of(each): name for name, each in self.records.items() if pmid_of(each)}
        self._unclaimed = self.records.keys() - {name for each in self.searches for name in each.record_ids}
        for each in screenings.merges(review):
            if into := self.records.get(each.into):
                self._merge(each.entry, into)

    def add(self, entries: Iterable[ReviewRecord]) -> list[str]:
        """Store what is new of the entries; returns the id of the record that each is."""
        ids: list[str] = []
        new: list[ReviewRecord] = []
        for entry in entries:
            name = next((each for each in (entry.record_id, entry_id(entry)) if each in self._unclaimed), None)
            if name:
                self._unclaimed.discard(name)
            elif same := self._known.same_as(entry):
                name = same.record.record_id
                self.merges.append((entry, name, same.why, len(ids)))
                self._merge(entry, same.record)
            else:
                taken = entry.record_id in self.records
                record = replace(entry, record_id=entry_id(entry), pmid=pmid_of(entry)) if taken else entry
                name = record.record_id
                new.append(record)
                self.records[name] = record
                self._merge(record, record)
            ids.append(name)
        check_room(len(self.records) - len(new), len(new))
        if new:
            self._screenings.put(self.review, new)
        return ids

    def _merge(self, entry: ReviewRecord, into: ReviewRecord) -> None:
        self._known.add(entry, into)
        if pmid := pmid_of(entry):
            self.by_pmid.setdefault(pmid, into.record_id)

    def store(self, origin: Origin, record_ids: Iterable[str], at: datetime, file_id: str = "") -> list[ReviewMerge]:
        """Store the search with what was merged by it, and a plan of the review, if it has none, so that it is listed.

        The same search on the same day (UTC) is one, with the records of both. That of a file is `file_id`, and its
        records are those that one `add` returned.
        """
        key = "|".join([origin.method, origin.database, origin.term or "", at.date().isoformat()])
        search_id = file_id or sha256(key.encode()).hexdigest()[:16]
        ids = tuple(record_ids)
        if not file_id:
            before = next((each.record_ids for each in self.searches if each.search_id == search_id), ())
            ids = tuple(dict.fromkeys([*before, *ids]))
        found = origin.found if origin.term or file_id else len(ids)
        search = ReviewSearch(
            search_id, at, origin.database, origin.term, found, ids, origin.method, source=origin.source
        )
        merged = []
        for entry, into, why, place in self.merges:
            key = sha256(f"{search_id} {place if file_id else entry.record_id}".encode()).hexdigest()[:12]
            merged.append(ReviewMerge(key, entry, into, why, search_id, place if file_id else ids.index(into)))
        if self._screenings.plan(self.review) is None:
            self._screenings.put_plan(self.review, ReviewPlan(at))
        self._screenings.put(self.review, [*merged, search])
        return merged


def search_pubmed(review: str, term: str, backends: Backends, deadline: Deadline, source: str = "") -> Collected:
    """Add what PubMed finds. Raises `InvalidInput` for more than PubMed lists."""
    asked = clean(term, "term")
    with required():
        page = backends.pubmed.esearch(asked, deadline=deadline, retmax=LISTABLE, sort="pub_date")
    if page.count > LISTABLE:
        raise InvalidInput(
            f"PubMed finds {page.count} records and lists {LISTABLE} of them: narrow the term, or search it by years"
        )
    return collect(review, page.ids, Origin("PubMed", asked, page.count, source=source), backends, deadline)


def collect(
    review: str,
    pmids: Sequence[str],
    origin: Origin,
    backends: Backends,
    deadline: Deadline,
    others: Sequence[ReviewRecord] = (),
) -> Collected:
    """Add the papers, from the corpus or else from PubMed, and `others` that PubMed does not have, with the search that
    found them.

    Papers are stored as they are read, so that a call that ends early loses none. Raises `InvalidInput` for more
    records than a review may have.
    """
    incoming = _Incoming(review, backends)
    asked = list(dict.fromkeys(pmids))
    missing = [each for each in asked if each not in incoming.by_pmid]
    further = [each for each in others if each.record_id not in incoming.records]
    check_room(len(incoming.records), len(missing) + len(further))
    done = Collected(known=len(asked) - len(missing) + len(others) - len(further), origin=origin)
    before = len(incoming.records)
    absent: list[str] = []
    for at in range(0, len(missing), READ):
        some = missing[at : at + READ]
        stored = backends.documents.get_many(some)
        incoming.add(record_of(stored[each].article) for each in some if each in stored)
        absent += [each for each in some if each not in stored]
    for at in range(0, len(absent), FETCHED):
        if at and deadline.remaining < SPARE_S:  # the first are always asked for
            done.left = len(absent) - at
            break
        asked_for = absent[at : at + FETCHED]
        fetched = fetching.articles(asked_for, backends.pubmed, deadline)
        incoming.add(record_of(each) for each in fetched.values())
        done.unknown += [each for each in asked_for if each not in fetched]
    added = dict(zip((each.record_id for each in further), incoming.add(further), strict=True))
    done.new = len(incoming.records) - before
    found = [incoming.by_pmid[each] for each in asked if each in incoming.by_pmid]
    found += [added.get(each.record_id, each.record_id) for each in others]
    if asked or others or origin.term:
        done.merged = incoming.store(origin, found, backends.now())
    return done


def check_room(known: int, more: int) -> None:
    """Raise `InvalidInput` where the review would have more records than it may."""
    if known + more > MOST_RECORDS:
        raise InvalidInput(
            f"the review has {known} records and would have {known + more}; {MOST_RECORDS} are the most: "
            "narrow the search, or make a review of each part"
        )


def record_of(article: Article) -> ReviewRecord:
    abstract = " ".join(f"{each.label}: {each.text}" if each.label else each.text for each in article.abstract)
    date = article.publication_date or article.electronic_date
    journal = article.journal or Journal()
    people = [each for each in article.authors if each.valid][:MOST_AUTHORS]
    return ReviewRecord(
        article.pmid,
        (article.title or "")[:LONGEST_TITLE],
        abstract[:LONGEST_ABSTRACT],
        date.year if date else None,
        article.doi,
        authors=tuple(
            ", ".join(filter(None, (each.last_name, each.fore_name or each.initials))) or each.short_name
            for each in people
        ),
        journal=journal.title or "",
        volume=journal.volume or "",
        issue=journal.issue or "",
        pages=article.pages or "",
        preprint=any(each.name == "Preprint" for each in article.publication_types),
    )


def collect_topic(review: str, query_key: str, backends: Backends, deadline: Deadline) -> Collected:
    """Add what PubMed finds by the term that the query key was synced by last. Raises `InvalidInput` without one."""
    term = backends.checkpoints.get(query_key).term
    if term is None:
        raise InvalidInput(f"query_key {query_key!r} was never synced: sync it, or give a term")
    return search_pubmed(review, term, backends, deadline, f"topic:{query_key}")


def collect_question(review: str, question: str, backends: Backends, deadline: Deadline) -> Collected:
    """Add what the corpus has for a question or query, as an export of it would have."""
    fitting = papers_that_fit(question, backends, deadline)
    origin = Origin(CORPUS, question, len(fitting.pmids), source="question")
    done = collect(review, fitting.pmids, origin, backends, deadline)
    return replace(done, warnings=fitting.warnings)


def collect_project(review: str, project_id: str, backends: Backends, deadline: Deadline) -> Collected:
    """Add the documents of the project; one that is not in PubMed has what the project knows of it."""
    backends.projects.get(project_id)
    works = [each.work for each in backends.project_documents.all(project_id)]
    pmids = pmids_of(works, backends)
    origin = Origin(DOCUMENTS, None, 0, "other", f"project:{project_id}")
    others = {
        (name := record_id_of(each)): ReviewRecord(
            name,
            each.title or each.source or each.doc_id,
            year=each.year,
            doi=each.doi,
            authors=tuple(each.authors[:MOST_AUTHORS]),
            journal=each.journal or "",
        )
        for each, pmid in zip(works, pmids, strict=True)
        if not pmid
    }
    return collect(review, [each for each in pmids if each], origin, backends, deadline, list(others.values()))


def record_id_of(work: Work) -> str:
    """The id in a review of a document of a project that has no PMID."""
    return f"doi:{work.doi}" if work.doi else f"document:{sha256(work.doc_id.encode()).hexdigest()[:24]}"


WAYS: Mapping[str, Callable[[str, str, Backends, Deadline], Collected]] = {
    "term": search_pubmed,
    "question": collect_question,
    "topic": collect_topic,
    "project": collect_project,
}
"""How a review is collected, by what is given."""


def repeatable(review: str, search: ReviewSearch) -> tuple[str, str] | None:
    """The way and what it is asked for by which the search can be made again; None for files and what was chosen by
    hand."""
    kind, _, value = search.source.partition(":")
    if kind == "project" or search.database == DOCUMENTS:
        return "project", value or review.partition(":")[2]
    if kind == "topic":
        return kind, value
    term = search.term or ""
    if kind == "question":
        return kind, term
    return ("term", term) if term and not kind and search.database == "PubMed" else None


def collect_from(
    review: str, ways: Mapping[str, Sequence[str]], pmids: Sequence[str], backends: Backends, deadline: Deadline
) -> list[Collected]:
    """Add the papers, and what each of `WAYS` finds by all that it is given; where nothing is given, all that the
    review was collected from once more, files aside.

    Raises `InvalidInput` for a review that was collected from nothing that can be searched again.
    """
    asked = [(way, what) for way in WAYS for what in ways.get(way, ())]
    done = [collect(review, pmids, BY_HAND, backends, deadline)] if pmids else []
    if not (asked or pmids):
        searches = backends.screenings.searches(review)
        asked = list(dict.fromkeys(each for search in searches if (each := repeatable(review, search))))
        if not asked:
            raise InvalidInput(
                "nothing was collected yet that could be searched again: give a term, question, topic or project"
            )
    return done + [WAYS[way](review, what, backends, deadline) for way, what in asked]


def import_records(
    review: str, content: bytes, backends: Backends, *, file: str, database: str = "", term: str = ""
) -> Collected:
    """Add the records of a file that a database exported: RIS, NBIB, BibTeX, CSL-JSON or a table. The same file again
    changes nothing.

    `file` is its name; `database` and `term` are what was searched, where the file does not say. Raises `InvalidInput`
    for a file that is none, and for one with too many records.
    """
    export = read_export(decoded(content), MOST_RECORDS)
    origin = Origin(
        database or export.database or file,
        term or export.term or None,
        len(export.works) + export.unreadable,
        source=f"file:{file}",
    )
    search_id = sha256(b"file|" + content).hexdigest()[:16]
    entries = [record_of_work(each) for each in export.works]

    def brought() -> Collected:
        with turn(review, backends, "review"):
            incoming = _Incoming(review, backends)
            if any(each.search_id == search_id for each in incoming.searches):
                return Collected(known=len(entries), unreadable=export.unreadable, origin=origin)
            before = len(incoming.records)
            merged = incoming.store(origin, incoming.add(entries), backends.now(), search_id)
            new = len(incoming.records) - before
            return Collected(new, len(merged), merged=merged, unreadable=export.unreadable, origin=origin)

    return in_turns(brought, call_deadline())


def record_of_work(work: CitedWork) -> ReviewRecord:
    record = ReviewRecord(
        "",
        work.title[:LONGEST_TITLE],
        work.abstract,
        int(work.year) if work.year else None,
        work.doi or None,
        work.pmid,
        work.authors[:MOST_AUTHORS],
        work.journal,
        work.volume,
        work.issue,
        work.pages,
        work.keywords,
        work.kind == "preprint",
    )
    return replace(record, record_id=work.pmid or (f"doi:{work.doi}" if work.doi else entry_id(record)))


def entry_id(entry: ReviewRecord) -> str:
    """The id of an entry by what it states."""
    names = ("title", "authors", "year", "journal", "volume", "pages", "doi")
    stated = [*(getattr(entry, each) for each in names), pmid_of(entry)]
    return f"title:{sha256(json.dumps(stated).encode()).hexdigest()[:24]}"


def possible_duplicates(review: Review) -> list[tuple[ReviewRecord, ReviewRecord, str]]:
    """Records that look like others and are apart, with why: by rule, or since somebody took a merge back."""
    known, found = Records(), []
    for each in review.records:
        for like in known.like(each):
            found.append((each, like.record, f"{like.why}; kept apart by hand" if like.same else like.why))
        known.add(each)
    return found


def split(review: Review, merge_id: str, backends: Backends) -> ReviewRecord:
    """Take a merge back: its entry is a record of its own from now on. Raises `NotFound`."""
    merge = next((each for each in review.merges if each.merge_id == merge_id), None)
    if merge is None:
        raise NotFound(f"there is no merge {merge_id!r} in this review")
    entry, there = merge.entry, review.by_id.get(merge.entry.record_id)
    taken = merge.into == entry.record_id or (there and there.title != entry.title)
    name = f"entry:{merge_id}" if taken else entry.record_id
    record = replace(entry, record_id=name, pmid=pmid_of(entry))
    searches = backends.screenings.searches(review.name)
    of = next((each for each in searches if each.search_id == merge.search_id), None)
    changed = []
    for each in searches:
        ids = list(each.record_ids)
        same = of and (each.database, each.term, each.source) == (of.database, of.term, of.source)
        at = merge.position if each is of else ids.index(merge.into) if same and merge.into in ids else -1
        if 0 <= at < len(ids) and ids[at] == merge.into:
            ids[at] = name
            changed.append(replace(each, record_ids=tuple(ids)))
    backends.screenings.put(review.name, [record, *changed])
    backends.screenings.remove_merge(review.name, merge_id)
    backends.audit.record("review.split", review.name, {name: merge.into}, {name: name})
    return record


def new_since(review: Review, searches: Sequence[ReviewSearch], day: date) -> list[str]:
    """The records that no search had before the day (UTC)."""
    first: dict[str, date] = {}
    for each in searches:
        for name in each.record_ids:
            first[name] = min(first.get(name, each.at.date()), each.at.astimezone(UTC).date())
    return [name for name in review.by_id if name in first and first[name] >= day]


def listed(
    review: Review, stage: Stage, screener: str | None, backends: Backends, state: str = "", since: date | None = None
) -> list[str]:
    """The records at the stage that the screener may see, of those that are in the state, as far as they may see it,
    and that no search had before the day."""
    names = review.eligible_for(stage, screener)
    if since:
        new = set(new_since(review, backends.screenings.searches(review.name), since))
        names = [each for each in names if each in new]
    return [each for each in names if state in ("", review.outcome(stage, each).state_for(screener))]
