"""What is found out about a reference."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.literature.references.comparing import Comparison, Difference
from bio_mcp.literature.references.works import CitedWork

Verdict = Literal["found", "doubtful", "not_found", "retracted", "unchecked", "unknown"]


@dataclass(frozen=True, slots=True)
class Checked:
    """The verdict on a reference, and the record that it means.

    found: the record has what the reference states. retracted: so, and the paper was retracted. doubtful: a record is
    near and something differs, or too little is stated to be sure. not_found: PubMed has no such paper. unchecked: it
    is a book, a web page or the like, or states too little to look for. unknown: a service failed,
    which says nothing about it.
    """

    work: CitedWork
    verdict: Verdict
    article: Article | None = None
    agrees: tuple[str, ...] = ()
    differs: tuple[Difference, ...] = ()
    reason: str | None = None

    @property
    def retraction(self) -> RetractionStatus:
        """What became of the paper since, whatever the verdict."""
        return self.article.retraction if self.article else RetractionStatus.UNKNOWN


Compared = tuple[Article, Comparison]


def best(compared: Iterable[Compared]) -> Compared | None:
    """The nearest of these records, with what agrees; None where none is near. Of equal ones the lowest PMID."""
    near = [each for each in compared if each[1].confirms or each[1].is_near]
    order = sorted(near, key=lambda each: (not each[1].confirms, -each[1].score, int(each[0].pmid or 0)))
    return order[0] if order else None


def verdict_on(work: CitedWork, compared: Iterable[Compared], *, complete: bool) -> Checked:
    """Judge a reference by the records that may be meant, as they compare with it.

    `complete`: everything that could be asked was answered.
    """
    found = best(compared)
    if found is None:
        return _without_record(work, complete)
    article, comparison = found
    if comparison.confirms:
        retracted = article.retraction is RetractionStatus.RETRACTED
        verdict: Verdict = "retracted" if retracted else "found"
        return Checked(work, verdict, article, comparison.agrees, comparison.differs)
    if not complete:
        return Checked(work, "unknown", None, reason="a service failed, so another record may be the one that is meant")
    return Checked(work, "doubtful", article, comparison.agrees, comparison.differs, _doubt(comparison))


def _without_record(work: CitedWork, complete: bool) -> Checked:
    if not complete:
        return Checked(work, "unknown", reason="a service failed, which says nothing about this reference")
    if work.kind == "other":
        return Checked(work, "unchecked", reason="no article: PubMed has few books, web pages, reports and data sets")
    if not (work.title or work.doi or work.pmid or work.pmcid or (work.journal and work.pages)):
        return Checked(work, "unchecked", reason="it states too little to look for")
    return Checked(work, "not_found", reason="PubMed has no such paper")


def _doubt(comparison: Comparison) -> str:
    fields = {each.field for each in comparison.serious}
    if not fields:
        return "it states too little to be sure that this record is meant"
    if {"pmid", "doi", "pmcid"} & set(comparison.agrees) and "title" in fields:
        return "its id is of another paper than its title"
    return f"{' and '.join(sorted(fields))} {'differ' if len(fields) > 1 else 'differs'} from the record"
