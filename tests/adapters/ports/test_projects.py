import pytest

from bio_mcp.errors import NotFound
from bio_mcp.ports.projects import Project

ONE = Project(
    "citeloom/clean-arch", "proj-citeloom-clean-arch", "all-MiniLM-L6-v2", True, "references/clean-arch.json", 10, 900
)
OTHER = Project("citeloom/ddd", "proj-citeloom-ddd", "BAAI/bge-small-en-v1.5", hybrid_enabled=False)


def test_projects_come_back_equal_and_listed_by_id_and_what_is_put_again_replaces(projects):
    assert projects.all() == []
    for project in (OTHER, ONE):
        projects.put(project)
        assert projects.get(project.project_id) == project
    assert projects.all() == [ONE, OTHER]
    changed = Project(ONE.project_id, "proj-x", "other-model", False)
    projects.put(changed)
    assert projects.all() == [changed, OTHER]


def test_an_unknown_project_is_not_found_and_the_others_are_named(projects):
    with pytest.raises(NotFound, match="none yet"):
        projects.get("citeloom/unknown")
    projects.put(ONE)
    projects.put(OTHER)
    with pytest.raises(NotFound) as refused:
        projects.get("citeloom/unknown")
    assert str(refused.value).endswith(
        "not found. Available projects: citeloom/clean-arch, citeloom/ddd. "
        "ingest_from_source with create: true makes one."
    )


def test_of_many_projects_a_message_names_some(projects):
    for n in range(30):
        projects.put(Project(f"p/{n:02}", f"proj-p-{n:02}", "m"))
    assert len(projects.all()) == 30
    with pytest.raises(NotFound, match="p/19 and 10 more") as refused:
        projects.get("q")
    assert len(refused.value.details["available_projects"]) == 20


def test_a_deleted_project_is_gone_and_the_others_stay(projects):
    projects.put(ONE)
    projects.put(OTHER)
    assert projects.delete(ONE.project_id)
    assert projects.all() == [OTHER]
    assert not projects.delete(ONE.project_id)
