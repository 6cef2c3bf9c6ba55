from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.projects import LIFETIME, SqliteAnswers
from bio_mcp.errors import NotFound
from bio_mcp.literature.records import CitedSpan
from bio_mcp.ports.stores import StoredAnswer

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def answer(answer_id, asked):
    return StoredAnswer(answer_id, "Why?", "So.", (CitedSpan("9", 1, "title", 0, 3, "So."),), 0.9, asked)


def test_a_new_answer_removes_those_that_are_two_years_older_and_no_others(tmp_path, closed):
    answers = SqliteAnswers(closed(Database(tmp_path)))
    answers.put(answer("old", NOW - LIFETIME - timedelta(seconds=1)))
    answers.put(answer("in time", NOW - LIFETIME))
    answers.put(answer("new", NOW))
    with pytest.raises(NotFound):
        answers.get("old")
    assert [each.answer_id for each in answers.citing("9")] == ["in time", "new"]
