"""A quote in a text: equal but for typesetting, nearly, or not there; and what texts repeat."""

from dataclasses import replace

import pytest

from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.retrieval.quotes import (
    LEFT_OUT,
    Difference,
    Passage,
    comparable,
    differences,
    equal_spans,
    joined,
    joined_words,
    nearest_span,
    new_text,
    runs,
    shared,
    trimmed,
    unrepeated,
)
from bio_mcp.untrusted import neutral

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


def test_a_quote_is_found_as_an_answer_showed_it():
    stored = "Statins\ufe0f re\u200bduce\u3164 the risk\x1b of stroke."
    shown = neutral(stored)
    assert "�" in shown
    assert found(shown, stored) == [(1.0, stored[:-1])]
    assert len(shown) == len(stored)


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


NEIGHBOURS = "One sentence. Two sentences. Three sentences.\n\nA new section. Its end."


def passages_at(*bounds):
    return [Passage(NEIGHBOURS[start:end], start, section=str(start)) for start, end in bounds]


def test_what_neighbours_repeat_stands_there_once():
    whole = joined(passages_at((0, 28), (14, 45), (47, 71)))
    assert whole.text == NEIGHBOURS
    assert [whole.offset(at) for at in (0, 20, 45, 70)] == [0, 20, 45, 70]
    assert whole.end_offset(len(NEIGHBOURS)) == len(NEIGHBOURS)


def test_what_stands_between_is_a_space_or_a_new_paragraph():
    whole = joined(passages_at((14, 28), (29, 45), (62, 70)))
    assert whole.text == "Two sentences. Three sentences.\n\nIts end."
    assert (whole.offset(0), whole.offset(15), whole.end_offset(len(whole.text))) == (14, 29, 70)


def test_a_passage_within_another_adds_nothing():
    assert joined(passages_at((0, 45), (14, 28), (29, 45), (47, 61))).text == NEIGHBOURS[:61]


def test_the_passages_of_a_part_are_those_that_it_is_from():
    whole = joined(passages_at((0, 28), (14, 45), (47, 71)))
    assert [each.section for each in whole.between(0, 5)] == ["0"]
    assert [each.section for each in whole.between(20, 40)] == ["0", "14"]
    assert [each.section for each in whole.between(40, 60)] == ["14", "47"]


def test_passages_of_unknown_place_are_joined_without_offsets():
    whole = joined([Passage("First."), Passage("Second.")])
    assert whole.text == "First.\n\nSecond."
    assert whole.offset(0) is whole.end_offset(6) is None


def test_runs_are_of_neighbours_and_reach_around_each():
    parts = passages_at(*((n, n + 1) for n in range(10)))
    assert [[each.start for each in run] for run in runs(parts, {0, 2, 7}, 1)] == [[0, 1, 2, 3], [6, 7, 8]]
    assert [[each.start for each in run] for run in runs(parts, {9}, 0)] == [[9]]
    assert list(runs(parts, set(), 1)) == []


FIRST = "Newborns were examined. The index was low in five of nine."
SHARED = "The index was low in five of nine."
SECOND = f"{SHARED} An echocardiogram confirmed it in every one of them, on the first day."


def chunk(text, doc_id="d1", chunk_id="c"):
    return ProjectChunk(chunk_id, Work(doc_id), text)


NEW, END = "Something new is said here at length, and more. " * 3, "It ends with a sentence that goes on."
THAI = "ขมิ้นชันลดการอักเสบของข้อเข่าในผู้ป่วย"


@pytest.mark.parametrize(
    ("text", "better", "left"),
    [
        (SECOND, [FIRST], SECOND.replace(SHARED, "")),
        (FIRST, [SECOND], FIRST.replace(SHARED, "")),
        (f"{SHARED} {NEW}{END}", [FIRST, f"{END} And on."], NEW),
        (FIRST, [FIRST], ""),
        (SHARED, [FIRST], ""),
        ("five of nine.", [FIRST], ""),
        (f"{FIRST} And then it rose again.", [FIRST, f"{SHARED} And then it rose again."], ""),
        (f"{NEW}{SHARED} {END}", [SHARED], f"{NEW.strip()}{LEFT_OUT}{END}"),
        ("The  INDEX was\nlow; in five of nine (56%). New words.", [f"{SHARED} 56 %"], "New words."),
        (f"{SHARED[:-1]} (of whom two died). End.", [SHARED], "(of whom two died). End."),
        (f"(Two of them died.) {SHARED}", [SHARED], "(Two of them died.)"),
        (f"{THAI}และไม่มีผลข้างเคียง", [f"การศึกษาพบว่า{THAI}"], "และไม่มีผลข้างเคียง"),
        ("In sum, no. More follows here.", ["It ends: In sum, no."], "In sum, no. More follows here."),
        ("It was low. It was measured.", ["It was low. It was high."], "It was low. It was measured."),
        ("The index was low. It fell.", ["The index was low, and then The index was low."], "It fell."),
    ],
)
def test_what_others_have_at_an_end_or_whole_is_left_out(text, better, left):
    assert unrepeated(text, better) == left.strip()


def test_a_hit_that_adds_little_is_none():
    assert new_text(chunk(f"So. {SHARED}"), [chunk(SECOND)]) is None
    assert new_text(chunk(SECOND), [chunk(FIRST)]) == SECOND.replace(SHARED, "").strip()


@pytest.mark.parametrize("same", [{"pmid": "1"}, {"doi": "10.1/x"}])
def test_one_paper_under_two_names_is_one_work(same):
    one, other = Work("d1", **same), Work("d2", **same)
    assert new_text(replace(chunk(FIRST), work=one), [replace(chunk(FIRST), work=other)]) is None
