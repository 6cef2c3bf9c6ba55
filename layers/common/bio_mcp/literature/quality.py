"""Evidence quality of a paper: 0 to 9 points, with the reasons.

The total is the sum of four components: study design 0..3 by publication type, recency 0..2, journal 0..2 by an
authored table (journals.md), humans studied 0..2. A component is None when the record does not say, which differs
from 0 and adds nothing. A retracted paper has total 0. Recency is taken at read time, so an index can store the
other three.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources

from bio_mcp.literature.records import Article, Journal, RetractionStatus

QUALITY_VERSION = 2  # of these rules and of journals.tsv
RETRACTED = "retracted: counts as no evidence"

HUMANS, ANIMALS = "D006801", "D000818"

DESIGNS: Mapping[str, tuple[int, str]] = {
    "D000078182": (3, "systematic review"),
    "D017418": (3, "meta-analysis"),
    "D000071083": (3, "network meta-analysis"),
    "D017065": (3, "practice guideline"),
    "D016431": (3, "guideline"),
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
    "D018486": (1, "twin study"),
    "D015331": (1, "cohort study"),
    "D016022": (1, "case-control study"),
    "D000081262": (1, "veterinary randomized trial"),
    "D016446": (1, "consensus statement"),
    "D016447": (1, "NIH consensus statement"),
    "D003160": (1, "comparative study"),
    "D016448": (1, "multicenter study"),
    "D023362": (1, "evaluation study"),
    "D023361": (1, "validation study"),
    "D002363": (0, "case report"),
    "D016454": (0, "narrative review"),
    "D016421": (0, "editorial"),
    "D016422": (0, "letter"),
    "D016420": (0, "comment"),
    "D016433": (0, "news"),
    "D018431": (0, "newspaper article"),
    "D017203": (0, "interview"),
    "D062210": (0, "personal narrative"),
    "D016429": (0, "clinical conference"),
    "D019531": (0, "lecture"),
    "D016456": (0, "historical article"),
    "D019215": (0, "biography"),
    "D029282": (0, "patient education handout"),
}
"""Publication type UI -> points and name. The best of a record's types counts. Types that say nothing of a design, such
as Preprint or Dataset, have none."""

VAGUE = frozenset(["comparative study", "multicenter study", "evaluation study", "validation study"])
"""Names that a study of any design may have; of the designs of equal points another names it better."""

HEADING_DESIGNS = {
    **{ui: DESIGNS[ui] for ui in ("D015331", "D016022")},
    "D008137": (1, "longitudinal study"),
    "D011446": (1, "prospective study"),
    "D012189": (1, "retrospective study"),
    "D003430": (1, "cross-sectional study"),
    "D005500": (1, "follow-up study"),
}
"""MeSH heading UI -> the same, for observational designs that NLM marks by heading and not by type."""

_OBSERVED = {
    0: "case report, review or opinion",
    1: "trial, observational study or consensus",
    2: "randomized trial",
}
_BEST = "systematic review, meta-analysis or guideline"

DESIGN_NAMES = ("no design named", *_OBSERVED.values(), _BEST)
"""What a paper's points for study design mean: the first where it has none, then those of 0 to 3."""


@dataclass(frozen=True, slots=True)
class StaticQuality:
    """The components of quality that do not change with the calendar. None: unknown, which is not 0."""

    design: int | None = None  # 0..3
    journal: int | None = None  # 0..2
    human: int | None = None  # 0..2


@dataclass(frozen=True, slots=True)
class Quality:
    """The components, their sum (0..9) and one reason for each known component."""

    design: int | None
    recency: int | None
    journal: int | None
    human: int | None
    total: int
    reasons: tuple[str, ...]


def quality(article: Article, today: date) -> Quality:
    """Assess `article` as of `today`; the reasons name the study design and the journal."""
    shown = best_design(article)
    return total_quality(
        static_quality(article),
        year(article),
        article.retraction,
        today,
        design_name=shown[1] if shown else None,
        journal_name=article.journal.title if article.journal else None,
    )


def static_quality(article: Article) -> StaticQuality:
    return StaticQuality(design(article), journal_rank(article.journal), human(article))


def total_quality(
    static: StaticQuality,
    year: int | None,
    retraction: RetractionStatus,
    today: date,
    *,
    design_name: str | None = None,
    journal_name: str | None = None,
) -> Quality:
    """Combine stored components with the year of publication, as of `today`.

    Without `design_name` and `journal_name` the reasons fall back to general words ("randomized trial"), since an index
    stores points and no names.
    """
    design, journal, human, recent = static.design, static.journal, static.human, recency(year, today)
    total = total_of(static, year, retraction, today)
    if retraction is RetractionStatus.RETRACTED:
        return Quality(design, recent, journal, human, total, (RETRACTED,))
    known = (
        (design, design_name or _OBSERVED.get(design or 0, _BEST)),
        (recent, f"published {year}"),
        (journal, journal_name or ("journal of a leading rank" if journal else "no journal of a leading rank")),
        (human, ("neither humans nor animals", "animals only", "studied in humans")[human or 0]),
    )
    reasons = tuple(f"{what} (+{points})" for points, what in known if points is not None)
    return Quality(design, recent, journal, human, total, reasons)


def total_of(static: StaticQuality, year: int | None, retraction: RetractionStatus, today: date) -> int:
    """Compute the total alone, 0..9; for ranking, where reasons would cost time."""
    if retraction is RetractionStatus.RETRACTED:
        return 0
    return (static.design or 0) + (static.journal or 0) + (static.human or 0) + (recency(year, today) or 0)


def design(article: Article) -> int | None:
    """Points for study design, 0..3, by the best publication type.

    A study of animals only, with no listed type, has 0. None: the record names no listed design.
    """
    best = best_design(article)
    return best[0] if best else None


def best_design(article: Article) -> tuple[int, str] | None:
    """Points (0..3) and name of the best design among publication types and MeSH headings; None where none is listed.

    A study of animals only, with no listed type, is preclinical and has 0.
    """
    designs = [DESIGNS[kind.ui] for kind in article.publication_types if kind.ui in DESIGNS]
    designs += [HEADING_DESIGNS[heading.ui] for heading in article.mesh if heading.ui in HEADING_DESIGNS]
    if not designs and human(article) == 1:
        return 0, "preclinical study"
    return max(designs, key=lambda design: (design[0], design[1] not in VAGUE), default=None)


def recency(year: int | None, today: date) -> int | None:
    """Points for recency: 2 up to five calendar years ago, 1 up to ten, else 0. None without a year."""
    if year is None:
        return None
    age = today.year - year
    return 2 if age <= 5 else 1 if age <= 10 else 0


def year(article: Article) -> int | None:
    """Year of publication: of the issue, else of the electronic article, else of the book's contribution."""
    contributed = article.book.contribution_date if article.book else None
    dates = (article.publication_date, article.electronic_date, contributed)
    return next((each.year for each in dates if each and each.year), None)


def human(article: Article) -> int | None:
    """Points for humans studied: 2 with the MeSH heading Humans, 1 with Animals only, 0 with neither.

    None before MeSH indexing; 98 % of fresh records have no headings yet.
    """
    if not article.mesh:
        return None
    headings = {heading.ui for heading in article.mesh}
    return 2 if HUMANS in headings else 1 if ANIMALS in headings else 0


def journal_rank(journal: Journal | None) -> int | None:
    """Points for the journal by NLM id or linking ISSN in journals.tsv: 2, 1, or 0 when it is not listed.

    None when the record gives neither id.
    """
    if journal is None or not (journal.nlm_id or journal.issn_l):
        return None
    ranks = journal_ranks()
    return max(ranks.get(journal.nlm_id or "", 0), ranks.get(journal.issn_l or "", 0))


@cache
def journal_ranks() -> Mapping[str, int]:
    """Map NLM id and linking ISSN to rank, from the shipped table; read once per process."""
    table = resources.files("bio_mcp.literature").joinpath("journals.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(table.splitlines(), delimiter="\t")
    return {key: int(row["rank"]) for row in rows for key in (row["nlm_id"], row["issn_l"]) if key}
