"""What people keep in the corpus file: projects with their documents, reviews, answers that were given."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from datetime import datetime, timedelta
from typing import Any

from bio_mcp.adapters.embedded.database import WITNESSES, Store
from bio_mcp.adapters.stored import (
    from_row,
    labels_of,
    merges_of,
    plan_of,
    plan_row,
    record_of,
    review_row,
    searches_of,
    to_row,
)
from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import sortable
from bio_mcp.literature.records import CitedSpan
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.stores import (
    ReviewMerge,
    ReviewPlan,
    ReviewRecord,
    ReviewSearch,
    ReviewThing,
    ScreeningLabel,
    StoredAnswer,
)
from bio_mcp.retrieval.project_chunks import unknown_project


class SqliteProjects(Store):
    """The port `Projects` over the corpus file."""

    def get(self, project_id: str) -> Project:
        if found := self._projects("project_id = ?", project_id):
            return found[0]
        raise unknown_project(project_id, (each.project_id for each in self.all()))

    def put(self, project: Project) -> None:
        self._database.write("INSERT OR REPLACE INTO projects VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(project))

    def all(self) -> list[Project]:
        return self._projects("TRUE")

    def delete(self, project_id: str) -> bool:
        return self._database.write("DELETE FROM projects WHERE project_id = ?", (project_id,)) > 0

    def _projects(self, wanted: str, *values: str) -> list[Project]:
        columns = "project_id, collection, embed_model, hybrid_enabled, refs, top_k, max_characters"
        sql = f"SELECT {columns} FROM projects WHERE {wanted} ORDER BY project_id"  # noqa: S608  our own words
        rows = self._database.rows(sql, values)
        return [Project(each, of, model, bool(hybrid), *others) for each, of, model, hybrid, *others in rows]


_SELECT = (
    "SELECT document, (SELECT json_group_array(identifier) FROM project_identifiers AS i "
    "WHERE i.project_id = d.project_id AND i.doc_id = d.doc_id) "
    "FROM project_documents AS d WHERE project_id = :project "
)
_HAVING = (
    "AND doc_id IN (SELECT doc_id FROM project_identifiers WHERE project_id = :project "
    "AND identifier IN (SELECT value FROM json_each(:identifiers))) "
)


class SqliteProjectDocuments(Store):
    """The port `ProjectDocuments` over the corpus file."""

    def find(self, project_id: str, identifiers: Sequence[str]) -> list[ProjectDocument]:
        return self._read(_HAVING, project=project_id, identifiers=json.dumps(list(identifiers)))

    def put(self, project_id: str, document: ProjectDocument) -> None:
        row = json.dumps(to_row(document), ensure_ascii=False)
        identifiers = [(project_id, each, document.doc_id) for each in sorted(document.identifiers)]
        with self._database.writing() as connection:
            _delete(connection, project_id, [document.doc_id])
            connection.execute("INSERT INTO project_documents VALUES (?, ?, ?)", (project_id, document.doc_id, row))
            connection.executemany("INSERT OR REPLACE INTO project_identifiers VALUES (?, ?, ?)", identifiers)

    def delete(self, project_id: str, doc_ids: Sequence[str]) -> None:
        with self._database.writing() as connection:
            _delete(connection, project_id, doc_ids)

    def all(self, project_id: str) -> list[ProjectDocument]:
        return self._read("", project=project_id)

    def cursor(self, project_id: str, library: str) -> dict[str, Any]:
        sql = "SELECT cursor FROM project_cursors WHERE project_id = ? AND library = ?"
        row = self._database.row(sql, (project_id, library))
        cursor: dict[str, Any] = json.loads(row[0]) if row else {}
        return cursor

    def put_cursor(self, project_id: str, library: str, cursor: Mapping[str, Any]) -> None:
        row = (project_id, library, json.dumps(dict(cursor), ensure_ascii=False))
        self._database.write("INSERT OR REPLACE INTO project_cursors VALUES (?, ?, ?)", row)

    def drop(self, project_id: str) -> None:
        with self._database.writing() as connection:
            for table in ("documents", "identifiers", "cursors"):
                connection.execute(f"DELETE FROM project_{table} WHERE project_id = ?", (project_id,))  # noqa: S608

    def _read(self, wanted: str, **values: str) -> list[ProjectDocument]:
        rows = self._database.rows(f"{_SELECT}{wanted}ORDER BY doc_id", values)
        return [from_row(json.loads(document), json.loads(identifiers)) for document, identifiers in rows]


def _delete(connection: sqlite3.Connection, project_id: str, doc_ids: Sequence[str]) -> None:
    for table in ("documents", "identifiers"):
        connection.execute(
            f"DELETE FROM project_{table} WHERE project_id = ? AND doc_id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (project_id, json.dumps(list(doc_ids))),
        )


_REVIEWED: Mapping[type[ReviewThing], tuple[str, ...]] = {
    ReviewRecord: ("review_records", "record_id"),
    ScreeningLabel: ("review_labels", "record_id", "stage", "whose"),
    ReviewSearch: ("review_searches", "search_id"),
    ReviewMerge: ("review_merges", "merge_id"),
}
"""The table of each kind, and its key in it behind the review."""


class SqliteScreenings(Store):
    """The port `Screenings` over the corpus file."""

    def plan(self, review: str) -> ReviewPlan | None:
        row = self._database.row("SELECT body FROM reviews WHERE review = ?", (review,))
        return plan_of(json.loads(row[0])) if row else None

    def put_plan(self, review: str, plan: ReviewPlan) -> None:
        row = (review, json.dumps(plan_row(plan), ensure_ascii=False))
        self._database.write("INSERT OR REPLACE INTO reviews VALUES (?, ?)", row)

    def reviews(self) -> dict[str, ReviewPlan]:
        rows = self._database.rows("SELECT review, body FROM reviews ORDER BY review", ())
        return {name: plan_of(json.loads(body)) for name, body in rows}

    def put(self, review: str, things: Sequence[ReviewThing]) -> None:
        counting = "INSERT INTO review_numbers VALUES (?1, ?2) ON CONFLICT (review) DO UPDATE SET number = number + ?2"
        with self._database.writing() as connection:
            (last,) = connection.execute(f"{counting} RETURNING number", (review, len(things))).fetchone()
            for number, each in enumerate(things, last - len(things) + 1):
                table, *keys = _REVIEWED[type(each)]
                body = json.dumps(review_row(each, number), ensure_ascii=False)
                row = (review, *(getattr(each, key) for key in keys), body)
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row)  # noqa: S608  our own

    def records(self, review: str) -> list[ReviewRecord]:
        return [record_of(row) for row in self._rows(ReviewRecord, review)]

    def remove_labels(self, review: str, labels: Sequence[ScreeningLabel]) -> None:
        sql = "DELETE FROM review_labels WHERE review = ? AND record_id = ? AND stage = ? AND whose = ?"
        with self._database.writing() as connection:
            connection.executemany(sql, [(review, each.record_id, each.stage, each.whose) for each in labels])

    def labels(self, review: str) -> list[ScreeningLabel]:
        return labels_of(self._rows(ScreeningLabel, review))

    def searches(self, review: str) -> list[ReviewSearch]:
        return searches_of(self._rows(ReviewSearch, review))

    def merges(self, review: str) -> list[ReviewMerge]:
        return merges_of(self._rows(ReviewMerge, review))

    def remove_merge(self, review: str, merge_id: str) -> None:
        self._database.write("DELETE FROM review_merges WHERE review = ? AND merge_id = ?", (review, merge_id))

    def drop(self, review: str) -> None:
        with self._database.writing() as connection:
            for table in ("reviews", *(table for table, *_ in _REVIEWED.values())):
                connection.execute(f"DELETE FROM {table} WHERE review = ?", (review,))  # noqa: S608

    def _rows(self, kind: type[ReviewThing], review: str) -> list[dict[str, Any]]:
        table, key, *_ = _REVIEWED[kind]
        rows = self._database.rows(f"SELECT body FROM {table} WHERE review = ? ORDER BY {key}", (review,))  # noqa: S608
        return [json.loads(body) for (body,) in rows]


LIFETIME = timedelta(days=730)


class SqliteAnswers(Store):
    """The port `Answers` over the corpus file. Each new answer removes those that are two years older than the last
    `WITNESSES` all are."""

    def put(self, answer: StoredAnswer) -> None:
        spans = json.dumps([asdict(span) for span in answer.spans])
        notes = json.dumps([answer.reason, answer.warnings])
        row = (answer.answer_id, answer.question, answer.text, spans, answer.confidence, sortable(answer.asked), notes)
        papers = {int(span.pmid): span.pmid in answer.flagged for span in answer.spans}
        with self._database.writing() as connection:
            number = "(SELECT coalesce(max(number), 0) + 1 FROM answers)"
            values = f"INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, {number}, ?)"  # noqa: S608  our own words
            new = connection.execute(values, row).rowcount
            if new:
                connection.executemany(
                    "INSERT INTO answer_papers VALUES (?, ?, ?)",
                    [(pmid, answer.answer_id, flag) for pmid, flag in papers.items()],
                )
                last = "SELECT min(asked) FROM (SELECT asked FROM answers ORDER BY number DESC LIMIT ?)"
                (asked,) = connection.execute(last, (WITNESSES,)).fetchone()
                older = (sortable(datetime.fromisoformat(asked) - LIFETIME),)
                answers = "(SELECT answer_id FROM answers WHERE asked < ?)"
                connection.execute(f"DELETE FROM answer_papers WHERE answer_id IN {answers}", older)  # noqa: S608
                connection.execute("DELETE FROM answers WHERE asked < ?", older)

    def get(self, answer_id: str) -> StoredAnswer:
        if found := self._answers("WHERE answer_id = ?", answer_id):
            return found[0]
        raise NotFound(f"There is no answer {answer_id!r}; answers are stored for two years")

    def citing(self, pmid: str) -> list[StoredAnswer]:
        return self._answers("JOIN answer_papers USING (answer_id) WHERE pmid = ? ORDER BY answer_id", int(pmid))

    def flag(self, pmid: str) -> None:
        self._database.write("UPDATE answer_papers SET flagged = 1 WHERE pmid = ?", (int(pmid),))

    def flagged(self, limit: int) -> list[StoredAnswer]:
        newest = "WHERE answer_id IN (SELECT answer_id FROM answer_papers WHERE flagged) ORDER BY number DESC LIMIT ?"
        return self._answers(newest, limit)

    def _answers(self, wanted: str, value: str | int) -> list[StoredAnswer]:
        """The answers of these rows, each with its flags."""
        flags = (
            "SELECT json_group_array(CAST(pmid AS TEXT)) FROM (SELECT pmid FROM answer_papers AS of "
            "WHERE of.answer_id = answers.answer_id AND flagged ORDER BY pmid)"
        )
        columns = f"answer_id, question, text, spans, confidence, asked, ({flags}), number, notes"
        rows = self._database.rows(f"SELECT {columns} FROM answers {wanted}", (value,))  # noqa: S608  our own words
        dated, decoded = datetime.fromisoformat, json.loads
        return [
            StoredAnswer(
                own,
                question,
                text,
                tuple(CitedSpan(**each) for each in decoded(spans)),
                confidence,
                dated(asked),
                tuple(decoded(flagged)),
                number,
                decoded(notes)[0],
                tuple(decoded(notes)[1]),
            )
            for own, question, text, spans, confidence, asked, flagged, number, notes in rows
        ]
