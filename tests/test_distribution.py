"""What the project is called where it is installed from, and what is installed with it."""

import re
import tomllib
from pathlib import Path

import pytest

from bio_mcp import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ON_LAPTOPS_ALONE = {"click", "fastapi", "mcp", "onnx", "onnxruntime", "pythainlp", "rich", "uvicorn"}


def names(requirements):
    found = (re.match(r"[A-Za-z][\w.-]*", each.strip()) for each in requirements)
    return {each[0].lower() for each in found if each}


def test_the_program_has_the_distributions_name_too_so_that_uvx_finds_it():
    assert PROJECT["name"] == "bio-mcp-literature"
    assert set(PROJECT["scripts"]) == {"bio-mcp", PROJECT["name"]}
    assert len(set(PROJECT["scripts"].values())) == 1


def test_its_version_is_the_modules():
    assert PROJECT["version"] == __version__


def test_functions_on_aws_get_what_is_declared_and_no_more_than_they_need():
    listed = names((ROOT / "layers/common/requirements.in").read_text().splitlines())
    aws = names(PROJECT["optional-dependencies"]["aws"])
    assert aws <= listed <= names(PROJECT["dependencies"]) | aws
    locked = names((ROOT / "layers/common/requirements.txt").read_text().splitlines())
    assert locked.isdisjoint(ON_LAPTOPS_ALONE)


@pytest.mark.parametrize("layer", ["hf", "inference", "mcp", "parsing"])
def test_what_another_layer_adds_is_declared_too(layer):
    listed = names((ROOT / f"layers/{layer}/requirements.in").read_text().splitlines())
    declared = names(PROJECT["dependencies"]) | names(PROJECT["optional-dependencies"]["hf"])
    assert listed <= declared
