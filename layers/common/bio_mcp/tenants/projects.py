"""Projects, their indexes and their documents, of one tenant."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from bio_mcp.errors import NotFound
from bio_mcp.ports.projects import Project, Projects
from bio_mcp.retrieval.project_names import unknown_project
from bio_mcp.tenants.names import Names

JOINT = "."  # between a tenant and the name of a collection, which may be a part of an address


class TenantProjects:
    """The port `Projects`, without those of other tenants."""

    def __init__(self, projects: Projects, names: Names) -> None:
        self._projects, self._names = projects, names

    def get(self, project_id: str) -> Project:
        try:
            found = self._own(self._projects.get(self._names.stored(project_id)))
        except NotFound:
            found = None
        if found is None:
            raise unknown_project(project_id, (each.project_id for each in self.all()))
        return found

    def put(self, project: Project) -> None:
        collection = self._names.stored(project.collection, JOINT)
        self._projects.put(replace(project, project_id=self._names.stored(project.project_id), collection=collection))

    def all(self) -> list[Project]:
        return [own for each in self._projects.all() if (own := self._own(each))]

    def delete(self, project_id: str) -> bool:
        return self._projects.delete(self._names.stored(project_id))

    def _own(self, project: Project) -> Project | None:
        project_id = self._names.own(project.project_id)
        collection = self._names.own(project.collection, JOINT)
        if project_id is None or collection is None:
            return None
        return replace(project, project_id=project_id, collection=collection)


class FirstNamed:
    """A port each of whose methods takes first the name of what it is about: `stored` makes the name in the store of
    it."""

    def __init__(self, port: Any, stored: Callable[[str], str]) -> None:
        self._port, self._stored = port, stored

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return partial(self._call, getattr(self._port, method))

    def _call(self, method: Callable[..., Any], name: str, *rest: Any, **named: Any) -> Any:
        return method(self._stored(name), *rest, **named)
