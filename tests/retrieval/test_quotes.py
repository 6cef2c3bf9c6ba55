"""A quote in a text: equal but for typesetting, nearly, or not there."""

import pytest

from bio_mcp.retrieval.quotes import (
    Difference,
    comparable,
    differences,
    equal_spans,
    joined_words,
    nearest_span,
    shared,
    trimmed,
)

TEXT = (
    "Background. Heart failure is a common condi-\ntion in the elderly. We found that “titin” truncating vari-\n"
    "ants (TTNtv) were associated with a 2–3 fold risk (P < 0.001). The eﬀect was not signiﬁcant in women, who were "
    "older. Treatment with 5 mg β-blockers reduced mortality in the treated group by 30%, and a score of −5 was "
    "well-known. Heart failure is a common condition in the elderly."
)


def found(quote, text=TEXT):
    """Where the quote stands: similarity and text of each place."""
    wanted, looked_at = comparable(trimmed(quote)), comparable(text)
    places = equal_spans(wanted, looked_at) or filter(None, [nearest_span(wanted, looked_at)])
    return [(each.similarity, text[each.start : each.end]) for each in places]


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ('We found that "titin" truncating variants', "We found that “titin” truncating vari-\nants"),
        ("associated with a 2-3  fold\nrisk (P<0.001)", "associated with a 2–3 fold risk (P < 0.001"),
        ("“The effect was not significant in women...”", "The eﬀect was not signiﬁcant in women"),
        ("the treated group by 30 %", None),
        ("mor-\ntality in the trea\u00adted group", "mortality in the treated group"),
        ("a score of -5 was well‐known", "a score of −5 was well-known"),
        ("5 mg β-blockers", "5 mg β-blockers"),
    ],
)
def test_what_typesetting_changes_does_not_count(quote, text):
    text = text or "the treated group by 30%"
    assert found(quote) == [(1.0, text)]


def test_every_place_is_found():
    assert [text for _, text in found("a common condition in the elderly")] == [
        "a common condi-\ntion in the elderly",
        "a common condition in the elderly",
    ]


@pytest.mark.parametrize(
    ("quote", "text", "different"),
    [
        ("The effect was significant in women", "The eﬀect was not signiﬁcant in women", [("", "not")]),
        ("The effect was not significant in men, who", None, [("men", "women")]),
        ("a score of 5 was well-known", "a score of −5 was well-known", [("", "−")]),
        (
            "Therapy with 50 mg β-blockers increased mortality in the treated group by 30%",
            "Treatment with 5 mg β-blockers reduced mortality in the treated group by 30%",
            [("Therapy", "Treatment"), ("50", "5"), ("increased", "reduced")],
        ),
        (
            "reduced the mortality in the group",
            "reduced mortality in the treated group",
            [("the", ""), ("", "treated")],
        ),
        ("TREATMENT with 5 mg β-blockers", "Treatment with 5 mg β-blockers", [("TREATMENT", "Treatment")]),
    ],
)
def test_what_is_nearly_the_quote_is_found_with_each_word_that_differs(quote, text, different):
    [(similarity, passage)] = found(quote)
    assert passage == (text or "The eﬀect was not signiﬁcant in women, who")
    assert 0.8 <= similarity < 1
    assert differences(trimmed(quote), passage) == [Difference(*each) for each in different]


@pytest.mark.parametrize(
    "quote",
    [
        "completely unrelated sentence that is about mice and other rodents in labs",
        "Heart transplantation is a rare operation among adolescents",
        "xyzw",
        "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqq",
    ],
)
def test_what_is_not_there_is_not_found(quote):
    assert found(quote) == []


@pytest.mark.parametrize(("quote", "text"), [("a quote that is long enough", ""), ("", "a text"), ("", "")])
def test_nothing_is_found_in_nothing(quote, text):
    assert found(quote, text) == []


def test_a_quote_at_the_beginning_and_the_end_of_a_text_is_found():
    text = "Aspirin lowers the risk of stroke in adults"
    assert found("Aspirin lowers a risk of stroke in adults", text)[0][1] == text
    assert found("Ibuprofen lowers the risk of stroke in adults", text)[0][1] == text


def test_words_that_a_line_break_parted_are_joined_to_look_them_up():
    assert joined_words("a condi-\ntion, well-known, ran\u00addom, 5- 6") == "a condition, well-known, random, 5- 6"


def test_scripts_without_spaces_are_compared_too():
    text = "心力衰竭是老年人的常见病。我们发现肌联蛋白截短变异与风险增加有关。"
    assert found("我们发现肌联蛋白截短变异与风险增加有关", text) == [(1.0, "我们发现肌联蛋白截短变异与风险增加有关")]


def test_what_shares_more_with_a_quote_is_seen_before_it_is_compared():
    quote = comparable("the effect was significant in women who were much older")
    alike, unlike, nothing = (shared(quote, comparable(text)) for text in (TEXT, TEXT[:60], ""))
    assert 1 >= alike > 0.5 > unlike >= nothing == 0
