"""Reviews, in the corpus file."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.screenings import by_time, label_of, label_row, record_of, search_of, search_row
from bio_mcp.ports.screening import ReviewRecord, ReviewSearch, ScreeningLabel, Stage


class SqliteScreenings:
    """The port `Screenings` over the corpus file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put_records(self, review: str, records: Sequence[ReviewRecord]) -> None:
        rows = [(review, each.record_id, _json(asdict(each))) for each in records]
        with self._database.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO review_records VALUES (?, ?, ?)", rows)

    def records(self, review: str) -> list[ReviewRecord]:
        return [record_of(row) for row in self._rows("review_records", "record_id", review)]

    def put_labels(self, review: str, labels: Sequence[ScreeningLabel]) -> None:
        rows = [(review, each.record_id, each.stage, _json(label_row(each))) for each in labels]
        with self._database.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO review_labels VALUES (?, ?, ?, ?)", rows)

    def remove_labels(self, review: str, stage: Stage, record_ids: Sequence[str]) -> None:
        sql = "DELETE FROM review_labels WHERE review = ? AND record_id = ? AND stage = ?"
        with self._database.writing() as connection:
            connection.executemany(sql, [(review, each, stage) for each in record_ids])

    def labels(self, review: str) -> list[ScreeningLabel]:
        return by_time([label_of(row) for row in self._rows("review_labels", "record_id", review)])

    def put_search(self, review: str, search: ReviewSearch) -> None:
        row = (review, search.search_id, _json(search_row(search)))
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO review_searches VALUES (?, ?, ?)", row)

    def searches(self, review: str) -> list[ReviewSearch]:
        found = [search_of(row) for row in self._rows("review_searches", "search_id", review)]
        return sorted(found, key=lambda each: (each.at, each.search_id))

    def drop(self, review: str) -> None:
        with self._database.writing() as connection:
            for table in ("review_records", "review_labels", "review_searches"):
                connection.execute(f"DELETE FROM {table} WHERE review = ?", (review,))  # noqa: S608

    def _rows(self, table: str, order: str, review: str) -> list[dict[str, Any]]:
        sql = f"SELECT body FROM {table} WHERE review = ? ORDER BY {order}"  # noqa: S608
        with self._database.reading() as connection:
            return [json.loads(body) for (body,) in connection.execute(sql, (review,))]


def _json(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)
