"""Sentences of biomedical prose."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.retrieval.chunking import sentence_spans


def sentences(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["We grew E. coli in broth.", "It grew."],
        ["The effect was small (p < 0.05).", "We conclude nothing."],
        ["Risk fell (HR 0.46, P = 0.03).", "It rose again."],
        ["Smith et al. Reported the same.", "We did not."],
        ["Drug A vs. Placebo was tested.", "A won."],
        ["See Fig. 2 for the curve.", "It rises."],
        ["Dose was approx. 5 mg.", "None died."],
        ["Infection with hepatitis B.", "We tested all."],
        ["Was it safe?", "Yes!", "It was."],
        ["Cells died.", "p53 was induced.", "mRNA levels fell.", "α-Tubulin rose."],
        ["In the U.S. Patients were older.", "They were ill."],
        ["治療は有効であった。", "副作用はなかった。"],
        ["It was 3.5 mg/kg.", "(Funded by NIH.)", "Next."],
    ],
)
def test_prose_is_split_where_sentences_end(parts):
    assert sentences(" ".join(parts)) == parts


def test_sentences_glued_together_are_taken_apart():
    text = "We grew large amounts.Synthetic peptides (n = 7).The rest was 0.05.In all, 12%.Done so."
    assert sentences(text) == [
        "We grew large amounts.",
        "Synthetic peptides (n = 7).",
        "The rest was 0.05.",
        "In all, 12%.",
        "Done so.",
    ]


def test_a_protein_change_stays_whole():
    assert sentences("The variant p.Arg117His was found.") == ["The variant p.Arg117His was found."]


@given(st.text(alphabet=st.sampled_from("aB. !?\n(1é。'"), max_size=60))
def test_spans_are_ordered_apart_and_hold_every_character_that_is_no_space(text):
    spans = sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    covered = {at for start, end in spans for at in range(start, end)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered


@pytest.mark.parametrize(
    ("unit", "count"), [("a. B", 125_001), ("A. ", 1), ("....", 1), (" \u2003", 0), ("a.\n", 166_666), ("!?x", 1)]
)
def test_half_a_million_characters_take_no_longer_each_than_a_few(unit, count):
    """Where the time grows with the square of the length, this one does not come back."""
    assert len(sentences(unit * (500_000 // len(unit)))) == count
