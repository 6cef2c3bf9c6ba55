"""What `make audit` finds in locks, and what it makes of its tools' findings."""

import json

import pytest

from scripts.audit import LOCKS, ROOT, advisories, pins, unlocked, unlocked_npm

HASHED = "b==1.0 \\\n    --hash=sha256:00\n"


def test_everything_that_is_locked_here_has_a_version_and_a_hash():
    locks = [path for pattern in LOCKS for path in ROOT.glob(pattern)]
    assert len(pins(locks)) > 200
    assert unlocked(locks) == []
    assert unlocked_npm(ROOT / "tests/all/package-lock.json") == []


@pytest.mark.parametrize("line", ["a>=1", "a==1.0", "a", "a @ https://files.example.org/a.whl", "a==1.0 --hash=md5:0"])
def test_what_has_no_version_or_no_hash_is_named(tmp_path, line):
    (tmp_path / "x.txt").write_text(f"# locked\n{HASHED}{line}\n--no-index\n")
    assert unlocked([tmp_path / "x.txt"]) == [
        f"{tmp_path.name}/x.txt: a has no version or no hash".replace(": a ", f": {line.split()[0]} ")
    ]


def test_a_package_of_npm_without_a_hash_is_named(tmp_path):
    packages = {"": {}, "node_modules/a": {"integrity": "sha512-x"}, "node_modules/b": {"version": "1"}}
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": packages}))
    assert unlocked_npm(tmp_path / "package-lock.json") == ["package-lock.json: node_modules/b has no hash"]


def test_pins_have_names_without_extras_and_versions_without_markers(tmp_path):
    (tmp_path / "x.txt").write_text(f"{HASHED}C[d,e]==2.1 ; python_version < '3.12' \\\n    --hash=sha256:00\n")
    assert pins([tmp_path / "x.txt"]) == {("b", "1.0"), ("c", "2.1")}


def answering(folder, *audited):
    """A pip-audit that answers this, and notes what it was asked about."""
    tool = folder / "pip-audit"
    body = json.dumps({"dependencies": list(audited)})
    tool.write_text(
        f"#!/bin/sh\nfor last; do each=$before; before=$last; done\ncat \"$6\" >> {folder}/asked\necho '{body}'\n"
    )
    tool.chmod(0o755)
    return folder


def test_an_advisory_is_a_finding(tmp_path):
    tools = answering(tmp_path, {"name": "b", "version": "1.0", "vulns": [{"id": "PYSEC-1"}]})
    assert advisories(tools, {("b", "1.0")}) == ["b 1.0: PYSEC-1"]
    assert (tmp_path / "asked").read_text() == "b==1.0"


def test_two_versions_of_a_package_are_asked_about_one_after_the_other(tmp_path):
    tools = answering(tmp_path, {"name": "b", "version": "1.0", "vulns": []})
    assert advisories(tools, {("b", "1.0"), ("b", "2.0"), ("c", "3")}) == []
    assert (tmp_path / "asked").read_text() == "b==1.0\nc==3b==2.0"


def test_a_registry_without_advisories_is_reported(tmp_path, capsys):
    tools = answering(tmp_path, {"name": "b", "skip_reason": "not found"})
    assert advisories(tools, {("b", "1.0")}) == []
    assert "has none to look in for 1 of 1 packages" in capsys.readouterr().out


def test_a_tool_that_breaks_is_no_clean_audit(tmp_path):
    (tmp_path / "pip-audit").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "pip-audit").chmod(0o755)
    with pytest.raises(SystemExit, match="pip-audit failed"):
        advisories(tmp_path, {("b", "1.0")})
