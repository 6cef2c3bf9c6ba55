"""The set of Thai questions that the benchmark asks."""

import json
from pathlib import Path

from bio_mcp.retrieval.question import parse_question

SET = Path(__file__).parents[1] / "data/thai/questions.jsonl"
QUESTIONS = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]


def test_there_are_sixty_questions_at_least_each_checked_in_two_ways():
    assert len({each["id"] for each in QUESTIONS}) == len(QUESTIONS) >= 60
    for each in QUESTIONS:
        assert 1 <= each["back"] <= 3, each["id"]
        assert 1 <= each["found"] <= 20, each["id"]
        assert each["pmids"], each["id"]
        assert all(pmid.isdecimal() for pmid in each["pmids"]), each["id"]


def test_the_dictionary_knows_something_of_nearly_every_question():
    read = [parse_question(each["thai"]) for each in QUESTIONS]
    assert all(each.is_thai for each in read)
    assert sum(bool(each.english) for each in read) > 0.9 * len(read)
