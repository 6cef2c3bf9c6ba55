"""Quantities of a text, and whether another text has them."""

import pytest

from bio_mcp.literature.quantities import quantities, unmatched


def read(text):
    return [
        (f"{each.value:f}" if not isinstance(each.value, str) else each.value, each.compare, each.unit, each.counted)
        for each in quantities(text)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,000 patients took 5 mg/kg per day", [("1000", "", "", "people"), ("5", "", "mg/kg/day", "")]),
        ("P<0.05 (0.7-0.9)", [("0.05", "<", "", ""), ("0.7", "", "", ""), ("0.9", "", "", "")]),
        ("fell by −5.3 mmol/L", [("-5.3", "", "mmol/l", "")]),
        ("10 to 15 mg", [("10", "", "mg", ""), ("15", "", "mg", "")]),
        ("a 12-week trial", [("12", "", "week", "")]),
        ("OR 0·5", [("0.5", "", "", "")]),
        ("at least thirty-two of 1.5 million", [("32", ">", "", ""), ("1500000", "", "", "")]),
        ("half of the men, one-third of the women", [("half", "", "", ""), ("one third", "", "", "")]),
        ("5 mM and 5 mm", [("5", "", "mM", ""), ("5", "", "mm", "")]),
        ("1999-2005", [("1999", "", "", ""), ("2005", "", "", "")]),
        ("one of the five", [("5", "", "", "")]),
        ("IL-6, CD4, 5-HT, SARS-CoV-2 and H2O", []),
    ],
)  # fmt: skip
def test_quantities_are_read_with_comparison_unit_and_what_is_counted(text, found):
    assert read(text) == found


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("1000 adults", "1,000 patients"),
        ("50 %", "50 per cent"),
        ("less than 5 days", "<5 d"),
        ("a twofold rise", "it was 2-fold"),
        ("from 10 mg to 15 mg", "10–15 mg"),
        ("two groups", "2 groups"),
    ],
)
def test_other_spellings_of_a_quantity_match(sentence, source):
    assert unmatched(sentence, [source]) == []


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("51 patients", "50 patients"),
        ("50 mg", "50 g"),
        ("50 patients", "50% of patients"),
        ("p > 0.05", "p < 0.05"),
        ("over 50 patients", "50 patients"),
        ("a change of -3", "a change of 3"),
        ("50 deaths", "50 patients"),
        ("half of them", "a third of them"),
        ("three trials", "trials"),
    ],
)
def test_another_number_unit_sign_or_comparison_does_not_match(sentence, source):
    assert len(unmatched(sentence, [source])) == 1


def test_a_quantity_may_stand_in_any_of_the_sources():
    assert unmatched("5 mg and 10 mg", ["5 mg", "10 mg"]) == []
