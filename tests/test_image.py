"""The recipe of the container image, as far as it can be proven without a registry to pull its base from."""

import re
from dataclasses import fields
from fnmatch import fnmatch
from pathlib import Path

import pytest

from bio_mcp.adapters.embedders import TELEMETRY_OFF
from bio_mcp.settings import Settings
from tests.support.aws_template import FUNCTIONS, TEMPLATE

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "layers/hf/Dockerfile").read_text()
STEPS = [line.split(maxsplit=1) for line in RECIPE.splitlines() if line and not line.startswith("#")]
IGNORED = (ROOT / "layers/hf/Dockerfile.dockerignore").read_text().split()
EMBED = [name for name, (_, made) in FUNCTIONS.items() if {"Ref": "InferenceLayer"} in made["Layers"]]


def given(step):
    return [rest for name, rest in STEPS if name == step]


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
