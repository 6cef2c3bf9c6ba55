"""The files by which others install this agree with each other and with the code; tests/all has their schemas."""

import json
import re
import shlex
import tomllib
from dataclasses import fields
from pathlib import Path

import click
import pytest
import yaml

from bio_mcp import __version__
from bio_mcp.doors.cli.program import bio_mcp
from bio_mcp.doors.mcp.http import DESCRIPTION
from bio_mcp.doors.mcp.listing import META
from bio_mcp.settings import Settings
from scripts.distribution import PROJECT, bundle
from scripts.image import LOCK, PROGRAMS
from scripts.sbom import NAME, bill_of

ROOT = Path(__file__).parents[1]
SERVER = json.loads((ROOT / "server.json").read_text())
MANIFEST = json.loads((ROOT / "manifest.json").read_text())
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
RELEASE = (ROOT / ".github/workflows/release.yml").read_text()
VARIABLES = {each.metadata["env"]: each for each in fields(Settings)}


def test_every_file_has_the_version_of_the_code():
    packages = [each.get("version", each["identifier"].rpartition(":")[2]) for each in SERVER["packages"]]
    packages += re.findall(r"bio-mcp/bio-mcp:(\S+)", (ROOT / "compose.yaml").read_text())
    assert {SERVER["version"], MANIFEST["version"], str(CITATION["version"]), *packages} == {__version__}


def test_the_registry_finds_its_marker_on_the_page_of_the_package():
    assert re.findall(r"<!-- mcp-name: (\S+) -->", (ROOT / "docs/pypi.md").read_text()) == [SERVER["name"]]


def test_the_server_says_of_itself_what_the_registry_says():
    assert SERVER["name"] == f"{META}bio-mcp"
    assert SERVER["description"] == MANIFEST["description"] == DESCRIPTION
    assert len(DESCRIPTION) <= 100  # the registry takes no more


@pytest.mark.parametrize("package", SERVER["packages"], ids=lambda package: package["registryType"])
def test_a_package_starts_the_server_over_stdio_with_settings_that_there_are(package):
    assert [each["value"] for each in package["packageArguments"]] == ["stdio"]
    for each in package["environmentVariables"]:
        assert VARIABLES[each["name"]].metadata["secret"] == each.get("isSecret", False)


def test_the_bundle_asks_for_settings_that_there_are_and_passes_each_on():
    passed = MANIFEST["server"]["mcp_config"]["env"]
    assert set(passed) <= set(VARIABLES)
    assert set(passed.values()) == {f"${{user_config.{name}}}" for name in MANIFEST["user_config"]}
    secret = {name for name in passed if VARIABLES[name].metadata["secret"]}
    assert {
        name for name, field in zip(passed, MANIFEST["user_config"].values(), strict=True) if field.get("sensitive")
    } == secret
    assert not any(each["required"] for each in MANIFEST["user_config"].values())


def test_the_bundle_is_the_same_each_time_and_installs_this_version(tmp_path):
    once, again = bundle(tmp_path), bundle((tmp_path / "again").mkdir() or tmp_path / "again")
    assert once.read_bytes() == again.read_bytes()
    assert f'dependencies = ["{NAME}=={__version__}"]' in PROJECT
    assert once.name == f"{NAME}-{__version__}.mcpb"


def test_the_bill_names_what_the_lock_names_and_the_model():
    lock = ROOT / "requirements/run.txt"
    bill = bill_of(lock)
    locked = re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock.read_text(), re.MULTILINE)
    libraries = [(each["name"], each["version"]) for each in bill["components"] if each["type"] == "library"]
    assert libraries == locked
    assert [each["name"] for each in bill["components"] if each["type"] == "machine-learning-model"]
    assert bill == bill_of(lock)
    assert bill["dependencies"][0]["dependsOn"] == [each["bom-ref"] for each in bill["components"]]


def test_a_release_stores_no_secret_and_uses_nobodys_action_but_githubs():
    assert set(re.findall(r"secrets\.(\w+)", RELEASE)) == {"GITHUB_TOKEN"}
    assert all(each.startswith("actions/") for each in re.findall(r"uses: (\S+)", RELEASE))


def test_what_a_release_runs_is_a_target_of_make():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"run: make ([a-z-]+)", RELEASE)) <= targets


COMPOSED = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
RECIPE = (ROOT / "container/Dockerfile").read_text()


def test_the_containers_variables_are_settings_that_there_are():
    assert set(COMPOSED["endpoint"]["environment"]) <= set(VARIABLES)
    given = dict(re.findall(r"(\w+)=(\S+)", "".join(re.findall(r"ENV ((?:.*\\\n)*.*)", RECIPE))))
    assert {name for name in given if name.startswith(("BIO_MCP_", "MCP_"))} <= set(VARIABLES)


def test_the_endpoint_of_a_team_has_no_rights_that_it_does_not_need():
    endpoint = COMPOSED["endpoint"]
    assert endpoint["read_only"] is True
    assert endpoint["cap_drop"] == ["ALL"]
    assert endpoint["user"] in RECIPE
    assert all(port.startswith("127.0.0.1:") for port in endpoint["ports"])
    assert "ports" not in COMPOSED["opensearch"]


def test_the_image_says_which_server_it_is_and_looks_after_its_health():
    assert f'io.modelcontextprotocol.server.name="{SERVER["name"]}"' in RECIPE
    assert "HEALTHCHECK" in RECIPE
    assert "/ready" in (ROOT / "container/health").read_text()


def test_the_image_holds_what_a_laptop_has_and_reaches_an_index_of_a_team():
    locked = set(re.findall(r"^([\w.-]+)==", LOCK.read_text(), re.MULTILINE))
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {re.match(r"[\w.-]+", each)[0].lower() for each in declared} <= locked
    assert {"opensearch-py", "boto3"} <= locked


def test_the_image_starts_programs_that_are_laid_out():
    started = set(re.findall(r'(?:CMD|ENTRYPOINT) \["([\w-]+)"', RECIPE))
    assert started - {"serve"} == set(PROGRAMS)
    assert all((ROOT / "container" / name).stat().st_mode & 0o111 for name in PROGRAMS)


PAGES = [ROOT / "docs/install.md", ROOT / "docs/pypi.md"]
BLOCKS = [block for page in PAGES for block in re.findall(r"```(?:sh|text)\n(.*?)```", page.read_text(), re.DOTALL)]
STARTED = re.compile(r"^(?:uvx |docker compose exec endpoint )?bio-mcp(?:-literature)? (.+)$", re.MULTILINE)
COMMANDS = sorted({command for block in BLOCKS for command in STARTED.findall(block)})


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_pages_about_installing_is_understood(command):
    found, words = bio_mcp, shlex.split(command)
    while isinstance(found, click.Group):
        found = found.get_command(click.Context(found), words.pop(0))
    assert found.make_context(command, words).params
