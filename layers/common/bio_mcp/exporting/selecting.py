"""Which papers an export has, and the record of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

from bio_mcp.answering.project_search import abstract_of, pmids_of
from bio_mcp.answering.search import Question, Sort, page, search_papers
from bio_mcp.deadline import Deadline
from bio_mcp.literature.records import AbstractSection, Article, Author, Journal, PartialDate, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Stage, review_of_project, review_of_query
from bio_mcp.querying import search as fetching
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.syncing.news import check_followed


@dataclass(frozen=True, slots=True)
class Record:
    """A paper, and whether a screening included it; None where nobody decided.

    A document of a project that is not in PubMed is an article without a PMID. `citekey` is the project's.
    """

    article: Article
    included: bool | None = None
    citekey: str | None = None

    @property
    def headings(self) -> list[str]:
        """MeSH headings, `Heading/qualifier/qualifier`, without marks of what the article is mainly about."""
        return ["/".join([each.name, *(part.name for part in each.qualifiers)]) for each in self.article.mesh]

    @property
    def subjects(self) -> list[str]:
        return list(dict.fromkeys([*self.headings, *self.article.keywords]))


STAGES = get_args(Stage)  # in their order


@dataclass
class Selection:
    """What is exported: `pmids`, the best `limit` papers of the corpus for `query`, all that the followed query
    `query_key` has found, or the documents of `project`.

    It names the papers, and reads them. A name is a PMID, or the id of a document of the project that is not in PubMed.
    """

    backends: Backends
    deadline: Deadline
    pmids: Sequence[str] = ()
    query: str = ""
    query_key: str = ""
    project: str = ""
    limit: int = 0
    warnings: list[str] = field(default_factory=list)

    def names(self) -> list[str]:
        """Every paper once: as asked for, the best first, by PMID, or by the document's id."""
        if self.project:
            return list(self._works)
        if self.query_key:
            self.warnings += check_followed(self.query_key, self.backends)
            return list(self.backends.news.pmids(self.query_key))
        if self.query:
            retrieved = search_papers(Question(self.query), self.backends, self.deadline)
            self.warnings += retrieved.warnings
            found = page(retrieved, Sort.RELEVANCE, 0, self.limit, self.backends)
            return [each.candidate.pmid for each in found.places]
        return list(dict.fromkeys(self.pmids))

    def records(self, names: Sequence[str]) -> dict[str, Record]:
        """The records of these papers, by name; one that is nowhere is absent.

        Papers that were asked for by PMID and that the corpus lacks are fetched from PubMed; of a project, the document
        says what it is.
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
        elif rest and self.pmids:
            found |= fetching.articles(rest, self.backends.pubmed, self.deadline)
        records = {}
        for name in names:
            if article := found.get(name):
                by_doi = self._included.get(f"doi:{article.doi}") if article.doi else None
                work = self._works.get(name) if self.project else None
                records[name] = Record(article, self._included.get(name, by_doi), work.citekey if work else None)
        return records

    @cached_property
    def _included(self) -> Mapping[str, bool]:
        """What the review of the query or project decided, by its ids of records; what was read in full counts."""
        if not (self.query_key or self.project):
            return {}
        named = review_of_query(self.query_key) if self.query_key else review_of_project(self.project)
        labels = [each for each in self.backends.screenings.labels(named) if each.decision != "maybe"]
        labels.sort(key=lambda each: STAGES.index(each.stage))
        return {each.record_id: each.decision == "include" for each in labels}

    @cached_property
    def _works(self) -> dict[str, Work]:
        """The works of the project by name; one that is known by its DOI has the PMID of the paper in the corpus.

        Raises `NotFound`, which names the projects that exist.
        """
        self.backends.projects.get(self.project)
        works = [each.work for each in self.backends.project_documents.all(self.project)]
        return {pmid or each.doc_id: each for each, pmid in zip(works, pmids_of(works, self.backends), strict=True)}


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
    """`van der Berg JP`: family names, then initials in capitals; any other name is a group's."""
    family, _, initials = name.rpartition(" ")
    if family and initials.isalpha() and initials.isupper() and len(initials) <= 4:
        return Author(last_name=family, initials=initials)
    return Author(collective_name=name)
