"""The schemas and tools of those who read our manifests take them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from scripts.distribution import bill, bundle
from tests.all.node import run as run_node

ROOT = Path(__file__).parents[2]
BIN = ROOT / ".cache/manifests/bin"
MCPB = "@anthropic-ai/mcpb/dist/cli/cli.js"
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()) is not None)
"""


def run(*command, **options):
    assert BIN.exists(), "the judges are not installed in .cache/manifests: run make test-all"
    env = {"PATH": os.environ["PATH"], "HOME": os.devnull, "NO_COLOR": "1"}
    return subprocess.run(
        [BIN / command[0], *command[1:]], cwd=ROOT, env=env, capture_output=True, text=True, **options
    )


SCHEMAS = {
    "vendor.citation-file-format": ["CITATION.cff"],
    "vendor.github-workflows": [str(each.relative_to(ROOT)) for each in sorted(ROOT.glob(".github/workflows/*.yml"))],
    "vendor.github-actions": [str(each.relative_to(ROOT)) for each in sorted(ROOT.glob("action.yml"))],
    "vendor.compose-spec": [str(each.relative_to(ROOT)) for each in sorted(ROOT.glob("compose*.yaml"))],
}


@pytest.mark.parametrize("schema", [name for name, files in SCHEMAS.items() if files])
def test_a_file_is_valid_by_its_schema(schema):
    judged = run("check-jsonschema", "--builtin-schema", schema, *SCHEMAS[schema])
    assert judged.returncode == 0, judged.stdout


def test_the_judge_of_schemas_can_refuse(tmp_path):
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\n")
    judged = run("check-jsonschema", "--builtin-schema", "vendor.citation-file-format", str(tmp_path / "CITATION.cff"))
    assert judged.returncode == 1


def test_workflows_give_nobody_more_than_they_need():
    judged = run("zizmor", "--offline", "--no-progress", ".github")
    assert judged.returncode == 0, judged.stdout


def test_the_entry_of_the_registry_is_valid():
    judged = run(
        "skillsaw", "lint", "--no-plugins", "--format", "json", "--rule", "mcp-registry-server-json-valid", "."
    )
    assert judged.returncode == 0, judged.stdout


def test_the_bundle_is_valid_by_the_tool_of_its_authors(tmp_path):
    judged = run_node(MCPB, "validate", str(ROOT / "manifest.json"), home=tmp_path)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    shown = run_node(
        "@anthropic-ai/mcpb/dist/cli/cli.js", "unpack", str(bundle(tmp_path)), str(tmp_path / "out"), home=tmp_path
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert json.loads((tmp_path / "out/manifest.json").read_text()) == json.loads((ROOT / "manifest.json").read_text())


def test_the_bill_of_materials_is_valid(tmp_path):
    text = bill(tmp_path).read_text()
    assert run("python", "-c", VALIDATE, input=text).returncode == 0
    assert run("python", "-c", VALIDATE, input=text.replace('"library"', '"book"')).returncode == 1
