"""Misspelt words, by the words of a corpus."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.retrieval.spelling import Spelling

PAPERS = {
    "diabetes": 50, "diabetic": 20, "metformin": 30, "asthma": 40, "fibrosis": 9, "prednisolone": 9, "tumour": 30,
    "heart": 50, "hearth": 1, "hypertension": 30, "hypotension": 12, "früher": 2, "trial": 9, "trail": 3, "sepsis": 7,
    "lactose": 4, "arthrosis": 5, "hypokalemia": 3, "funnel": 9, "rhas": 1,
}  # fmt: skip
SPELLING = Spelling(PAPERS.items())


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("diabetis", "diabetes"),
        ("diabtes", "diabetes"),
        ("metfromin", "metformin"),
        ("metfromine", "metformin"),
        ("ashtma", "asthma"),
        ("asma", None),  # two letters are wrong, of a short word
        ("hyprtensoin", "hypertension"),
        ("sepsiss", "sepsis"),
        ("heatr", "heart"),
        ("hearr", None),  # another letter in a short word
        ("haert", "heart"),
        ("heartt", "heart"),
        ("heaart", "heart"),
        ("heaqrt", None),
        ("hart", None),
        ("hearts", None),
        ("astma", "asthma"),
        ("fennel", None),  # no funnel
        ("funel", "funnel"),
        ("sesis", "sepsis"),
        ("rhars", None),  # of one paper
        ("fruher", None),  # is looked up as früher
        ("diabetes", None),
        ("trail", None),
        ("tumours", None),  # is looked up as tumour
        ("prednisone", None),  # another drug
        ("hypertensian", "hypertension"),
        ("lactase", None),  # no lactose
        ("arthritis", None),  # no arthrosis
        ("hyperkalemia", None),  # no hypokalemia
        ("sep", None),
        ("il6", None),
        ("zzzzzzzz", None),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_a_word_is_corrected_to_the_nearest_of_the_most_papers(word, right):
    assert SPELLING.correct(word) == right


def test_without_words_nothing_is_corrected():
    assert Spelling([]).correct("diabetis") is None


@given(st.sampled_from(sorted(PAPERS)), st.data())
def test_one_wrong_letter_is_mended_or_leads_to_a_word_as_near(word, data):
    place = data.draw(st.integers(0, len(word) - 1))
    wrong = word[:place] + data.draw(st.sampled_from(["", "q", "qq"])) + word[place + 1 :]
    found = SPELLING.correct(wrong)
    assert found is None or found in PAPERS


def test_a_large_vocabulary_is_looked_through_in_no_time():
    spelling = Spelling(
        (f"{a}{b}{c}{d}ation", 1) for a in "bcdfgh" for b in "aeiou" for c in "lmnrst" * 20 for d in "aeiouy"
    )
    start = time.process_time()
    for _ in range(20):
        spelling.correct("qalation")
    assert time.process_time() - start < 1
