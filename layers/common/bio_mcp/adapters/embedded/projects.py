"""Projects, in the corpus file."""

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.projects import unknown_project
from bio_mcp.ports.stores import Project

_SELECT = "SELECT project_id, collection, embed_model, hybrid_enabled, refs FROM projects "


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
        row = (project.project_id, project.collection, project.embed_model, project.hybrid_enabled, project.references)
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO projects VALUES (?, ?, ?, ?, ?)", row)

    def all(self) -> list[Project]:
        with self._database.reading() as connection:
            return [_project(row) for row in connection.execute(_SELECT + "ORDER BY project_id")]


def _project(row: tuple[str, str, str, int, str | None]) -> Project:
    project_id, collection, embed_model, hybrid_enabled, references = row
    return Project(project_id, collection, embed_model, bool(hybrid_enabled), references)
