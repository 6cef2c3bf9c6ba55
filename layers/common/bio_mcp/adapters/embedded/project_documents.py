"""The documents of projects, in the corpus file."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.project_documents import from_row, to_row
from bio_mcp.ports.projects import ProjectDocument

_SELECT = (
    "SELECT document, (SELECT json_group_array(identifier) FROM project_identifiers AS i "
    "WHERE i.project_id = d.project_id AND i.doc_id = d.doc_id) "
    "FROM project_documents AS d WHERE project_id = :project "
)
_ALL = f"{_SELECT} ORDER BY doc_id"
_HAVING = (
    f"{_SELECT} AND doc_id IN (SELECT doc_id FROM project_identifiers WHERE project_id = :project "  # noqa: S608
    "AND identifier IN (SELECT value FROM json_each(:identifiers))) ORDER BY doc_id"
)


class SqliteProjectDocuments:
    """The port `ProjectDocuments` over the corpus file."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
        return self._read(_ALL, project=project_id)

    def cursor(self, project_id: str, library: str) -> dict[str, Any]:
        with self._database.reading() as connection:
            sql = "SELECT cursor FROM project_cursors WHERE project_id = ? AND library = ?"
            row = connection.execute(sql, (project_id, library)).fetchone()
        cursor: dict[str, Any] = json.loads(row[0]) if row else {}
        return cursor

    def put_cursor(self, project_id: str, library: str, cursor: Mapping[str, Any]) -> None:
        row = (project_id, library, json.dumps(dict(cursor), ensure_ascii=False))
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO project_cursors VALUES (?, ?, ?)", row)

    def drop(self, project_id: str) -> None:
        with self._database.writing() as connection:
            for table in ("documents", "identifiers", "cursors"):
                connection.execute(f"DELETE FROM project_{table} WHERE project_id = ?", (project_id,))  # noqa: S608

    def _read(self, sql: str, **values: str) -> list[ProjectDocument]:
        with self._database.reading() as connection:
            rows = connection.execute(sql, values).fetchall()
        return [from_row(json.loads(document), json.loads(identifiers)) for document, identifiers in rows]


def _delete(connection: sqlite3.Connection, project_id: str, doc_ids: Sequence[str]) -> None:
    for table in ("documents", "identifiers"):
        connection.execute(
            f"DELETE FROM project_{table} WHERE project_id = ? AND doc_id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (project_id, json.dumps(list(doc_ids))),
        )
