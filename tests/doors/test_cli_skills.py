"""`bio-mcp skill install`."""

from pathlib import Path

import pytest

from bio_mcp.doors.cli.skills import DIRECTORIES
from bio_mcp.skills import NAMES, skill


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """The home directory of whoever types the command."""
    made = tmp_path / "person"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    return made


def files_in(directory):
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def expected(below):
    return {f"{below}/{name}/SKILL.md": skill(name).content for name in NAMES}


@pytest.mark.parametrize("client", DIRECTORIES)
def test_the_skills_are_put_where_each_client_looks(cli, home, tmp_path, client):
    of_user, of_project = DIRECTORIES[client]
    assert cli("skill", "install", "--client", client).code == 0
    assert files_in(home) == expected(of_user)
    project = tmp_path / "project"
    project.mkdir()
    assert cli("skill", "install", "--client", client, "--project", str(project)).code == 0
    assert files_in(project) == expected(of_project)


def test_claude_is_meant_where_no_client_is_named(cli, home):
    done = cli("skill", "install", "--json")
    assert done.json == {"directory": str(home / ".claude/skills"), "skills": dict.fromkeys(NAMES, "installed")}


def test_to_install_again_changes_nothing(cli, home):
    cli("skill", "install")
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    done = cli("skill", "install", "--json")
    assert (done.code, set(done.json["skills"].values())) == (0, {"unchanged"})
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before


def test_a_skill_that_somebody_changed_is_left_as_it_is_unless_replacing_it_is_asked_for(cli, home):
    own = home / ".claude/skills/systematic-search/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("my own")
    done = cli("skill", "install")
    assert done.code == 1
    assert "--force replaces it" in done.err
    assert own.read_text() == "my own"
    assert (home / ".claude/skills/check-references/SKILL.md").exists()
    forced = cli("skill", "install", "--force", "--json")
    assert (forced.code, forced.json["skills"]["systematic-search"]) == (0, "replaced")
    assert own.read_bytes() == skill("systematic-search").content


def test_a_place_that_cannot_be_written_is_reported(cli, home):
    (home / ".claude").write_text("no directory")
    done = cli("skill", "install")
    assert done.code == 1
    assert "cannot be written: Not a directory" in done.err


def test_a_project_that_is_not_there_is_misuse(cli, tmp_path):
    assert cli("skill", "install", "--project", str(tmp_path / "nowhere")).code == 2
    assert not Path(tmp_path / "nowhere").exists()
