"""What clauses affirm and deny."""

import pytest

from bio_mcp.retrieval.findings import clauses, distorts, unsupported


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
