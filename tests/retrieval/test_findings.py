"""What sentences of abstracts found."""

import pytest

from bio_mcp.retrieval.findings import Estimate, estimates, findings


def read(sentence):
    return [(sorted(each.outcome), each.direction, each.denied) for each in findings(sentence)]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Ginger reduced nausea.", [(["nausea"], "down", None)]),
        ("Ginger did not reduce nausea.", [(["nausea"], "same", "down")]),
        ("Ginger had no effect on nausea.", [(["nausea"], "same", None)]),
        ("Nausea was significantly lower in the treated group.", [(["nausea"], "down", None)]),
        ("Nausea in women was unchanged.", [(["nausea"], "same", None)]),
        ("LDL cholesterol decreased with turmeric.", [(["cholesterol", "ldl"], "down", None)]),
        ("Coffee was associated with a higher risk of stroke.", [(["stroke"], "up", None)]),
        ("Coffee was not associated with stroke.", [(["stroke"], "same", None)]),
        ("There was no difference in mortality between groups.", [(["death"], "same", None)]),
        ("Ginger reduced nausea but did not reduce pain.", [(["nausea"], "down", None), (["pain"], "same", "down")]),
        ("Ginger reduced nausea, vomiting and pain.", []),
        ("Nausea was lower in the placebo group.", []),
        ("We examined whether ginger reduced nausea.", []),
        ("Does ginger reduce nausea?", []),
    ],
)
def test_the_outcome_and_what_became_of_it_are_read(sentence, found):
    assert read(sentence) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(HR 0.70, 95% CI 0.60-0.80)", [Estimate("hazard ratio", 0.7, 0.6, 0.8)]),
        ("odds ratio [OR], 1·25; 95% confidence interval [CI], 1·01–1·55", [Estimate("odds ratio", 1.25, 1.01, 1.55)]),
        ("relative risk was 2.0 (95% CI: 1.5 to 2.6)", [Estimate("relative risk", 2.0, 1.5, 2.6)]),
        ("risk ratio 2.0 (1.5, 2.6)", [Estimate("relative risk", 2.0, 1.5, 2.6)]),
        ("HR 0.70 (95% CI 0.80-0.90)", []),
        ("a score of 3 (2-4) or 5", []),
    ],
)
def test_ratios_with_their_intervals_are_read(text, found):
    assert estimates(text) == found


def test_intervals_exclude_each_other_where_they_do_not_meet_and_are_of_one_kind():
    low, high = Estimate("odds ratio", 0.5, 0.4, 0.6), Estimate("odds ratio", 0.8, 0.7, 0.9)
    assert low.excludes(high)
    assert high.excludes(low)
    assert not low.excludes(Estimate("odds ratio", 0.8, 0.6, 0.9))
    assert not low.excludes(Estimate("hazard ratio", 0.8, 0.7, 0.9))
