"""The recipe of the ingest function's container image, as far as it can be proven without Docker."""

import ast
import re
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path

from bio_mcp.adapters.embedders import TELEMETRY_OFF
from scripts.ingest_image import LAYERS, PLATFORMS, PYTHON, RECIPE
from tests.support.aws_template import FUNCTIONS, RESOURCES, TEMPLATE

ROOT = Path(__file__).parents[1]
STEPS = [line.split(maxsplit=1) for line in RECIPE.read_text().splitlines() if line and not line.startswith("#")]
PARSERS = ROOT / "layers/common/bio_mcp/adapters/parsers"


def given(step):
    return [rest for name, rest in STEPS if name == step]


def test_it_has_the_layers_of_the_function_that_it_replaces():
    assert [{"Ref": layer} for layer in LAYERS] == FUNCTIONS["ingest"][1]["Layers"]


def test_it_runs_the_handler_of_the_template_by_the_python_that_the_layers_were_compiled_for():
    everyones = TEMPLATE["Globals"]["Function"]
    assert everyones["Runtime"] == f"python{PYTHON}"
    assert given("CMD") == [f'["{everyones["Handler"]}"]']


def test_it_can_be_built_for_either_architecture_of_the_template():
    assert PLATFORMS.keys() == set(TEMPLATE["Parameters"]["Arch"]["AllowedValues"])


def test_it_reports_to_nobody():
    variables = dict(each.split("=") for line in given("ENV") for each in line.split())
    assert variables["ORT_DISABLE_TELEMETRY"] == TELEMETRY_OFF["ORT_DISABLE_TELEMETRY"]


def test_it_has_the_languages_that_scans_are_read_in_by_default():
    [installed] = [rest for rest in given("RUN") if "tesseract-ocr" in rest] or [RECIPE.read_text()]
    assert {"eng", "deu", "tha"} <= set(re.findall(r"tesseract-ocr-(\w+)", RECIPE.read_text())), installed


def test_the_layers_hold_every_library_that_a_parser_imports():
    locked = "".join((ROOT / f"layers/{name}/requirements.txt").read_text() for name in ("common", "parsing"))
    names = set(re.findall(r"^([a-z0-9-]+)==", locked, re.MULTILINE))
    known = packages_distributions()
    imported = {top for path in PARSERS.rglob("*.py") for top in tops(path) if top in known} - {"bio_mcp"}
    assert imported
    assert {top for top in imported if not {each.lower() for each in known[top]} & names} == set()


def tops(path):
    """The top-level packages that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_the_image_is_an_image_of_a_private_repository():
    pattern = TEMPLATE["Parameters"]["IngestImageUri"]["AllowedPattern"]
    assert re.fullmatch(pattern, "")
    assert re.fullmatch(pattern, "123456789012.dkr.ecr.eu-central-1.amazonaws.com/bio-mcp-ingest:1")
    assert not re.fullmatch(pattern, "debian:latest")
    assert fnmatch(RESOURCES["IngestImageFunction"]["Properties"]["Code"]["ImageUri"]["Ref"], "IngestImageUri")
