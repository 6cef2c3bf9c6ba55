"""What sentences of abstracts found, and what clauses affirm and deny."""

import pytest

from bio_mcp.retrieval.findings import Estimate, clauses, distorts, estimates, findings, unsupported


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


def denials(text):
    return [each.denies for each in clauses(text)]


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Aspirin reduced pain.", [False]),
        ("Aspirin did not reduce pain.", [True]),
        ("No reduction of pain was seen.", [True]),
        ("Pain was reduced, but nausea was not.", [False, True]),
        ("It reduced pain without causing nausea.", [False, True]),
        ("It reduced pain and did not cause nausea.", [False, True]),
        ("Mortality was unchanged.", [True]),
        ("They failed to respond.", [True]),
        ("Not only pain but also fever fell.", [False, False]),
        ("They were not more likely to die.", [True]),
        ("It took no more than 5 days.", [False]),
        ("There was no lack of data.", [False]),
    ],
)
def test_each_clause_affirms_or_denies(text, denied):
    assert denials(text) == denied


FINDINGS = "Drug A reduced pain in adults. It did not reduce nausea."


@pytest.mark.parametrize(
    "sentence",
    [
        "Drug A did not reduce pain in adults.",
        "Drug A increased pain in adults.",
        "Pain was not reduced by drug A.",
        "Nausea was reduced.",
    ],
)
def test_a_clause_that_is_turned_round_is_a_distortion(sentence):
    assert distorts(sentence, [FINDINGS])


@pytest.mark.parametrize(
    "sentence",
    ["Drug A lowered pain in adults.", "Nausea was not reduced.", "Drug A reduced pain but did not reduce nausea."],
)
def test_another_wording_is_none(sentence):
    assert not distorts(sentence, [FINDINGS])


def test_a_denial_or_a_direction_that_no_source_has_is_unsupported():
    assert unsupported("Drug A was not studied.", ["Drug A was studied."])
    assert unsupported("Drug A improved sleep.", ["Drug A acts on sleep."])
    assert not unsupported("Drug A reduced pain and did not affect sleep.", ["Pain was lower.", "No effect on sleep."])


def test_comparing_with_a_number_is_no_direction():
    assert [each.directions for each in clauses("More than 50 patients came.")] == [frozenset()]
