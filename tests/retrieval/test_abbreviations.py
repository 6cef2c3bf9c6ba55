"""Abbreviations that abstracts define, and what they add to a question."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.retrieval.abbreviations import defined_names, definitions
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.passages import OtherName
from bio_mcp.retrieval.question import EXTRA_TERMS, WEIGHT, other_forms
from tests.support.real_records import FILES, records


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Patients with acute kidney injury (AKI) died.", [("AKI", "acute kidney injury")]),
        ("acute kidney injuries (AKIs)", [("AKI", "acute kidney injuries")]),
        ("two randomized controlled trials (RCTs) of it", [("RCT", "randomized controlled trials")]),
        ("the role of interleukin-6 (IL-6) in it", [("IL-6", "interleukin-6")]),
        ("Interleukin 6 (IL-6; n = 12)", [("IL-6", "Interleukin 6")]),
        ("heat shock transcription factor (HSF)", [("HSF", "heat shock transcription factor")]),
        ("methyl methanesulfonate sulfate (MMS)", [("MMS", "methyl methanesulfonate sulfate")]),
        ("HBV (hepatitis B virus) and HCV (hepatitis C virus)",
         [("HBV", "hepatitis B virus"), ("HCV", "hepatitis C virus")]),
        ("deoxyribonucleic acid (DNA)", [("DNA", "deoxyribonucleic acid")]),
        ("non-small cell lung cancer (NSCLC)", [("NSCLC", "non-small cell lung cancer")]),
        ("quality of life (QoL)", [("QoL", "quality of life")]),
        ("tumor necrosis factor-α (TNF-α)", [("TNF-α", "tumor necrosis factor-α")]),
        ("the mean was high (95% CI 1.2 to 3.4) and (p < 0.05)", []),
        ("as shown (Figure 2), in mice (n = 20), in May (2019)", []),
        ("it was more (p<0.05) in the pilot (at 0.05)", []),
        ("liquid chromatography (LC)-mass spectrometry (MS)", [("LC", "liquid chromatography")]),
        ("we saw it (see above), and (ii) again", []),
        ("the AKI (AKI)", []),
        ("(AKI) acute kidney injury", []),
    ],
)  # fmt: skip
def test_a_definition_is_found_in_a_text(text, found):
    assert list(definitions(text)) == found


SCLEROSIS = "In multiple sclerosis (MS) it helps."
SPECTROMETRY = "By mass spectrometry (MS) we saw it."


SPONDYLITIS = "It is ankylosing spondylitis (AS)."
AGE = "An advanced glycation end product (AGE) was seen."


def expanded(question, *texts, papers=None):
    """What the definitions of these texts add to a question, with the shares of those that mean it."""
    pairs = Counter(pair for text in texts for pair in defined_names(text))
    forms = [
        OtherName(*names, count) for (one, other), count in pairs.items() for names in ((one, other), (other, one))
    ]

    def other_names(names):
        return [each for each in forms if each.name in names]

    own = dict(query_terms(question))
    found = query_terms(question, lambda terms: other_forms(question, terms, other_names, (papers or {}).get))
    return {term: weight / WEIGHT for term, weight in found if term not in own}


@pytest.mark.parametrize(
    ("question", "added"),
    [
        ("fatigue in MS", {"multipl": 0.75, "sclerosi": 0.75, "mass": 0.25, "spectrometri": 0.25}),
        ("fatigue in ms", {"multipl": 0.75, "sclerosi": 0.75, "mass": 0.25, "spectrometri": 0.25}),
        ("mass spectrometry of plasma", {"m": 0.25}),  # the stem of MS
        ("multiple sclerosis (MS)", {"mass": 0.25, "spectrometri": 0.25}),
        ("the masses", {}),
        ("AS in men", {"ankylos": 1.0, "spondyl": 1.0}),
        ("as in men", {}),
        ("AGE in skin", {"advanc": 1.0, "glycat": 1.0, "end": 1.0, "product": 1.0}),
        ("age of skin", {}),
        ("vitamin M and re-masking", {}),
        ("", {}),
    ],
)
def test_a_question_is_expanded_both_ways_by_what_papers_mean(question, added):
    texts = [SCLEROSIS * 2, SCLEROSIS.replace("multiple", "Multiple"), SCLEROSIS, SPECTROMETRY, SPONDYLITIS, AGE]
    assert expanded(question, *texts, papers={"ms": 10, "age": 200}) == pytest.approx(added)


def test_a_question_gets_few_terms_more():
    texts = [f"alpha{n} beta{n} gamma{n} (ABG{n})" for n in range(100)]
    many = " ".join(f"ABG{n}" for n in range(100))
    assert 0 < len(expanded(many, *texts)) <= EXTRA_TERMS


@given(st.text(alphabet="aAbB1() -;,(", max_size=200))
def test_any_text_is_read(text):
    for short, long in definitions(text):
        assert short in text
        assert long in " ".join(text.split())


@pytest.mark.parametrize("text", ["(" * 100_000, "a (" * 50_000, "a (b) " * 20_000, "(" + "a" * 300_000 + ")"])
def test_the_time_is_that_of_the_texts_length(text):
    start = time.process_time()
    list(definitions(text))
    assert time.process_time() - start < 3


def test_real_abstracts_define_abbreviations():
    articles = [each for path in FILES for each in records(path)][:2000]
    found = Counter(pair for each in articles for pair in defined_names(abstract_text(each)))
    assert ("ci", "confid interv") in found
    assert len({short for short, _ in found}) > 100
