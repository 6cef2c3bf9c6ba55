"""The plugins for Claude Code and Codex: valid, of this version, and complete for the skills that they bring."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from bio_mcp import __version__
from bio_mcp.catalog import TOOLS
from bio_mcp.doors.mcp.listing import chosen, words_of
from bio_mcp.settings import Settings
from bio_mcp.skills import NAMES, all_skills
from tests.support.named_tools import calls

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "tests/data/plugins"


def read(path):
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


CLAUDE, CODEX = read(".claude-plugin/plugin.json"), read(".codex-plugin/plugin.json")
SERVERS = [CLAUDE["mcpServers"], read(CODEX["mcpServers"])["mcpServers"]]
each_plugin = pytest.mark.parametrize("manifest", [CLAUDE, CODEX], ids=["claude", "codex"])
each_server = pytest.mark.parametrize("server", [each["bio-mcp"] for each in SERVERS], ids=["claude", "codex"])


@pytest.mark.parametrize("kind", ["plugin", "marketplace"])
def test_a_manifest_of_claude_code_fits_its_schema(kind):
    schema = json.loads((SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8"))
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    manifest = read(f".claude-plugin/{kind}.json")
    assert [error.message for error in validator.iter_errors(manifest)] == []
    assert list(validator.iter_errors({**manifest, "nmae": "x"}))


@each_plugin
def test_a_plugin_has_the_name_version_and_licence_of_the_package(manifest):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"])
    assert (manifest["version"], manifest["license"]) == (__version__, "Apache-2.0")


@each_plugin
def test_a_plugin_brings_every_skill(manifest):
    assert manifest["skills"].startswith("./")
    assert sorted(each.parent.name for each in (ROOT / manifest["skills"]).glob("*/SKILL.md")) == sorted(NAMES)


@each_server
def test_a_plugin_lists_every_tool_that_its_skills_name(server):
    asked = server["args"][server["args"].index("--tools") + 1]
    listed = {TOOLS[name].portable_name for name in chosen(list(TOOLS.values()), words_of(asked))}
    named = {tool for each in all_skills() for tool, _ in calls(each.text)}
    assert named <= listed
    assert listed - named - {each.portable_name for each in TOOLS.values() if each.in_default_list} == set()


@each_server
def test_a_plugin_starts_the_published_program(server):
    assert server["command"] == "uvx"
    assert server["args"][:2] == ["bio-mcp-literature", "stdio"]


def test_both_clients_hand_the_same_settings_to_the_server():
    known = {field.metadata["env"] for field in Settings.__dataclass_fields__.values() if field.metadata}
    claude, codex = (each["bio-mcp"] for each in SERVERS)
    assert list(claude["env"]) == codex["env_vars"]
    assert set(codex["env_vars"]) <= known
    given = [re.fullmatch(r"\$\{user_config\.(\w+)\}", value)[1] for value in claude["env"].values()]
    assert given == list(CLAUDE["userConfig"])
    assert all(field["default"] == "" for field in CLAUDE["userConfig"].values())  # or Claude Code passes the name on


@pytest.mark.parametrize("path", [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"])
def test_a_marketplace_names_the_plugin(path):
    [plugin] = read(path)["plugins"]
    assert plugin["name"] == CLAUDE["name"] == CODEX["name"]


def test_codex_shows_what_its_catalog_asks_for():
    prompts = CODEX["interface"]["defaultPrompt"]
    assert len(prompts) <= 3
    assert max(map(len, prompts)) <= 128
    assert {"displayName", "shortDescription", "developerName", "category"} <= CODEX["interface"].keys()
    [plugin] = read(".agents/plugins/marketplace.json")["plugins"]
    assert plugin["policy"] == {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
