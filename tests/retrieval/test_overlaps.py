"""What chunks of a document have in common is shown once."""

from dataclasses import replace

import pytest

from bio_mcp.retrieval.overlaps import LEAST_SHARED, new_text
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work

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


def test_another_document_may_say_the_same():
    assert new_text(chunk(FIRST), [chunk(FIRST, "d2")]) == FIRST


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


def test_offsets_are_not_needed():
    stored = replace(chunk(SECOND), char_start=0, char_end=0)
    assert new_text(stored, [chunk(FIRST)])
