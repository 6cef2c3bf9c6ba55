"""The rules of quality, one by one."""

import pytest

from bio_mcp.literature.quality import best_design, design, human, journal_rank, journal_ranks, quality, recency, year
from bio_mcp.literature.records import Article, Book, Journal, PartialDate, RetractionStatus
from tests.support.memory_corpus import TODAY, article

HUMANS, ANIMALS, MICE = ("D006801", "Humans"), ("D000818", "Animals"), ("D051379", "Mice")
TRIAL, REVIEW, META = ("D016449", "Randomized Controlled Trial"), ("D016454", "Review"), ("D017418", "Meta-Analysis")
NEJM = Journal(title="The New England journal of medicine", nlm_id="0255562", issn_l="0028-4793")


@pytest.mark.parametrize(
    ("types", "points"),
    [
        ([META], 3),
        ([("D000078182", "Systematic Review"), REVIEW], 3),
        ([TRIAL], 2),
        ([("D016422", "Letter"), TRIAL], 2),
        ([("D016430", "Clinical Trial")], 1),
        ([("D015331", "Cohort Studies")], 1),
        ([("D017065", "Practice Guideline"), REVIEW], 3),
        ([("D016447", "Consensus Development Conference, NIH")], 1),
        ([("D016420", "Comment")], 0),
        ([("D000076942", "Preprint")], None),
        ([REVIEW], 0),
        ([("D016428", "Journal Article")], None),
        ([], None),
    ],
)
def test_design_is_the_best_publication_type(types, points):
    assert design(article(types=types)) == points


@pytest.mark.parametrize(
    ("types", "name"),
    [
        (
            ["D003160 Comparative Study", "D016448 Multicenter Study", "D064888 Observational Study"],
            "observational study",
        ),
        (["D016448 Multicenter Study", "D016449 Randomized Controlled Trial"], "randomized controlled trial"),
        (["D016448 Multicenter Study"], "multicenter study"),
    ],
)
def test_a_type_that_a_study_of_any_design_may_have_names_it_only_where_no_other_does(types, name):
    assert best_design(article(types=[each.split(" ", 1) for each in types]))[1] == name
    headed = article(types=[("D016448", "Multicenter Study")], mesh=[("D011446", "Prospective Studies")])
    assert best_design(headed)[1] == "prospective study"


def test_a_study_of_animals_only_is_preclinical_and_observational_designs_are_read_off_mesh_too():
    assert design(article(mesh=[ANIMALS, MICE])) == 0
    assert design(article(mesh=[ANIMALS], types=[TRIAL])) == 2
    assert design(article(mesh=[HUMANS, ("D015331", "Cohort Studies")])) == 1


@pytest.mark.parametrize(
    ("published", "points"), [(2025, 2), (2020, 2), (2019, 1), (2015, 1), (2014, 0), (2027, 2), (None, None)]
)
def test_recency_counts_calendar_years(published, points):
    assert recency(published, TODAY) == points


@pytest.mark.parametrize(("mesh", "points"), [([HUMANS, ANIMALS], 2), ([ANIMALS], 1), ([MICE], 0), ([], None)])
def test_human_is_unknown_before_mesh_indexing(mesh, points):
    assert human(article(mesh=mesh)) == points


@pytest.mark.parametrize(
    ("journal", "rank"),
    [
        (NEJM, 2),
        (Journal(nlm_id="0255562"), 2),
        (Journal(issn_l="0028-4793"), 2),
        (Journal(nlm_id="100957246"), 1),
        (Journal(nlm_id="1234567X"), 0),
        (Journal(title="The New England journal of medicine"), None),
        (None, None),
    ],
)
def test_a_journal_is_known_by_nlm_id_or_linking_issn_and_never_by_name(journal, rank):
    assert journal_rank(journal) == rank


def test_every_linking_issn_of_the_table_has_its_check_digit():
    for issn in (key for key in journal_ranks() if "-" in key):
        digits = [10 if digit == "X" else int(digit) for digit in issn.replace("-", "")]
        assert sum(weight * digit for weight, digit in zip(range(8, 0, -1), digits, strict=True)) % 11 == 0, issn


def test_the_total_is_the_sum_of_what_is_known_and_says_why():
    best = quality(article(types=[META], mesh=[HUMANS], journal=NEJM, year=2024), TODAY)
    assert (best.design, best.recency, best.journal, best.human, best.total) == (3, 2, 2, 2, 9)
    assert best.reasons[:2] == ("meta-analysis (+3)", "published 2024 (+2)")
    assert best.reasons[2:] == ("The New England journal of medicine (+2)", "studied in humans (+2)")


def test_unknown_is_not_zero():
    nothing = quality(Article(pmid="1"), TODAY)
    assert (nothing.design, nothing.recency, nothing.journal, nothing.human) == (None, None, None, None)
    assert (nothing.total, nothing.reasons) == (0, ())


def test_a_retracted_paper_has_total_zero_and_says_why():
    retracted = quality(article(types=[META], mesh=[HUMANS], retraction=RetractionStatus.RETRACTED), TODAY)
    assert (retracted.design, retracted.total) == (3, 0)
    assert retracted.reasons == ("retracted: counts as no evidence",)


def test_the_year_is_the_issues_then_the_electronic_then_the_books():
    assert year(article(year=2020, electronic_date=PartialDate("2019", 2019))) == 2020
    assert year(article(year=None, electronic_date=PartialDate("2019", 2019))) == 2019
    assert year(article(year=None, book=Book(contribution_date=PartialDate("2018", 2018)))) == 2018
