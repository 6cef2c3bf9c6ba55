"""A review: how its records come in, who decides about them and how far they agree, its searches and the counts of a
PRISMA flow."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Literal, get_args

from bio_mcp.answering.project_search import pmids_of
from bio_mcp.answering.search import papers_that_fit
from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.ingesting.turns import in_turns, turn
from bio_mcp.literature.clock import instant
from bio_mcp.literature.identifiers import doi, normal, parse_pmid
from bio_mcp.literature.records import Article, Journal
from bio_mcp.literature.references.exports import read_export
from bio_mcp.literature.references.files import decoded
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import LISTABLE
from bio_mcp.ports.stores import (
    Decision,
    ReviewMerge,
    ReviewPlan,
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
from bio_mcp.scope import call_deadline
from bio_mcp.screening.deduplicating import Likeness, Records, pmid_of
from bio_mcp.syncing.queries import list_queries, report_on

if TYPE_CHECKING:
    from bio_mcp.screening.ranking import Ranking, Stopping


class AllScreeners(Enum):
    """Instead of a screener: what all together have decided."""

    ALL = "all"


ALL = AllScreeners.ALL
Screener = str | AllScreeners | None
"""Who decides; None is the user of this machine."""
Z = 1.959964  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `records` that both decided, in how many they `agreed`. `kappa` with the bounds of its 95 % interval, from -1
    to 1; None where it is not defined: nothing was decided by both, or both have one decision for all."""

    records: int
    agreed: int
    kappa: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def per_cent(self) -> float | None:
        return 100 * self.agreed / self.records if self.records else None


def agreement(pairs: Iterable[tuple[str, str]]) -> Agreement:
    """The agreement of two screeners, from the pairs of their decisions.

    With p_ij the share of pairs (i, j), p_i. and p_.j the sums of rows and columns, p_o = sum of p_ii and
    p_e = sum of p_i. p_.i, kappa = (p_o - p_e) / (1 - p_e) (Cohen, Educational and Psychological Measurement 1960; 20:
    37-46). Its variance for n pairs is (A + B - C) / (n (1 - p_e)^2), where

        A = sum over i of p_ii (1 - (p_i. + p_.i)(1 - kappa))^2
        B = (1 - kappa)^2 * sum over i != j of p_ij (p_.i + p_j.)^2
        C = (kappa - p_e (1 - kappa))^2

    (Fleiss, Cohen and Everitt, Psychological Bulletin 1969; 72: 323-327). The interval is kappa +- 1.96 standard
    errors, which is good for some 30 pairs or more; it ends at -1 and 1.
    """
    counts = Counter(pairs)
    n = counts.total()
    agreed = sum(count for (one, other), count in counts.items() if one == other)
    share = {pair: count / n for pair, count in counts.items()}
    row, column = Counter[str](), Counter[str]()
    for (one, other), p in share.items():
        row[one] += p  # type: ignore[assignment]  # shares, not counts
        column[other] += p  # type: ignore[assignment]
    expected = sum(row[each] * column[each] for each in row)
    if not n or expected > 1 - 1e-12:
        return Agreement(n, agreed)
    kappa = (agreed / n - expected) / (1 - expected)
    a = sum(p * (1 - (row[i] + column[i]) * (1 - kappa)) ** 2 for (i, j), p in share.items() if i == j)
    b = (1 - kappa) ** 2 * sum(p * (column[i] + row[j]) ** 2 for (i, j), p in share.items() if i != j)
    c = (kappa - expected * (1 - kappa)) ** 2
    error = sqrt(max(0.0, a + b - c) / n) / (1 - expected)
    return Agreement(n, agreed, kappa, max(-1.0, kappa - Z * error), min(1.0, kappa + Z * error))


MOST_RECORDS = 20_000  # of a review: what can be ranked within a call
LONGEST_NAME = 100  # characters
STAGES: tuple[Stage, ...] = get_args(Stage)  # in their order
State = Literal["include", "exclude", "undecided", "awaiting", "maybe", "conflict"]
"""Of a record at a stage: what it is decided to be, or that nobody has decided it, not everybody yet, or nobody for
sure, or that screeners differ."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a record at a stage. `stands` is the label that counts, None while there is none; `labels` are of
    the screeners, the oldest first, and `resolved` is the third decision. `decided`: by as many as decide about it."""

    state: State = "undecided"
    stands: ScreeningLabel | None = None
    labels: tuple[ScreeningLabel, ...] = ()
    resolved: ScreeningLabel | None = None
    decided: bool = False

    def of(self, screener: "Screener") -> ScreeningLabel | None:
        """The screener's own label."""
        return next((each for each in self.labels if each.caller == screener), None)

    def shown_to(self, screener: str | None) -> tuple[ScreeningLabel, ...]:
        """The labels that the screener may see: their own, and all once the record is decided."""
        return self.labels if self.decided else tuple(each for each in self.labels if each.caller == screener)

    def state_for(self, screener: str | None) -> State:
        """The state as far as the screener may see it."""
        own = self.of(screener)
        return self.state if self.decided else own.decision if own else "undecided"


NOTHING = Outcome()


@dataclass(frozen=True)
class Review:
    """The state of a review. `records` are by id, `labels` the oldest first; `merges` say which entries of searches are
    which record.

    Where one screener decides, the last label of a record counts, whoever gave it. Where more do, each has labels of
    their own: a record is settled when as many as `plan` says have decided it alike, or by a third decision. While
    fewer people have begun, those who have are enough.
    """

    name: str
    records: Sequence[ReviewRecord]
    labels: Sequence[ScreeningLabel]
    plan: ReviewPlan | None = None
    merges: Sequence[ReviewMerge] = ()

    @property
    def screeners(self) -> int:
        """How many decide about each record."""
        return self.plan.screeners if self.plan else 1

    @cached_property
    def by_id(self) -> Mapping[str, ReviewRecord]:
        return {each.record_id: each for each in self.records}

    @cached_property
    def outcomes(self) -> Mapping[Stage, Mapping[str, Outcome]]:
        """By stage and record, those of records that somebody has decided, the last decision last."""
        found: dict[Stage, dict[str, Outcome]] = {stage: {} for stage in STAGES}
        for stage in STAGES:
            given: dict[str, list[ScreeningLabel]] = {}
            for each in self.labels:
                if each.stage == stage and each.record_id in self.by_id:
                    given.setdefault(each.record_id, []).append(each)
            begun = {each.caller for labels in given.values() for each in labels if not each.resolves}
            enough = min(self.screeners, max(1, len(begun)))
            made = {name: self._outcome(stage, labels, enough) for name, labels in given.items()}
            last = {each.record_id: place for place, each in enumerate(self.labels) if each.stage == stage}
            found[stage] = dict(sorted(made.items(), key=lambda each: last[each[0]]))
        return found

    def _outcome(self, stage: Stage, given: Sequence[ScreeningLabel], enough: int) -> Outcome:
        labels = tuple(each for each in given if not each.resolves)
        resolved = next((each for each in given if each.resolves), None)
        stands = given[-1] if self.screeners == 1 else resolved
        decided = bool(stands) or len(labels) >= self.screeners
        if not stands:
            if len(labels) < enough:
                return Outcome("awaiting", None, labels)
            decisions = {each.decision for each in labels}
            reasons = list(dict.fromkeys(each.reason for each in labels if each.reason))
            differ = stage == "full_text" and len(reasons) > 1  # by the reason a report is counted
            if len(decisions) > 1 or differ or (decisions == {"maybe"} and enough > 1):
                return Outcome("conflict", None, labels, None, decided)
            stands = replace(labels[-1], reason=reasons[0] if reasons else None)
        return Outcome(stands.decision, stands, labels, resolved, decided)

    def outcome(self, stage: Stage, record_id: str) -> Outcome:
        return self.outcomes[stage].get(record_id, NOTHING)

    def decisions(self, stage: Stage, screener: Screener = ALL) -> dict[str, ScreeningLabel]:
        """The labels that count at a stage by record, the last one last. For one of several screeners: their own ones,
        and third decisions in their place."""
        found = self.outcomes[stage]
        if screener is ALL or self.screeners == 1:
            return {name: each.stands for name, each in found.items() if each.stands}
        seen = {name: each.resolved or each.of(screener) for name, each in found.items()}
        place = {id(each): at for at, each in enumerate(self.labels)}
        return dict(sorted(((n, each) for n, each in seen.items() if each), key=lambda each: place[id(each[1])]))

    def of(self, stage: Stage, decision: Decision, screener: Screener = ALL) -> list[str]:
        """The records that were decided so, the oldest decision first."""
        return [name for name, label in self.decisions(stage, screener).items() if label.decision == decision]

    def settled(self, stage: Stage, screener: Screener = ALL) -> dict[str, bool]:
        """True for each included record and False for each excluded one; `maybe` is left for later."""
        decisions = self.decisions(stage, screener).items()
        return {name: label.decision == "include" for name, label in decisions if label.decision != "maybe"}

    def final(self, record_id: str) -> ScreeningLabel | None:
        """What counts of a record in the end: of its full text, where its abstract is included, or of its abstract."""
        abstract = self.outcome("abstract", record_id).stands
        passed = abstract and abstract.decision == "include"
        return (self.outcome("full_text", record_id).stands if passed else None) or abstract

    def conflicts(self, stage: Stage) -> list[str]:
        """The records of the stage about which those who decided them differ."""
        names = {each.record_id for each in self.eligible(stage)}
        return [name for name, each in self.outcomes[stage].items() if each.state == "conflict" and name in names]

    def eligible(self, stage: Stage) -> list[ReviewRecord]:
        """The records that the stage is about: all, or for the full text those included by their abstracts."""
        if stage == "abstract":
            return list(self.records)
        passed = set(self.of("abstract", "include"))
        return [each for each in self.records if each.record_id in passed]

    def eligible_for(self, stage: Stage, screener: str | None) -> list[ReviewRecord]:
        """The records at the stage, without those whose place there would tell the screener what another decided."""
        if stage == "abstract":
            return self.eligible(stage)
        abstracts = self.outcomes["abstract"]
        return [
            each
            for each in self.eligible(stage)
            if (of := abstracts[each.record_id]).decided or of.state_for(screener) != "undecided"
        ]

    def left_for(self, stage: Stage, screener: str | None) -> list[ReviewRecord]:
        """The records that the screener may decide next: not decided by them for sure, nor by enough others."""
        decided, eligible = self.settled(stage, screener), self.eligible_for(stage, screener)
        return [each for each in eligible if each.record_id not in decided and self._needs(stage, each)]

    def _needs(self, stage: Stage, record: ReviewRecord) -> bool:
        found = self.outcome(stage, record.record_id)
        return not found.resolved and (
            self.screeners == 1 or sum(each.decision != "maybe" for each in found.labels) < self.screeners
        )

    def people(self, stage: Stage) -> dict[str | None, int]:
        """How many records of the stage each screener has decided, in the order in which they began."""
        names = {each.record_id for each in self.eligible(stage)}
        found = self.outcomes[stage].items()
        begun = [each.caller for each in self.labels if each.stage == stage and not each.resolves]
        counts = Counter(each.caller for name, outcome in found if name in names for each in outcome.labels)
        return {each: counts[each] for each in dict.fromkeys(begun)}

    def agreements(self, stage: Stage) -> list[tuple[str | None, str | None, Agreement]]:
        """How far each two screeners agree, by their own decisions before any third one."""
        found = self.outcomes[stage].values()
        pairs = (
            (
                one,
                other,
                [
                    (mine.decision, theirs.decision)
                    for each in found
                    if (mine := each.of(one)) and (theirs := each.of(other))
                ],
            )
            for one, other in combinations(self.people(stage), 2)
        )
        return [(one, other, agreement(decided)) for one, other, decided in pairs if decided]

    def stopping(self, stage: Stage, screener: Screener = ALL) -> "Stopping":
        from bio_mcp.screening.ranking import estimate  # loads numpy, which a label does not need

        settled = self.settled(stage, screener)
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
    """Read the review; one that nobody began has no records. What a record lacks and an entry of it states is filled
    in."""
    merges = screenings.merges(name)
    records = _filled(screenings.records(name), merges)
    return Review(name, records, screenings.labels(name), screenings.plan(name), merges)


def _filled(records: list[ReviewRecord], merges: Sequence[ReviewMerge]) -> list[ReviewRecord]:
    if not merges:
        return records
    by_id = {each.record_id: each for each in records}
    for merge in merges:
        if record := by_id.get(merge.into):
            entry = replace(merge.entry, pmid=pmid_of(merge.entry))
            lacks = [each.name for each in fields(record) if not getattr(record, each.name) and each.name != "preprint"]
            by_id[merge.into] = replace(record, **{each: getattr(entry, each) for each in lacks})
    return list(by_id.values())


def create_review(
    name: str, backends: Backends, screeners: int | None = None, criteria: str | None = None
) -> tuple[ReviewPlan, bool]:
    """Begin a review, by default for two screeners; returns its plan, and whether it is new: one that exists is changed
    to what is given.

    Raises `InvalidInput` for a name that no review can have.
    """
    before = backends.screenings.plan(name := name.strip())
    if not before and not (re.fullmatch(rf"[^:/]{{1,{LONGEST_NAME}}}", name) and name.isprintable()):
        wanted = f"a review has a name of up to {LONGEST_NAME} characters, without a colon or slash"
        raise InvalidInput(wanted, field="review")
    plan = before or ReviewPlan(backends.now(), 2)
    plan = replace(
        plan,
        screeners=plan.screeners if screeners is None else screeners,
        criteria=plan.criteria if criteria is None else criteria,
    )
    if plan != before:
        backends.screenings.put_plan(name, plan)
    return plan, before is None


def find_review(name: str, backends: Backends) -> Review:
    """The review of this name, `project:ID` and `query:KEY` among them. Raises `NotFound`, which names others."""
    review = review_of(name, backends.screenings)
    if review.plan or review.records:
        return review
    names = list(backends.screenings.reviews())
    near = get_close_matches(name, names, 1, 0.5)
    known = (
        f"did you mean {near[0]}?" if near else f"there are {', '.join(names[:20])}" if names else "there is none yet"
    )
    raise NotFound(f"there is no review {name!r}; {known}")


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
    the review had; `unreadable` ones of a file state nothing. `search_id` is that of the search.
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
        self._ids = {pmid_of(each): name for name, each in self.records.items() if pmid_of(each)}
        self._unclaimed = self.records.keys() - {name for each in self.searches for name in each.record_ids}
        for each in screenings.merges(review):
            if into := self.records.get(each.into):
                self._merge(each.entry, into)

    def of_pmid(self, pmid: str) -> str | None:
        """The id of the record that a paper is; None for one that the review does not have."""
        return self._ids.get(pmid)

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
            self._ids.setdefault(pmid, into.record_id)

    def store(self, search: ReviewSearch, *, ordered: bool) -> list[ReviewMerge]:
        """Store the search with what was merged by it; `ordered`: its records are those that one `add` returned."""
        merged = []
        for entry, into, why, place in self.merges:
            at = place if ordered else search.record_ids.index(into)
            key = sha256(f"{search.search_id} {place if ordered else entry.record_id}".encode()).hexdigest()[:12]
            merged.append(ReviewMerge(key, entry, into, why, search.search_id, at))
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
    missing = [each for each in asked if not incoming.of_pmid(each)]
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
    found = [incoming.of_pmid(each) for each in asked]
    found += [added.get(each.record_id, each.record_id) for each in others]
    if found or origin.term:
        search = _search(incoming, origin, [each for each in found if each], backends)
        done.merged = incoming.store(search, ordered=False)
    return done


def check_room(known: int, more: int) -> None:
    """Raise `InvalidInput` where the review would have more records than it may."""
    if known + more > MOST_RECORDS:
        raise InvalidInput(
            f"the review has {known} records and would have {known + more}; {MOST_RECORDS} are the most: "
            "narrow the search, or make a review of each part"
        )


def _search(incoming: _Incoming, origin: Origin, record_ids: Iterable[str], backends: Backends) -> ReviewSearch:
    """The search as it is stored. The same one on the same day (UTC) is one, with the records of both."""
    now = backends.now()
    _planned(incoming.review, backends)
    key = "|".join([origin.method, origin.database, origin.term or "", now.date().isoformat()])
    search_id = sha256(key.encode()).hexdigest()[:16]
    before = next((each for each in incoming.searches if each.search_id == search_id), None)
    names = dict.fromkeys([*(before.record_ids if before else ()), *record_ids])
    found = origin.found if origin.term else len(names)
    return ReviewSearch(
        search_id, now, origin.database, origin.term, found, tuple(names), origin.method, source=origin.source
    )


def _planned(review: str, backends: Backends) -> None:
    """Give the review a plan, if it has none, so that it is listed."""
    if backends.screenings.plan(review) is None:
        backends.screenings.put_plan(review, ReviewPlan(backends.now()))


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


def collect_query(review: str, query_key: str, backends: Backends, deadline: Deadline) -> Collected:
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
    "topic": collect_query,
    "project": collect_project,
    "question": collect_question,
    "term": search_pubmed,
}


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


def collect_again(review: str, backends: Backends, deadline: Deadline) -> list[Collected]:
    """Repeat every search, topic and project that the review was collected from, each once; files stay as they are.

    Raises `InvalidInput` for a review that was collected from none.
    """
    searches = backends.screenings.searches(review)
    if again := dict.fromkeys(each for search in searches if (each := repeatable(review, search))):
        return [WAYS[way](review, what, backends, deadline) for way, what in again]
    raise InvalidInput(
        "nothing was collected yet that could be searched again: give a term, question, topic or project"
    )


@dataclass(frozen=True, slots=True)
class StageStatus:
    """How far a stage is: its `records` by state, how many each screener has decided, how far each two agree, and what
    may still be missed."""

    stage: Stage
    records: int
    states: Mapping[State, int]
    people: Mapping[str | None, int]
    agreements: Sequence[tuple[str | None, str | None, Agreement]]
    stopping: "Stopping"


def stage_status(review: Review, stage: Stage) -> StageStatus:
    names = [each.record_id for each in review.eligible(stage)]
    states = Counter(review.outcome(stage, each).state for each in names)
    counts: dict[State, int] = {each: states[each] for each in get_args(State)}
    return StageStatus(
        stage, len(names), counts, review.people(stage), review.agreements(stage), review.stopping(stage)
    )


PLATFORMS = {
    "PubMed": "NCBI E-utilities",
    "Embase": "Embase.com",
    "CENTRAL": "Cochrane Library",
    "Scopus": "Elsevier",
    "Web of Science": "Clarivate",
    CORPUS: "bio-mcp rag_search",
}


def import_records(
    review: str, content: bytes, backends: Backends, *, file: str, database: str = "", term: str = ""
) -> Collected:
    """Add the records of a file that a data base exported: RIS, NBIB, BibTeX, CSL-JSON or a table. The same file again
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
            _planned(review, backends)
            before = len(incoming.records)
            ids = tuple(incoming.add(entries))
            search = ReviewSearch(
                search_id, backends.now(), origin.database, origin.term, origin.found, ids, source=origin.source
            )
            merged = incoming.store(search, ordered=True)
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


def possible_duplicates(review: Review) -> list[tuple[ReviewRecord, Likeness]]:
    """Records that look like others and are apart, with why: by rule, or since somebody took a merge back."""
    known, found = Records(), []
    for each in review.records:
        found += [(each, like) for like in known.like(each)]
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
    """Store the decisions of a screener, in their order, and audit those that replace or take back another.

    The full text of a record is decided only where its abstract was included. A decision that stands already changes
    nothing, and keeps its time.
    """
    eligible = {each.record_id for each in review.eligible(stage)}
    alone = review.screeners == 1
    labels = [each for each in review.labels if alone or (each.caller == caller and not each.resolves)]
    return _decide(review, stage, decisions, caller, backends, eligible, labels)


def resolve(
    review: Review, stage: Stage, decisions: Sequence[Decided], caller: str | None, backends: Backends
) -> Changes:
    """Store the third decisions about records on which screeners differ, by whoever settles it; "none" takes one back.

    Records without a conflict are among `not_at_stage`.
    """
    eligible = {name for name, each in review.outcomes[stage].items() if each.state == "conflict" or each.resolved}
    labels = [each for each in review.labels if each.resolves]
    return _decide(review, stage, decisions, caller, backends, eligible, labels, resolves=True)


def _decide(
    review: Review,
    stage: Stage,
    decisions: Sequence[Decided],
    caller: str | None,
    backends: Backends,
    eligible: Collection[str],
    labels: Sequence[ScreeningLabel],
    *,
    resolves: bool = False,
) -> Changes:
    """Store what is decided about `eligible` records in place of `labels`, which "none" removes."""
    wanted = {each.record_id: each for each in decisions}
    stands = {each.record_id: each for each in labels if each.stage == stage}  # the last of each record
    new = [each for name, each in wanted.items() if name in eligible and _differs(each, stands.get(name))]
    now = backends.now()
    made = [
        ScreeningLabel(each.record_id, stage, each.decision, now, each.reason, caller, resolves=resolves)
        for each in new
        if each.decision != "none"
    ]
    taken_back = {each.record_id for each in new} - {each.record_id for each in made}
    _store(review, made, [each for each in labels if each.stage == stage and each.record_id in taken_back], backends)
    replaced = {each.record_id: each.decision for each in new if each.record_id in stands}
    if replaced:  # a first decision is its own record
        action = f"review.{stage}.resolved" if resolves else f"review.{stage}"
        backends.audit.record(action, review.name, {name: stands[name].decision for name in replaced}, replaced)
    return _changes(review, wanted, eligible, len(new))


def _store(review: Review, made: Sequence[ScreeningLabel], gone: Sequence[ScreeningLabel], backends: Backends) -> None:
    if made:
        backends.screenings.put(review.name, made)
    if gone:
        backends.screenings.remove_labels(review.name, gone)


def _changes(review: Review, wanted: Collection[str], eligible: Collection[str], changed: int) -> Changes:
    elsewhere = [name for name in wanted if name not in eligible]
    unknown = tuple(name for name in elsewhere if name not in review.by_id)
    not_at_stage = tuple(name for name in elsewhere if name in review.by_id)
    return Changes(changed, len(wanted) - len(elsewhere) - changed, unknown, not_at_stage)


def _differs(wanted: Decided, stands: ScreeningLabel | None) -> bool:
    before = (stands.decision, stands.reason) if stands else ("none", wanted.reason)
    return before != (wanted.decision, wanted.reason)


def find_record(review: Review, name: str) -> str:
    """The id of the record that a PMID, a DOI or an id names. Raises `NotFound`."""
    given = name.strip()
    pmid, of_doi = normal(parse_pmid, given), normal(doi, given)
    for each in review.records:
        if given == each.record_id or (pmid and pmid == pmid_of(each)) or (of_doi and of_doi == each.doi):
            return each.record_id
    raise NotFound(f"the review has no paper {name!r}: give a PMID, a DOI, or the id that the review shows")


@dataclass(frozen=True, slots=True)
class Undecided:
    """The first records that a screener may decide next, in the order of a ranking, and how many more there are."""

    ranking: "Ranking"
    left_out: int
    warnings: Sequence[str]


def next_records(
    review: Review, stage: Stage, screener: str | None, backends: Backends, *, most: int, criteria: str = ""
) -> Undecided:
    """Rank what the screener may decide next, by what they decided so far; of a review of one screener, what anybody
    did."""
    from bio_mcp.screening.ranking import rank, vectors_of  # these load numpy, which a report does not need

    open_ = {each.record_id for each in review.left_for(stage, screener)}
    decided = review.settled("abstract", screener) | review.settled(stage, screener)
    vectors, warnings = vectors_of(review.records, backends)
    ranking = rank(
        review.records,
        {name: included for name, included in decided.items() if name not in open_},
        open_,
        last=frozenset(review.of(stage, "maybe", screener)),
        most=most,
        criteria=criteria or (review.plan.criteria if review.plan else ""),
        vectors=vectors,
    )
    return Undecided(ranking, len(open_) - len(ranking.papers), warnings)


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


@dataclass(frozen=True, slots=True)
class Identified:
    """How many records a `database`, or another `method`, has found."""

    database: str
    method: Literal["database", "other"]
    records: int


@dataclass(frozen=True, slots=True)
class Flow:
    """Numbers by the names of PRISMA 2020: of records, and from `sought` on of reports.

    They add up: `identified` less duplicates and what was not delivered is `screened` and `undecided`; `screened` is
    `excluded` and `sought`; that is `not_retrieved`, `assessed` and `unassessed`; `assessed` is `included` and those
    excluded by reason.
    """

    sources: tuple[Identified, ...]
    duplicates_removed: int
    not_delivered: int
    screened: int
    excluded: int
    sought: int
    not_retrieved: int
    assessed: int
    excluded_by_reason: tuple[tuple[str, int], ...]
    included: int
    undecided: int
    unassessed: int

    @property
    def identified(self) -> int:
        return sum(each.records for each in self.sources)

    def identified_by(self, method: Literal["database", "other"]) -> int:
        return sum(each.records for each in self.sources if each.method == method)


def flow(review: Review, searches: Sequence[ReviewSearch]) -> Flow:
    """Count the records from where they were found to what was decided.

    A search that was repeated counts once, with all that it ever found. Records that came by no search count as chosen
    by hand. `undecided` records are not settled yet, by all who screen.
    """
    runs: dict[tuple[str, ...], list[ReviewSearch]] = {}
    for each in searches:
        once = each.search_id if each.source.startswith("file:") else ""
        runs.setdefault((each.method, each.database, each.term or "", once), []).append(each)
    records, by_source, lost = 0, Counter[tuple[str, str]](), 0
    for (method, database, *_, once), found in runs.items():
        known = [name for each in found for name in each.record_ids if name in review.by_id]
        hits = len(known) if once else len(set(known))
        missing = max(0, found[-1].found - len(found[-1].record_ids))
        records, lost = records + hits, lost + missing
        by_source[database, method] += hits + missing
    found_by_search = {name for each in searches for name in each.record_ids}
    by_hand = len(review.by_id.keys() - found_by_search)
    if by_hand:
        by_source[BY_HAND.database, BY_HAND.method] += by_hand
    settled, sought = review.settled("abstract"), set(review.of("abstract", "include"))
    reports = [each for name, each in review.decisions("full_text").items() if name in sought]
    reasons = Counter(each.reason or NO_REASON for each in reports if each.decision == "exclude")
    not_retrieved = reasons.pop(NOT_RETRIEVED, 0)
    included = sum(each.decision == "include" for each in reports)
    assessed = included + reasons.total()
    return Flow(
        sources=tuple(Identified(database, method, count) for (database, method), count in by_source.items()),  # type: ignore[arg-type]
        duplicates_removed=records + by_hand - len(review.records),
        not_delivered=lost,
        screened=len(settled),
        excluded=len(settled) - len(sought),
        sought=len(sought),
        not_retrieved=not_retrieved,
        assessed=assessed,
        excluded_by_reason=tuple(sorted(reasons.items(), key=lambda each: (-each[1], each[0]))),
        included=included,
        undecided=len(review.records) - len(settled),
        unassessed=len(sought) - not_retrieved - assessed,
    )


def new_since(review: Review, searches: Sequence[ReviewSearch], day: date) -> list[ReviewRecord]:
    """The records that no search had before the day (UTC)."""
    first: dict[str, date] = {}
    for each in searches:
        for name in each.record_ids:
            first[name] = min(first.get(name, each.at.date()), each.at.astimezone(UTC).date())
    return [each for each in review.records if each.record_id in first and first[each.record_id] >= day]
