"""What the project is called where it is installed from, and what is installed with it."""

import json
import re
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from bio_mcp import __version__
from bio_mcp.adapters.embedders.model_files import DEFAULT, GRAPH, PACKAGED, sha256_of
from scripts.distribution import bill, bundle
from scripts.sbom import bill_of

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ON_LAPTOPS_ALONE = {"click", "fastapi", "mcp", "onnxruntime", "pythainlp", "rich", "uvicorn"}


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


LOCK = """\
click==8.3.1 \\
    --hash=sha256:aaaa
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:bbbb \\
    --hash=sha256:cccc
PyStemmer==3.0.0 \\
    --hash=sha256:dddd
"""


def test_a_bill_says_where_a_library_is_installed_and_gives_each_its_address(tmp_path):
    (tmp_path / "lock.txt").write_text(LOCK)
    click, colorama, stemmer, model = bill_of(tmp_path / "lock.txt")["components"]
    assert (click["name"], click["version"], click["purl"]) == ("click", "8.3.1", "pkg:pypi/click@8.3.1")
    assert "properties" not in click
    assert colorama["properties"] == [{"name": "bio-mcp:installed-where", "value": "sys_platform == 'win32'"}]
    assert stemmer["purl"] == "pkg:pypi/pystemmer@3.0.0"
    assert model["hashes"] == [{"alg": "SHA-256", "content": sha256_of(PACKAGED / DEFAULT / GRAPH)}]


def test_another_lock_has_a_bill_with_another_number(tmp_path):
    (tmp_path / "one.txt").write_text(LOCK)
    (tmp_path / "other.txt").write_text(LOCK.replace("8.3.1", "8.3.2"))
    numbers = {bill_of(tmp_path / name)["serialNumber"] for name in ("one.txt", "other.txt", "one.txt")}
    assert len(numbers) == 2


def test_a_bill_is_written_beside_the_packages(tmp_path):
    written = bill(tmp_path)
    assert written.name == f"{PROJECT['name']}-{__version__}.cdx.json"
    product = json.loads(written.read_text())["metadata"]["component"]
    assert (product["name"], product["version"]) == (PROJECT["name"], __version__)


def test_what_claude_desktop_starts_is_the_program_over_stdio(tmp_path):
    with ZipFile(bundle(tmp_path)) as archive:
        assert sorted(archive.namelist()) == ["manifest.json", "pyproject.toml", "server.py"]
        started = json.loads(archive.read("manifest.json"))["server"]
        assert started["entry_point"] in started["mcp_config"]["args"]
        requires = tomllib.loads(archive.read("pyproject.toml").decode())["project"]
        server = archive.read("server.py").decode()
    assert requires["requires-python"] == PROJECT["requires-python"]
    assert requires["dependencies"] == [f"{PROJECT['name']}=={PROJECT['version']}"]
    compile(server, "server.py", "exec")
    assert 'main(["stdio"])' in server
