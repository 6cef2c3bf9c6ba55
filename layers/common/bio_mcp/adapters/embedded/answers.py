"""Answers that were given, in the corpus file.

`answer_papers` has a row for each paper that an answer cites; the flag of a retraction is there.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.opening import Connection
from bio_mcp.errors import NotFound
from bio_mcp.literature.citations import CitedSpan
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.answers import StoredAnswer

LIFETIME = timedelta(days=730)
_SELECT = "SELECT answer_id, question, text, spans, confidence, asked FROM answers "


class SqliteAnswers:
    """The port `Answers` over the corpus file. Each new answer removes those that are two years older."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, answer: StoredAnswer) -> None:
        spans = json.dumps([asdict(span) for span in answer.spans])
        row = (answer.answer_id, answer.question, answer.text, spans, answer.confidence, sortable(answer.asked))
        papers = {int(span.pmid): span.pmid in answer.flagged for span in answer.spans}
        with self._database.writing() as connection:
            new = connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?)", row).rowcount
            if new:
                connection.executemany(
                    "INSERT INTO answer_papers VALUES (?, ?, ?)",
                    [(pmid, answer.answer_id, flag) for pmid, flag in papers.items()],
                )
                _remove_older(connection, sortable(answer.asked - LIFETIME))

    def get(self, answer_id: str) -> StoredAnswer:
        with self._database.reading() as connection:
            found = _answers(connection, connection.execute(_SELECT + "WHERE answer_id = ?", (answer_id,)))
        if not found:
            raise NotFound(f"There is no answer {answer_id!r}; answers are stored for two years")
        return found[0]

    def citing(self, pmid: str) -> list[StoredAnswer]:
        query = "JOIN answer_papers USING (answer_id) WHERE pmid = ? ORDER BY answer_id"
        with self._database.reading() as connection:
            return _answers(connection, connection.execute(_SELECT + query, (int(pmid),)))

    def flag(self, answer_ids: Sequence[str], pmid: str) -> None:
        with self._database.writing() as connection:
            connection.executemany(
                "UPDATE answer_papers SET flagged = 1 WHERE pmid = ? AND answer_id = ?",
                [(int(pmid), answer_id) for answer_id in answer_ids],
            )

    def flagged(self, limit: int) -> list[StoredAnswer]:
        query = (
            "WHERE answer_id IN (SELECT answer_id FROM answer_papers WHERE flagged) "
            "ORDER BY asked DESC, answer_id DESC LIMIT ?"
        )
        with self._database.reading() as connection:
            return _answers(connection, connection.execute(_SELECT + query, (limit,)))


def _remove_older(connection: Connection, asked: str) -> None:
    """Remove the answers given before the moment `asked`."""
    connection.execute(
        "DELETE FROM answer_papers WHERE answer_id IN (SELECT answer_id FROM answers WHERE asked < ?)", (asked,)
    )
    connection.execute("DELETE FROM answers WHERE asked < ?", (asked,))


def _answers(connection: Connection, rows: Iterable[Sequence[Any]]) -> list[StoredAnswer]:
    """The answers of the rows, each with its flags."""
    query = "SELECT pmid FROM answer_papers WHERE answer_id = ? AND flagged ORDER BY pmid"
    return [
        StoredAnswer(
            answer_id,
            question,
            text,
            tuple(CitedSpan(**span) for span in json.loads(spans)),
            confidence,
            datetime.fromisoformat(asked),
            tuple(str(pmid) for (pmid,) in connection.execute(query, (answer_id,))),
        )
        for answer_id, question, text, spans, confidence, asked in rows
    ]
