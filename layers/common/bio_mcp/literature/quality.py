"""How much a paper weighs as evidence: 0 to 9, with the reasons.

Four components: study design 0..3 by publication type, recency 0..2, journal 0..2 by an authored table
(journals.md), humans studied 0..2. None means that the record does not say, which is not 0; the total is the sum of
those known. A retracted paper has total 0. Recency is taken at read time, so an index can keep the other three.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources

from bio_mcp.literature.records import Article, Journal, RetractionStatus

QUALITY_VERSION = 1  # of these rules and of journals.tsv
RETRACTED = "retracted: counts as no evidence"

HUMANS, ANIMALS = "D006801", "D000818"

DESIGNS: Mapping[str, tuple[int, str]] = {
    "D000078182": (3, "systematic review"),
    "D017418": (3, "meta-analysis"),
    "D000071083": (3, "network meta-analysis"),
    "D016449": (2, "randomized controlled trial"),
    "D062165": (1, "equivalence trial"),
    "D065007": (1, "pragmatic clinical trial"),
    "D000076362": (1, "adaptive clinical trial"),
    "D018848": (1, "controlled clinical trial"),
    "D016430": (1, "clinical trial"),
    "D017426": (1, "phase I trial"),
    "D017427": (1, "phase II trial"),
    "D017428": (1, "phase III trial"),
    "D017429": (1, "phase IV trial"),
    "D000068397": (1, "clinical study"),
    "D064888": (1, "observational study"),
    "D003160": (1, "comparative study"),
    "D018486": (1, "twin study"),
    "D015331": (1, "cohort study"),
    "D016022": (1, "case-control study"),
    "D002363": (0, "case report"),
    "D016454": (0, "narrative review"),
    "D016421": (0, "editorial"),
    "D016422": (0, "letter"),
}
"""Publication type UI -> points and name. The best of a record's types counts."""

HEADING_DESIGNS = {
    **{ui: DESIGNS[ui] for ui in ("D015331", "D016022")},
    "D008137": (1, "longitudinal study"),
    "D011446": (1, "prospective study"),
    "D012189": (1, "retrospective study"),
    "D003430": (1, "cross-sectional study"),
    "D005500": (1, "follow-up study"),
}
"""MeSH heading UI -> the same, for observational designs that NLM marks by heading and not by type."""

_OBSERVED = {0: "case report, review or opinion", 1: "trial or observational study", 2: "randomized trial"}


@dataclass(frozen=True, slots=True)
class Quality:
    """Components, their sum (0..9) and one reason for each component that is known."""

    design: int | None
    recency: int | None
    journal: int | None
    human: int | None
    total: int
    reasons: tuple[str, ...]


def quality(article: Article, today: date) -> Quality:
    """The quality of `article` as of `today`, with reasons that name the design and the journal."""
    shown = _best_design(article)
    return total_quality(
        design(article),
        journal_rank(article.journal),
        human(article),
        year(article),
        article.retraction,
        today,
        design_name=shown[1] if shown else None,
        journal_name=article.journal.title if article.journal else None,
    )


def total_quality(
    design: int | None,
    journal: int | None,
    human: int | None,
    year: int | None,
    retraction: RetractionStatus,
    today: date,
    *,
    design_name: str | None = None,
    journal_name: str | None = None,
) -> Quality:
    """Put components kept in an index together with the year of publication and the day it is."""
    fresh = recency(year, today)
    if retraction is RetractionStatus.RETRACTED:
        return Quality(design, fresh, journal, human, 0, (RETRACTED,))
    total = total_of(design, journal, human, year, retraction, today)
    reasons = (
        *_reason(design, design_name or _OBSERVED.get(design or 0, "systematic review or meta-analysis")),
        *_reason(fresh, f"published {year}"),
        *_reason(journal, journal_name or ("listed journal" if journal else "journal not listed")),
        *_reason(human, ("neither humans nor animals", "animals only", "studied in humans")[human or 0]),
    )
    return Quality(design, fresh, journal, human, total, reasons)


def total_of(
    design: int | None,
    journal: int | None,
    human: int | None,
    year: int | None,
    retraction: RetractionStatus,
    today: date,
) -> int:
    """The total alone, 0..9."""
    if retraction is RetractionStatus.RETRACTED:
        return 0
    return (design or 0) + (journal or 0) + (human or 0) + (recency(year, today) or 0)


def _reason(points: int | None, what: str) -> tuple[str, ...]:
    return () if points is None else (f"{what} (+{points})",)


def design(article: Article) -> int | None:
    """0..3 by the best publication type; 0 for a study of animals only without one; None: not known."""
    best = _best_design(article)
    return best[0] if best else None


def _best_design(article: Article) -> tuple[int, str] | None:
    found = [DESIGNS[each.ui] for each in article.publication_types if each.ui in DESIGNS]
    found += [HEADING_DESIGNS[each.ui] for each in article.mesh if each.ui in HEADING_DESIGNS]
    if not found and human(article) == 1:
        return 0, "preclinical study"
    return max(found, key=lambda each: each[0], default=None)


def recency(year: int | None, today: date) -> int | None:
    """2 within five years, 1 within ten, else 0, counted in calendar years."""
    if year is None:
        return None
    age = today.year - year
    return 2 if age <= 5 else 1 if age <= 10 else 0


def year(article: Article) -> int | None:
    """The year of publication: of the issue, else of the electronic article, else of the book's contribution."""
    contributed = article.book.contribution_date if article.book else None
    dates = (article.publication_date, article.electronic_date, contributed)
    return next((each.year for each in dates if each and each.year), None)


def human(article: Article) -> int | None:
    """2 with the MeSH heading Humans, 1 with Animals only, 0 with neither, None before MeSH indexing."""
    if not article.mesh:
        return None
    headings = {heading.ui for heading in article.mesh}
    return 2 if HUMANS in headings else 1 if ANIMALS in headings else 0


def journal_rank(journal: Journal | None) -> int | None:
    """2 or 1 by NLM id or linking ISSN in journals.tsv, 0 for any other journal, None when neither id is known."""
    if journal is None or not (journal.nlm_id or journal.issn_l):
        return None
    ranks = journal_ranks()
    return max(ranks.get(journal.nlm_id or "", 0), ranks.get(journal.issn_l or "", 0))


@cache
def journal_ranks() -> Mapping[str, int]:
    """NLM id or linking ISSN -> rank, from the shipped table."""
    table = resources.files("bio_mcp.literature").joinpath("journals.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(table.splitlines(), delimiter="\t")
    return {key: int(row["rank"]) for row in rows for key in (row["nlm_id"], row["issn_l"]) if key}
