import pytest

from bio_mcp.retrieval.sentence_scores import says_what_was_found


@pytest.mark.parametrize(
    "sentence",
    [
        "Ginger reduced nausea in pregnancy by 40%.",
        "We examined 120 women and found less nausea with ginger.",
        "No difference was measured between the groups, and there was no effect on weight.",
        "The odds ratio was 1.4 (95% CI 1.1-1.8).",
        "Adult tissue-resident macrophages are seeded before birth.",
        "This study shows that the drug is effective.",
    ],
)
def test_a_finding_or_a_statement_of_fact_passes(sentence):
    assert says_what_was_found(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Does ginger help?",
        "The aim of this study was to assess ginger.",
        "We investigated the role of p53 in neurons.",
        "The association was analyzed by binary logistic regression.",
        "This study fills this gap by examining craving.",
        "Whether ginger reduces nausea is unclear.",
        "Implications for practice are discussed.",
        "Little is known about lower doses.",
        "Patients were randomized to two groups.",
    ],
)
def test_a_question_an_aim_a_method_and_what_is_unknown_do_not(sentence):
    assert not says_what_was_found(sentence)
