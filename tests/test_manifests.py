"""What others install this by and with agrees with itself and with the code; tests/all has the schemas."""

import json
import re
import shlex
import tomllib
from dataclasses import fields
from pathlib import Path
from zipfile import ZipFile

import click
import pytest
import yaml
from jsonschema import Draft7Validator

from bio_mcp import __version__
from bio_mcp.adapters.embedders.model_files import DEFAULT, GRAPH, PACKAGED, sha256_of
from bio_mcp.catalog import TOOLS
from bio_mcp.doors.cli.program import bio_mcp
from bio_mcp.doors.mcp.http import DESCRIPTION
from bio_mcp.doors.mcp.listing import META, chosen
from bio_mcp.settings import Settings, words_of
from bio_mcp.skills import NAMES, skill
from scripts.distribution import PROJECT, bill, bundle
from scripts.image import LOCK, PROGRAMS
from scripts.sbom import NAME, bill_of
from tests.support.named_tools import calls

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


PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ON_LAPTOPS_ALONE = {"click", "fastapi", "mcp", "onnxruntime", "pythainlp", "rich", "uvicorn"}


def names(requirements):
    found = (re.match(r"[A-Za-z][\w.-]*", each.strip()) for each in requirements)
    return {each[0].lower() for each in found if each}


def test_the_program_has_the_distributions_name_too_so_that_uvx_finds_it():
    assert PYPROJECT["name"] == "bio-mcp-literature"
    assert set(PYPROJECT["scripts"]) == {"bio-mcp", PYPROJECT["name"]}
    assert len(set(PYPROJECT["scripts"].values())) == 1


def test_its_version_is_the_modules():
    assert PYPROJECT["version"] == __version__


def test_functions_on_aws_get_what_is_declared_and_no_more_than_they_need():
    listed = names((ROOT / "layers/common/requirements.in").read_text().splitlines())
    aws = names(PYPROJECT["optional-dependencies"]["aws"])
    assert aws <= listed <= names(PYPROJECT["dependencies"]) | aws
    locked = names((ROOT / "layers/common/requirements.txt").read_text().splitlines())
    assert locked.isdisjoint(ON_LAPTOPS_ALONE)


@pytest.mark.parametrize("layer", ["hf", "inference", "mcp", "parsing"])
def test_what_another_layer_adds_is_declared_too(layer):
    listed = names((ROOT / f"layers/{layer}/requirements.in").read_text().splitlines())
    declared = names(PYPROJECT["dependencies"]) | names(PYPROJECT["optional-dependencies"]["hf"])
    assert listed <= declared


LOCKED = """\
click==8.3.1 \\
    --hash=sha256:aaaa
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:bbbb \\
    --hash=sha256:cccc
PyStemmer==3.0.0 \\
    --hash=sha256:dddd
"""


def test_a_bill_says_where_a_library_is_installed_and_gives_each_its_address(tmp_path):
    (tmp_path / "lock.txt").write_text(LOCKED)
    click, colorama, stemmer, model = bill_of(tmp_path / "lock.txt")["components"]
    assert (click["name"], click["version"], click["purl"]) == ("click", "8.3.1", "pkg:pypi/click@8.3.1")
    assert "properties" not in click
    assert colorama["properties"] == [{"name": "bio-mcp:installed-where", "value": "sys_platform == 'win32'"}]
    assert stemmer["purl"] == "pkg:pypi/pystemmer@3.0.0"
    assert model["hashes"] == [{"alg": "SHA-256", "content": sha256_of(PACKAGED / DEFAULT / GRAPH)}]


def test_another_lock_has_a_bill_with_another_number(tmp_path):
    (tmp_path / "one.txt").write_text(LOCKED)
    (tmp_path / "other.txt").write_text(LOCKED.replace("8.3.1", "8.3.2"))
    numbers = {bill_of(tmp_path / name)["serialNumber"] for name in ("one.txt", "other.txt", "one.txt")}
    assert len(numbers) == 2


def test_a_bill_is_written_beside_the_packages(tmp_path):
    written = bill(tmp_path)
    assert written.name == f"{PYPROJECT['name']}-{__version__}.cdx.json"
    product = json.loads(written.read_text())["metadata"]["component"]
    assert (product["name"], product["version"]) == (PYPROJECT["name"], __version__)


def test_what_claude_desktop_starts_is_the_program_over_stdio(tmp_path):
    with ZipFile(bundle(tmp_path)) as archive:
        assert sorted(archive.namelist()) == ["manifest.json", "pyproject.toml", "server.py"]
        started = json.loads(archive.read("manifest.json"))["server"]
        assert started["entry_point"] in started["mcp_config"]["args"]
        requires = tomllib.loads(archive.read("pyproject.toml").decode())["project"]
        server = archive.read("server.py").decode()
    assert requires["requires-python"] == PYPROJECT["requires-python"]
    assert requires["dependencies"] == [f"{PYPROJECT['name']}=={PYPROJECT['version']}"]
    compile(server, "server.py", "exec")
    assert 'main(["stdio"])' in server


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
    named = {tool for name in NAMES for tool, _ in calls(skill(name).text)}
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
