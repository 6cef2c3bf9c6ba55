"""A review: its records, who decides about each, what stands, how far screeners agree, and what is to be read next."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal, get_args

from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.literature.clock import instant
from bio_mcp.literature.identifiers import doi, doi_page, normal, parse_pmid, pubmed_page
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import (
    Decision,
    ReviewMerge,
    ReviewPlan,
    ReviewRecord,
    ScreeningLabel,
    Screenings,
    Stage,
    review_of_project,
    review_of_query,
)
from bio_mcp.screening.deduplicating import pmid_of

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

    def in_words(self, one: str, other: str) -> str:
        """How far the two agree, as a sentence."""
        kappa = "kappa is not defined, as both have one decision for all"
        if self.kappa is not None:
            kappa = f"Cohen's kappa {self.kappa:.2f} (95 % CI {self.low:.2f} to {self.high:.2f})"
        return f"{one} and {other} agree in {self.agreed:,} of {self.records:,} ({self.per_cent:.1f} %), {kappa}."


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


LONGEST_NAME = 100  # characters
STAGES: Mapping[Stage, str] = {"abstract": "Title and abstract", "full_text": "Full text"}  # in their order
USER = "user of this machine"
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

    def of(self, screener: str | None) -> ScreeningLabel | None:
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
    def ids(self) -> Mapping[str, str]:
        """The id of each record by all that may name it: the id, its PMID, and its DOI as `doi:10.1000/x`."""
        names: dict[str, str] = {each: each for each in self.by_id}
        for each in self.records:
            for name in filter(None, (pmid_of(each), each.doi and f"doi:{each.doi}")):
                names.setdefault(name, each.record_id)
        return names

    @cached_property
    def outcomes(self) -> Mapping[Stage, Mapping[str, Outcome]]:
        """By stage and record, those of records that somebody has decided, the last decision last."""
        found: dict[Stage, Mapping[str, Outcome]] = {}
        for stage in STAGES:
            given: dict[str, list[ScreeningLabel]] = {}
            for each in self.labels:
                if each.stage == stage and each.record_id in self.by_id:
                    given[each.record_id] = [*given.pop(each.record_id, ()), each]
            begun = {each.caller for labels in given.values() for each in labels if not each.resolves}
            enough = min(self.screeners, max(1, len(begun)))
            found[stage] = {name: self._outcome(stage, labels, enough) for name, labels in given.items()}
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
        own = {name: each.resolved or each.of(screener) for name, each in found.items()}
        return {each.record_id: each for each in self.labels if own.get(each.record_id) is each}

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
        """The records of the stage about which screeners differ, once as many have decided as decide about each."""
        names, found = set(self.eligible(stage)), self.outcomes[stage].items()
        return [name for name, each in found if each.state == "conflict" and each.decided and name in names]

    def eligible(self, stage: Stage) -> list[str]:
        """The records that the stage is about: all, or for the full text those included by their abstracts."""
        if stage == "abstract":
            return list(self.by_id)
        passed = set(self.of("abstract", "include"))
        return [name for name in self.by_id if name in passed]

    def eligible_for(self, stage: Stage, screener: str | None) -> list[str]:
        """The records at the stage, without those whose place there would tell the screener what another decided."""
        names, abstracts = self.eligible(stage), self.outcomes["abstract"]
        if stage == "abstract":
            return names
        return [name for name in names if abstracts[name].decided or abstracts[name].of(screener)]

    def left_for(self, stage: Stage, screener: str | None) -> list[str]:
        """The records that the screener may decide next: not decided by them for sure, nor by enough others."""
        decided = self.settled(stage, screener)

        def needed(found: Outcome) -> bool:
            sure = sum(each.decision != "maybe" for each in found.labels)
            return not found.resolved and (self.screeners == 1 or sure < self.screeners)

        names = self.eligible_for(stage, screener)
        return [name for name in names if name not in decided and needed(self.outcome(stage, name))]

    def people(self, stage: Stage) -> dict[str | None, int]:
        """How many records of the stage each screener has decided, in the order in which they began."""
        begun = [each.caller for each in self.labels if each.stage == stage and not each.resolves]
        counts = Counter(each.caller for name in self.eligible(stage) for each in self.outcome(stage, name).labels)
        return {each: counts[each] for each in dict.fromkeys(begun)}

    def agreements(self, stage: Stage) -> list[tuple[str, str, Agreement]]:
        """How far each two screeners agree, by what people call them, and by their own decisions before any third
        one."""
        outcomes, rated = self.outcomes[stage].values(), []
        for one, other in combinations(self.people(stage), 2):
            both = [(mine, theirs) for each in outcomes if (mine := each.of(one)) and (theirs := each.of(other))]
            if both:
                found = agreement((mine.decision, theirs.decision) for mine, theirs in both)
                rated.append((screener_name(one), screener_name(other), found))
        return rated

    def stopping(self, stage: Stage, screener: Screener = ALL) -> "Stopping":
        from bio_mcp.screening.ranking import estimate  # loads numpy, which a label does not need

        names = set(self.eligible(stage) if screener is ALL else self.eligible_for(stage, screener))
        decided = [included for name, included in self.settled(stage, screener).items() if name in names]
        return estimate(decided, len(names) - len(decided))

    def summary(self) -> dict[str, Any]:
        """What the review is and how far it is, as JSON."""
        return {
            "review": self.name,
            "screeners": self.screeners,
            "criteria": self.plan.criteria if self.plan else "",
            "records": len(self.records),
            "screened": len(self.settled("abstract")),
            "included": len(self.of("full_text", "include")),
            "conflicts": sum(len(self.conflicts(stage)) for stage in STAGES),
            "created": self.plan.created.date().isoformat() if self.plan else None,
        }

    def status(self, stage: Stage) -> dict[str, Any]:
        """How far the stage is, as JSON: its records by state, how many each screener has decided, how far each two
        agree, and what may still be missed."""
        eligible = self.eligible(stage)
        states = Counter(self.outcome(stage, each).state for each in eligible)
        return {
            "stage": stage,
            "records": len(eligible),
            **{str(state): states[state] for state in get_args(State)},
            "people": [{"by": screener_name(each), "decided": count} for each, count in self.people(stage).items()],
            "agreement": [
                {
                    "between": [one, other],
                    **asdict(each),
                    "per_cent": each.per_cent,
                    "in_words": each.in_words(one, other),
                }
                for one, other, each in self.agreements(stage)
            ],
            "stopping": self.stopping(stage).as_json(),
        }

    def shown(self, record_id: str, stage: Stage, screener: str | None) -> dict[str, Any]:
        """The record with what the screener may see of its decisions, as JSON."""
        found = self.outcome(stage, record_id)
        return {
            **citation(self.by_id[record_id]),
            "state": found.state_for(screener),
            "reason": found.stands.reason if found.stands and found.decided else None,
            "decisions": [decision(each) for each in found.shown_to(screener)],
            "resolved": decision(found.resolved) if found.resolved else None,
        }


def screener_name(screener: str | None) -> str:
    """What people call the screener."""
    return screener or USER


def decision(label: ScreeningLabel) -> dict[str, Any]:
    """A decision, as JSON."""
    by = screener_name(label.caller)
    return {
        "by": by,
        "decision": label.decision,
        "reason": label.reason,
        "at": instant(label.at),
        "short": f"{by}: {label.decision}" + (f" ({label.reason})" if label.reason else ""),
    }


def citation(record: ReviewRecord) -> dict[str, Any]:
    """What tells the record from others, as JSON."""
    return {
        "id": record.record_id,
        "title": record.title,
        "authors": list(record.authors),
        "journal": record.journal,
        "year": record.year,
        "doi": record.doi,
        "pmid": pmid_of(record),
        "url": page_of(record),
    }


def page_of(record: ReviewRecord) -> str | None:
    """The address of its page in PubMed, or of its DOI."""
    pmid = pmid_of(record)
    return pubmed_page(pmid) if pmid else doi_page(record.doi) if record.doi else None


def review_name(
    project: str | None, query_key: str | None, review: str | None, backends: Backends, *, collects: bool = False
) -> str | None:
    """The name of the review that was made, or that of a project or query key; None where none is given. Where it
    `collects`, a project or query key beside a review is what it is collected from.

    Raises `InvalidInput` for several, `NotFound` for an unknown project or review.
    """
    if len([each for each in (project, query_key, review) if each]) > 1 and not (review and collects):
        raise InvalidInput("give either project, query_key or review")
    if review:
        return find_review(review, backends).name
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


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that somebody made; "none" takes an earlier one back."""

    record_id: str
    decision: Decision | Literal["none"]
    reason: str | None = None

    def changes(self, stands: ScreeningLabel | None) -> bool:
        """Whether it is another decision than the one that stands."""
        before = (stands.decision, stands.reason) if stands else ("none", self.reason)
        return before != (self.decision, self.reason)


@dataclass(frozen=True, slots=True)
class Changes:
    """How many labels changed; records that are not in the review, and those that are not at the stage."""

    labelled: int
    unchanged: int
    unknown: tuple[str, ...]
    not_at_stage: tuple[str, ...]


def decide(
    review: Review,
    stage: Stage,
    decisions: Sequence[Decided],
    caller: str | None,
    backends: Backends,
    *,
    resolves: bool = False,
) -> Changes:
    """Store the decisions of a screener, in their order, and audit those that replace or take back another.

    The full text of a record is decided only where its abstract was included. With `resolves` they are third decisions,
    by whoever settles it, and only about records on which screeners differ. A decision that stands already changes
    nothing, and keeps its time.
    """
    eligible, labels = _replaceable(review, stage, caller, resolves=resolves)
    stands = {each.record_id: each for each in labels}  # the last of each record
    wanted = {each.record_id: each for each in decisions}
    new = {name: each for name, each in wanted.items() if name in eligible and each.changes(stands.get(name))}
    now = backends.now()
    made = [
        ScreeningLabel(name, stage, each.decision, now, each.reason, caller, resolves=resolves)
        for name, each in new.items()
        if each.decision != "none"
    ]
    if made:
        backends.screenings.put(review.name, made)
    if gone := [each for each in labels if each.record_id in new and new[each.record_id].decision == "none"]:
        backends.screenings.remove_labels(review.name, gone)
    replaced = {name: each.decision for name, each in new.items() if name in stands}
    if replaced:  # a first decision is its own record
        action = f"review.{stage}.resolved" if resolves else f"review.{stage}"
        backends.audit.record(action, review.name, {name: stands[name].decision for name in replaced}, replaced)
    unknown = tuple(name for name in wanted if name not in review.by_id)
    not_at_stage = tuple(name for name in wanted if name in review.by_id and name not in eligible)
    return Changes(len(new), len(wanted) - len(new) - len(unknown) - len(not_at_stage), unknown, not_at_stage)


def _replaceable(
    review: Review, stage: Stage, caller: str | None, *, resolves: bool
) -> tuple[set[str], list[ScreeningLabel]]:
    """The records that may be decided, and the labels in whose place the decisions come."""
    labels = [each for each in review.labels if each.stage == stage]
    if resolves:
        resolved = [each for each in labels if each.resolves]
        return {*review.conflicts(stage), *(each.record_id for each in resolved)}, resolved
    if review.screeners > 1:
        labels = [each for each in labels if each.caller == caller and not each.resolves]
    return set(review.eligible_for(stage, caller)), labels


def find_record(review: Review, name: str) -> str:
    """The id of the record that a PMID, a DOI or an id names. Raises `NotFound`."""
    given = name.strip()
    for each in (given, normal(parse_pmid, given) or "", f"doi:{normal(doi, given)}"):
        if each in review.ids:
            return review.ids[each]
    raise NotFound(f"the review has no paper {name!r}: give a PMID, a DOI, or the id that the review shows")


def next_records(
    review: Review, stage: Stage, screener: str | None, backends: Backends, *, most: int, criteria: str = ""
) -> "Ranking":
    """Rank what the screener may decide next, by what they decided so far; of a review of one screener, what anybody
    did."""
    from bio_mcp.screening.ranking import rank, vectors_of  # these load numpy, which a report does not need

    open_ = set(review.left_for(stage, screener))
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
    return replace(ranking, warnings=tuple(warnings))
