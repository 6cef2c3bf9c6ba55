"""The recipes of the container images, as far as they can be proven without Docker and a registry."""

import ast
import re
from dataclasses import fields
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from bio_mcp.adapters.embedders import TELEMETRY_OFF
from bio_mcp.settings import Settings
from scripts.image import LAYERS, PLATFORMS, PYTHON, RECIPES
from tests.support.aws_template import FUNCTIONS, RESOURCES, TEMPLATE

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "layers/hf/Dockerfile").read_text()
IGNORED = (ROOT / "layers/hf/Dockerfile.dockerignore").read_text().split()
EMBED = [name for name, (_, made) in FUNCTIONS.items() if {"Ref": "InferenceLayer"} in made["Layers"]]


def given(step, recipe=RECIPE):
    steps = [line.split(maxsplit=1) for line in recipe.splitlines() if line and not line.startswith("#")]
    return [rest for name, rest in steps if name == step]


def copied(function):
    named = [copy.split()[0] for copy in given("COPY") if not copy.startswith("--from=")]  # or in another context
    return [each.replace("${FUNCTION}", function) for each in named]


@pytest.mark.parametrize("function", EMBED)
def test_everything_that_it_copies_is_there_and_sent_to_the_builder(function):
    sent = [each.removeprefix("!") for each in IGNORED if each.startswith("!")]
    assert IGNORED[0] == "*"
    for path in copied(function):
        assert (ROOT / path).exists()
        assert any(fnmatch(path, pattern) for pattern in sent)


def test_it_runs_the_python_and_the_handler_of_the_template():
    base = next(each for each in given("ARG") if each.startswith("BASE="))
    assert TEMPLATE["Globals"]["Function"]["Runtime"] == f"python{base.rpartition(':')[2]}"
    assert given("CMD") == [f'["{TEMPLATE["Globals"]["Function"]["Handler"]}"]']


def test_the_variables_of_the_image_are_settings():
    variables = dict(each.split("=") for line in given("ENV") for each in line.split())
    assert variables["BIO_MCP_EMBEDDING_MODEL"] == "${MODEL}"
    known = {each.metadata["env"]: each for each in fields(Settings)}
    assert Settings.from_env({name: value for name, value in variables.items() if name in known}).embeddings == "hf"
    assert {name: value for name, value in variables.items() if name not in known} == TELEMETRY_OFF
    assert f"--from=model . {variables['BIO_MCP_MODELS']}/${{MODEL}}/" in given("COPY")


def test_it_reports_to_nobody_while_it_is_built_either():
    before = RECIPE[: RECIPE.index("\nRUN ")]
    assert all(f"{name}={value}" in before for name, value in TELEMETRY_OFF.items() if name != "HF_HUB_OFFLINE")


def test_what_it_installs_is_locked_and_leaves_out_what_lambda_brings():
    assert any("--require-hashes" in line for line in given("RUN"))
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "layers/hf/requirements.txt").read_text(), re.MULTILINE))
    assert {"sentence-transformers", "torch", "onnxruntime", "safetensors", "pydantic"} <= locked
    assert locked.isdisjoint({"boto3", "botocore"})


def test_the_function_of_its_comment_is_one_that_embeds():
    assert re.findall(r"FUNCTION=(\w+)", RECIPE) == ["search", "search"]
    assert "search" in EMBED


INGEST = RECIPES["ingest"].read_text()
PARSERS = ROOT / "layers/common/bio_mcp/adapters/parsers"


def test_the_ingest_image_has_the_layers_of_the_function_that_it_replaces():
    assert [{"Ref": layer} for layer in LAYERS] == FUNCTIONS["ingest"][1]["Layers"]


def test_the_ingest_image_runs_the_handler_of_the_template_by_the_python_that_the_layers_were_compiled_for():
    everyones = TEMPLATE["Globals"]["Function"]
    assert everyones["Runtime"] == f"python{PYTHON}"
    assert given("CMD", INGEST) == [f'["{everyones["Handler"]}"]']


def test_the_ingest_image_can_be_built_for_either_architecture_of_the_template():
    assert PLATFORMS.keys() == set(TEMPLATE["Parameters"]["Arch"]["AllowedValues"])


def test_the_ingest_image_reports_to_nobody():
    variables = dict(each.split("=") for line in given("ENV", INGEST) for each in line.split())
    assert variables["ORT_DISABLE_TELEMETRY"] == TELEMETRY_OFF["ORT_DISABLE_TELEMETRY"]


def test_the_ingest_image_has_the_languages_that_scans_are_read_in_by_default():
    assert {"eng", "deu", "tha"} <= set(re.findall(r"tesseract-ocr-(\w+)", INGEST))


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
    condition, image, nobodys = RESOURCES["IngestImageFunction"]["Properties"]["Code"]["ImageUri"]["Fn::If"]
    assert (condition, image) == ("WithIngestImageUri", {"Ref": "IngestImageUri"})
    assert re.fullmatch(pattern, nobodys)  # or `sam deploy` would push it
