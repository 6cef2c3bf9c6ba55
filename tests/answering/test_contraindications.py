"""How strong evidence is follows from the designs, the number and the retractions of the papers that are cited."""

import pytest

from bio_mcp.answering.contraindications import Strength, grade, paper_of
from bio_mcp.literature.quality import ANIMALS, HUMANS
from bio_mcp.literature.records import Document, RetractionStatus
from tests.support.memory_corpus import article

REVIEW, RANDOMIZED, COHORT, CASE = (
    ("D000078182", "Systematic Review"),
    ("D016449", "Randomized Controlled Trial"),
    ("D015331", "Cohort Studies"),
    ("D002363", "Case Reports"),
)
IN_ANIMALS, IN_HUMANS = ((ANIMALS, "Animals"),), ((HUMANS, "Humans"),)


def paper(pmid, kind, mesh=IN_HUMANS, retraction=RetractionStatus.CLEAR):
    return paper_of(pmid, Document(article(pmid, types=[kind], mesh=mesh, retraction=retraction), "hash"))


@pytest.mark.parametrize(
    ("strength", "kinds"),
    [
        (Strength.HIGH, [REVIEW]),
        (Strength.HIGH, [RANDOMIZED, RANDOMIZED]),
        (Strength.MODERATE, [RANDOMIZED, COHORT]),
        (Strength.MODERATE, [COHORT, COHORT]),
        (Strength.LOW, [COHORT, CASE]),
        (Strength.LOW, [CASE] * 9),
        (Strength.LOW, []),
    ],
)
def test_the_strength_follows_from_the_designs_and_their_number(strength, kinds):
    graded = grade([paper(str(place), kind) for place, kind in enumerate(kinds, start=1)])
    assert graded.strength is strength
    assert graded.derivation[0].startswith(strength.name.lower())


def test_a_retracted_paper_is_no_evidence_and_the_derivation_says_so():
    graded = grade([paper("1", REVIEW, retraction=RetractionStatus.RETRACTED), paper("2", CASE)])
    assert graded.strength is Strength.LOW
    assert graded.derivation == (
        "low: no more than PMID 2 (2024, case report)",
        "PMID 1 (2024, systematic review, retracted) does not count",
    )


def test_a_paper_under_concern_counts_as_the_weakest_and_a_trial_of_animals_is_preclinical():
    assert grade([paper("1", REVIEW, retraction=RetractionStatus.CONCERN)]).strength is Strength.LOW
    assert grade([paper("1", RANDOMIZED, IN_ANIMALS)]).strength is Strength.LOW
    assert "of animals" in paper("1", RANDOMIZED, IN_ANIMALS).summary


def test_a_paper_that_the_corpus_does_not_have_adds_nothing_that_is_not_known():
    graded = grade([paper_of("1", None), paper_of("2", None)])
    assert graded.strength is Strength.LOW
    assert "not in the corpus" in graded.derivation[0]
