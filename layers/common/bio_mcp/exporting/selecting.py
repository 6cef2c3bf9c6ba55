"""Which papers an export has, and the record of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bio_mcp.answering.project_search import abstract_of, pmids_of
from bio_mcp.answering.search import LEAST_RELEVANCE, papers_that_fit
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, NotFound, UpstreamFailed
from bio_mcp.literature.records import AbstractSection, Article, Author, Journal, PartialDate, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Decision, ReviewRecord, Stage, review_of_project, review_of_query
from bio_mcp.querying import search as fetching
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.screening.collecting import record_id_of
from bio_mcp.screening.deduplicating import pmid_of
from bio_mcp.screening.reviews import STAGES, Outcome, Review, find_review, review_of
from bio_mcp.syncing.news import check_followed


@dataclass(frozen=True, slots=True)
class Record:
    """A paper, with what a screening decided and why; None where nobody decided.

    A document of a project that is not in PubMed is an article without a PMID. `citekey` is the project's. By `said`,
    each stage has what its screeners decided, in words, once all of them did; `found_by` names the searched databases.
    """

    article: Article
    decision: Decision | None = None
    reason: str | None = None
    citekey: str | None = None
    said: Mapping[Stage, str] = field(default_factory=dict)
    found_by: tuple[str, ...] = ()

    @property
    def included(self) -> bool | None:
        """None where it is not settled."""
        return {"include": True, "exclude": False}.get(self.decision or "")

    @property
    def headings(self) -> list[str]:
        """MeSH headings, `Heading/qualifier/qualifier`, without marks of what the article is mainly about."""
        return ["/".join([each.name, *(part.name for part in each.qualifiers)]) for each in self.article.mesh]

    @property
    def subjects(self) -> list[str]:
        return list(dict.fromkeys([*self.headings, *self.article.keywords]))


_ASKED_S = 10.0  # for which PubMed is asked for some records of a review, which has the most of them itself
_AWAY = (
    "PubMed could not be asked, so records of the review that the corpus lacks have title, abstract, year and DOI alone"
)


@dataclass
class Selection:
    """What is exported: `pmids`, the papers of the corpus that `query` finds, all that the followed query `query_key`
    has found, the documents of `project`, both with the records of their review, or those of `review`.

    It names the papers, and reads them. A name is a PMID, the id of a document of the project that is not in PubMed, or
    that of a record of the review. `left_out` counts papers that a question found and that are less relevant than
    `least_relevance`, `reviewed` those that are there as records of the review alone.
    """

    backends: Backends
    deadline: Deadline
    pmids: Sequence[str] = ()
    query: str = ""
    query_key: str = ""
    project: str = ""
    review: str = ""
    limit: int | None = None
    least_relevance: float = LEAST_RELEVANCE
    left_out: int = 0
    reviewed: int = 0
    warnings: list[str] = field(default_factory=list)

    def names(self) -> list[str]:
        """Every paper once: as asked for, the best first, by PMID, or by the document's id; then the review's."""
        if self.query:
            found = papers_that_fit(self.query, self.backends, self.deadline, self.least_relevance, self.limit)
            self.warnings += found.warnings
            self.left_out = found.left_out
            return list(found.pmids)
        if self.pmids:
            return list(dict.fromkeys(self.pmids))
        if self.review:
            return list(find_review(self.review, self.backends).by_id)
        if self.project:
            names = list(self._works)
        else:
            try:
                self.warnings += check_followed(self.query_key, self.backends)
            except NotFound:  # a review of its own
                if not self._review.records:
                    raise
            names = list(self.backends.news.pmids(self.query_key))
        there = {each for name in names for each in self._ids(name)}
        others = [each for each in self._review.by_id if each not in there]
        self.reviewed = len(others)
        return [*names, *others]

    def records(self, names: Sequence[str]) -> dict[str, Record]:
        """The records of these papers, by name; one that is nowhere is absent.

        Papers that were asked for by PMID, or are in the review, and that the corpus lacks are fetched from PubMed; of
        a project, the document says what it is. What PubMed does not give of a review is as the review has it.
        """
        stored = self.backends.documents.get_many([each for each in names if each.isdecimal()])
        found = {name: each.article for name, each in stored.items()}
        rest = [each for each in names if each not in found]
        if self.project:
            collection = self.backends.projects.get(self.project).collection
            for name in rest:
                if work := self._works.get(name):
                    abstract = abstract_of(self.backends.collections.document(collection, work.doc_id))
                    found[name] = described(work, abstract)
        reviewed = self._review.by_id
        absent = [each for each in rest if each not in found and each.isdecimal() and (self.pmids or each in reviewed)]
        if absent:
            found |= self._fetched(absent)
        found |= {each: _as_screened(reviewed[each]) for each in rest if each not in found and each in reviewed}
        return {name: self._decided(name, found[name]) for name in names if name in found}

    def _fetched(self, pmids: list[str]) -> dict[str, Article]:
        """What PubMed has of them. Raises `UpstreamFailed`, but for records of a review, which warns of it."""
        pubmed = self.backends.pubmed
        if self.pmids:
            return fetching.articles(pmids, pubmed, self.deadline)
        try:
            return {} if _AWAY in self.warnings else fetching.articles(pmids, pubmed, self.deadline.share(_ASKED_S))
        except (UpstreamFailed, DeadlineExceeded):
            self.deadline.check("reading records of the review from PubMed")
            self.warnings.append(_AWAY)
            return {}

    def _decided(self, name: str, article: Article) -> Record:
        """The record with the decision of its latest stage, and what each screener decided where all have."""
        citekey = self._works[name].citekey if self.project and name in self._works else None
        of = next((each for each in (*self._ids(name), f"doi:{article.doi}") if each in self._review.by_id), None)
        if of is None:
            return Record(article, citekey=citekey)
        outcomes = {stage: self._review.outcome(stage, of) for stage in STAGES}
        said = {stage: text for stage, each in outcomes.items() if (text := _in_words(each))}
        last = self._review.final(of)
        return Record(
            article,
            last.decision if last else None,
            last.reason if last else None,
            citekey,
            said,
            self._found_by.get(of, ()),
        )

    def _ids(self, name: str) -> tuple[str, ...]:
        """By which a review may have what is named so."""
        work = self._works.get(name) if self.project else None
        other = self._review.ids.get(name)
        return tuple(filter(None, (name, other, record_id_of(work) if work else None)))

    @cached_property
    def _review(self) -> Review:
        """The review of the query key or project, or the one that is asked for; an empty one for other selections."""
        if not (self.query_key or self.project or self.review):
            return Review("", (), ())
        named = self.review
        if self.query_key or self.project:
            named = review_of_query(self.query_key) if self.query_key else review_of_project(self.project)
        return review_of(named, self.backends.screenings)

    @cached_property
    def _found_by(self) -> Mapping[str, tuple[str, ...]]:
        """The databases that have found each record of the review, in the order of the searches."""
        found: dict[str, dict[str, None]] = {}
        for search in self.backends.screenings.searches(self._review.name) if self._review.records else ():
            for each in search.record_ids:
                found.setdefault(each, {})[search.database] = None
        return {name: tuple(each) for name, each in found.items()}

    @cached_property
    def _works(self) -> dict[str, Work]:
        """The works of the project by name; one that is known by its DOI has the PMID of the paper in the corpus.

        Raises `NotFound`, which names the projects that exist.
        """
        self.backends.projects.get(self.project)
        works = [each.work for each in self.backends.project_documents.all(self.project)]
        return {pmid or each.doc_id: each for each, pmid in zip(works, pmids_of(works, self.backends), strict=True)}


def _in_words(outcome: Outcome) -> str:
    """`ann: include; bob: exclude (wrong population); resolved by cem: include`; "" while others have to decide."""
    if outcome.state == "awaiting":
        return ""
    shown = [*outcome.labels, *([outcome.resolved] if outcome.resolved else [])]
    return "; ".join(
        f"{'resolved by ' if each.resolves else ''}{each.caller or 'user'}: {each.decision}"
        f"{f' ({each.reason})' if each.reason else ''}"
        for each in shown
    )


def _as_screened(record: ReviewRecord) -> Article:
    """A record of a review that is nowhere else, as the review has it."""
    return Article(
        pmid=pmid_of(record),
        title=record.title,
        abstract=(AbstractSection(None, None, record.abstract),) if record.abstract else (),
        authors=tuple(map(_author, record.authors)),
        journal=Journal(record.journal, volume=record.volume or None, issue=record.issue or None)
        if record.journal
        else None,
        pages=record.pages or None,
        publication_date=PartialDate(str(record.year), record.year) if record.year else None,
        doi=record.doi,
        keywords=record.keywords,
        retraction=RetractionStatus.UNKNOWN,
    )


def described(work: Work, abstract: str = "") -> Article:
    """A document of a project as an article, as far as the project knows it."""
    return Article(
        pmid=work.pmid or "",
        title=work.title or work.source,
        abstract=(AbstractSection(None, None, abstract),) if abstract else (),
        authors=tuple(map(_author, work.authors)),
        publication_date=PartialDate(str(work.year), work.year) if work.year else None,
        journal=Journal(work.journal) if work.journal else None,
        doi=work.doi,
        keywords=work.tags,
        retraction=RetractionStatus.UNKNOWN,
    )


def _author(name: str) -> Author:
    """`Doe, Jane`, or `van der Berg JP`: family names, then initials in capitals; any other name is a group's."""
    inverted, comma, given = name.partition(",")
    if comma and given.strip():
        return Author(last_name=inverted.strip(), fore_name=given.strip())
    name = name.replace(".", "")
    family, _, initials = name.rpartition(" ")
    if family and initials.isalpha() and initials.isupper() and len(initials) <= 4:
        return Author(last_name=family, initials=initials)
    return Author(collective_name=name)
