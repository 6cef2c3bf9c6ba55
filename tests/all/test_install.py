"""From an empty environment, outside the clone, to a first answer in a client, as docs/install.md says."""

import json
import os
import subprocess
import sys
import tarfile
import time
from gzip import open as unzip
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

from bio_mcp.adapters.embedders.model_files import DEFAULT
from scripts.distribution import packages

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
SAMPLE = ROOT / "layers/common/bio_mcp/samples/pubmed.xml.gz"
RECORDS = 12
QUESTION = "does acupuncture help against migraine?"
OURS = ("BIO_MCP_", "NCBI_", "MCP_", "VIRTUAL_ENV", "PYTHON")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The directory of wheel and sdist."""
    packages(into := tmp_path_factory.mktemp("dist"))
    return into


@pytest.fixture(scope="module")
def bin_of(built, tmp_path_factory):
    """The programs of an environment that holds the wheel, what it requires, and nothing else."""
    venv = tmp_path_factory.mktemp("environment") / "venv"
    quiet = {"check": True, "capture_output": True, "env": os.environ | {"UV_PYTHON_DOWNLOADS": "never"}}
    subprocess.run([UV, "venv", "--python", sys.executable, venv], **quiet)
    locked = ["--constraint", ROOT / "requirements/run.txt", next(built.glob("*.whl"))]
    subprocess.run([UV, "pip", "install", "--python", venv / "bin/python", *locked], **quiet)
    return venv / "bin"


@pytest.fixture
def home(tmp_path):
    """The home of somebody new, with a few records to import."""
    (tmp_path / "ada").mkdir()
    with unzip(SAMPLE, "rt") as records:
        few = records.read().split("</PubmedArticle>")[:RECORDS]
    (tmp_path / "few.xml").write_text("</PubmedArticle>".join([*few, "</PubmedArticleSet>"]), encoding="utf-8")
    return tmp_path / "ada"


def environment(home):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return inherited | {"HOME": str(home)}


def run(home, program, *arguments):
    command = [program, *arguments]
    done = subprocess.run(command, cwd=home, env=environment(home), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_the_sdist_builds_the_same_wheel(built, tmp_path):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    source = next(tmp_path.iterdir())
    again = [
        UV,
        "build",
        "--wheel",
        "--quiet",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "--out-dir",
        tmp_path,
    ]
    subprocess.run([*again, source], check=True, env=os.environ | {"SOURCE_DATE_EPOCH": "1767225600"})
    [wheel] = built.glob("*.whl")
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_somebody_new_gets_a_first_answer_in_their_client(bin_of, home):
    began = time.monotonic()
    said = run(home, bin_of / "bio-mcp", "setup")
    assert f"bio_mcp/models/{DEFAULT}" in said.stdout.replace("\n", "")
    run(home, bin_of / "bio-mcp", "import", str(home.parent / "few.xml"))
    run(home, bin_of / "bio-mcp-literature", "mcp-config", "--client", "claude-code", "--write")
    answered = anyio.run(ask, home)
    print(f"first answer after {time.monotonic() - began:.0f} s")
    assert answered["results"]


async def ask(home):
    """Start what the client's file names, and ask it."""
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["bio-mcp"]
    program = StdioServerParameters(command=entry["command"], args=entry["args"], env=environment(home), cwd=home)
    async with Client(stdio_client(program), mode="auto") as client:
        assert "rag_search" in {each.name for each in (await client.list_tools()).tools}
        return (await client.call_tool("rag_search", {"query": QUESTION})).structured_content
