"""What chunks of a document have in common is shown once."""

from dataclasses import replace

import pytest

from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.retrieval.quotes import LEAST_SHARED, LEFT_OUT, new_text, unrepeated

FIRST = "Newborns were examined. The index was low in five of nine."
SHARED = "The index was low in five of nine."
SECOND = f"{SHARED} An echocardiogram confirmed it in every one of them, on the first day."


def chunk(text, doc_id="d1", chunk_id="c"):
    return ProjectChunk(chunk_id, Work(doc_id), text)


@pytest.mark.parametrize(("text", "better"), [(SECOND, FIRST), (FIRST, SECOND)])
def test_what_a_better_hit_has_at_one_end_is_left_out(text, better):
    assert new_text(chunk(text), [chunk(better)]) == text.replace(SHARED, "").strip()


def test_little_that_is_new_is_left_out_too():
    assert new_text(chunk(f"So. {SHARED}"), [chunk(SECOND)]) is None


def test_both_neighbours_may_have_an_end():
    middle = f"{SHARED} {'Something new is said here at length. ' * 4}It ends with a sentence that goes on."
    after = "It ends with a sentence that goes on. And on."
    new = new_text(chunk(middle), [chunk(FIRST), chunk(after)])
    assert new == ("Something new is said here at length. " * 4).strip()


@pytest.mark.parametrize("text", [FIRST, SHARED, "five of nine."])
def test_what_a_better_hit_has_whole_is_nothing_new(text):
    assert new_text(chunk(text), [chunk(FIRST)]) is None


@pytest.mark.parametrize("same", [{"pmid": "1"}, {"doi": "10.1/x"}])
def test_one_paper_under_two_names_is_one_work(same):
    one, other = Work("d1", **same), Work("d2", **same)
    assert new_text(replace(chunk(FIRST), work=one), [replace(chunk(FIRST), work=other)]) is None


def test_what_a_better_hit_has_in_the_middle_is_left_out_with_a_mark():
    whole = f"{'Something new is said here. ' * 3}{SHARED} {'It ends otherwise, at length. ' * 3}"
    left = new_text(chunk(whole), [chunk(SHARED)])
    assert SHARED not in left
    assert left.split(LEFT_OUT) == [
        ("Something new is said here. " * 3).strip(),
        ("It ends otherwise, at length. " * 3).strip(),
    ]


def test_case_spaces_and_marks_make_no_difference():
    assert unrepeated("The  INDEX was\nlow; in five of nine (56%). New words follow.", [SHARED + " 56 %"]) == (
        "New words follow."
    )


def test_marks_next_to_what_is_new_stay():
    better = "The index was low in five of nine"
    assert unrepeated(f"{better} (of whom two died). End.", [better]) == "(of whom two died). End."
    assert unrepeated(f"(Two of them died.) {better}.", [better]) == "(Two of them died.)"


def test_text_without_spaces_is_cut_too():
    thai = "ขมิ้นชันลดการอักเสบของข้อเข่าในผู้ป่วย"
    assert unrepeated(f"{thai}และไม่มีผลข้างเคียง", [f"การศึกษาพบว่า{thai}"]) == "และไม่มีผลข้างเคียง"


def test_nothing_is_left_of_what_several_have_together():
    assert unrepeated(f"{FIRST} And then it rose again.", [FIRST, f"{SHARED} And then it rose again."]) == ""


def test_a_few_characters_are_shared_by_chance():
    short = "In sum, no." + " More follows here."
    before = "It ends: In sum, no."
    assert len("In sum, no.") < LEAST_SHARED
    assert new_text(chunk(short), [chunk(before)]) == short


def test_a_repeated_phrase_inside_is_no_joint():
    text = "The index was low. It was measured again."
    before = "The index was low. The index was high."
    assert new_text(chunk(text), [chunk(before)]) == text


def test_a_joint_is_found_behind_a_false_start():
    before = "The index was low, and then The index was low."
    text = "The index was low. It was measured again on the next day."
    assert new_text(chunk(text), [chunk(before)]) == "It was measured again on the next day."
