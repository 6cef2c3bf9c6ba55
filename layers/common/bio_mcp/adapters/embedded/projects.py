"""Projects, in the corpus file."""

from dataclasses import astuple

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.ports.projects import Project
from bio_mcp.retrieval.project_names import unknown_project

_SELECT = "SELECT project_id, collection, embed_model, hybrid_enabled, refs, top_k, max_characters FROM projects "


class SqliteProjects:
    """The port `Projects` over the corpus file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, project_id: str) -> Project:
        with self._database.reading() as connection:
            row = connection.execute(_SELECT + "WHERE project_id = ?", (project_id,)).fetchone()
        if row is None:
            raise unknown_project(project_id, (project.project_id for project in self.all()))
        return _project(row)

    def put(self, project: Project) -> None:
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO projects VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(project))

    def all(self) -> list[Project]:
        with self._database.reading() as connection:
            return [_project(row) for row in connection.execute(_SELECT + "ORDER BY project_id")]

    def delete(self, project_id: str) -> bool:
        with self._database.writing() as connection:
            return connection.execute("DELETE FROM projects WHERE project_id = ?", (project_id,)).rowcount > 0


def _project(row: tuple[str, str, str, int, str | None, int, int]) -> Project:
    project_id, collection, embed_model, hybrid_enabled, references, top_k, max_characters = row
    return Project(project_id, collection, embed_model, bool(hybrid_enabled), references, top_k, max_characters)
