"""A new tool is one file, one example and one command: README.md's section, walked in a copy of the repository."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Add a tool")[2].partition("\n## ")[0]
PAGE = (ROOT / "docs/adding_a_tool.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"`([\w/.]+)`:\n\n```(?:python|json)\n(.*?)```", PAGE, re.DOTALL))
MODULE, EXAMPLE, TEST = FILES
COPIED = ("layers/common", "tests", "events", "functions", "scripts", "benchmarks", "docs")
SINGLE = ("README.md", "template.yaml", "pyproject.toml", "Makefile", "CHANGELOG.md")
PROGRAM = ["-c", "import sys; from bio_mcp.doors.cli import main; sys.exit(main())"]
LOOK_AT_EVERY_TOOL = ("examples", "port_grants", "template_policies", "docs", "architecture")


class Copy:
    """The repository once more, in which commands run."""

    def __init__(self, root):
        self.root = root
        for name in COPIED:
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "build", "*.pyc"))
        for name in SINGLE:
            shutil.copy(ROOT / name, root / name)
        path = os.pathsep.join([str(root / "layers/common"), str(root)])
        self.environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "BIO_MCP_HOME": str(root / "home")}

    def add(self, path):
        (self.root / path).parent.mkdir(exist_ok=True)
        (self.root / path).write_text(FILES[path], encoding="utf-8")

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def run(self, *command):
        return subprocess.run(
            [sys.executable, *command], cwd=self.root, env=self.environment, capture_output=True, text=True, check=False
        )

    def test(self, *arguments):
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)


def commands_of(target):
    """The Python commands that `make <target>` runs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    return [line.split()[1:] for line in recipe.splitlines() if line.startswith("\t$(BIN)/python ")]


def test_the_steps_of_the_section_are_those_of_the_page():
    steps = re.findall(r"\b[Oo]ne (\w+)\b", SECTION)
    assert steps == ["file", "example", "command"]
    assert [title.lower() for title in re.findall(r"^## One (\w+)$", PAGE, re.MULTILINE)] == steps


@pytest.mark.timeout(300)
@pytest.mark.anyio
async def test_a_file_an_example_and_a_command_make_a_tool_everywhere(tmp_path):
    """In one test, since each step needs those before it."""
    copy = Copy(tmp_path / "copy")
    copy.add(MODULE)
    a_missing_example_fails_one_test_which_says_what_to_add(copy)
    copy.add(EXAMPLE)
    for command in commands_of("docs"):
        done = copy.run(*command)
        assert done.returncode == 0, done.stderr
    copy.add(TEST)
    every_check_that_looks_at_all_tools_is_content(copy)
    its_function_is_given_what_it_calls(copy)
    it_is_on_the_command_line_and_in_the_pages(copy)
    await clients_see_and_call_it(copy)


def a_missing_example_fails_one_test_which_says_what_to_add(copy):
    output = copy.test(
        "tests/test_examples.py", "tests/test_port_grants.py", "tests/contracts", "-k", "[corpus.size]"
    ).stdout
    assert re.findall(r"^FAILED (\S+)", output, re.MULTILINE) == [
        "tests/test_examples.py::test_every_tool_has_an_example[corpus.size]"
    ]
    assert f"add {EXAMPLE}, as" in output


def every_check_that_looks_at_all_tools_is_content(copy):
    tests = [f"tests/test_{each}.py" for each in LOOK_AT_EVERY_TOOL]
    chosen = "(size and not fits and not same) or page or rendered or nothing_is_served or small_enough"
    done = copy.test(*tests, "tests/contracts", "tests/tools/test_budget.py", TEST, "-k", chosen)
    assert done.returncode == 0, done.stdout[-3_000:]
    lint = copy.run("-m", "ruff", "check", "-q", MODULE, TEST)
    assert (lint.returncode, lint.stdout) == (0, "")


def its_function_is_given_what_it_calls(copy):
    template = copy.read("template.yaml")
    role = template.partition("  SizeRole:\n")[2].partition("  SizeFunction:\n")[0]
    assert "CorpusReaderPolicy" in role
    assert set(re.findall(r"(\w+Table)\.Arn", role)) == {"CallsTable", "BudgetsTable"}  # as any other function's
    assert "from bio_mcp.tools import size" in copy.read("functions/size/app.py")


async def clients_see_and_call_it(copy):
    started = StdioServerParameters(
        command=sys.executable, args=[*PROGRAM, "stdio", "--tools", "all"], env=copy.environment
    )
    async with Client(stdio_client(started)) as client:
        listed = {each.name: each for each in (await client.list_tools()).tools}
        answer = (await client.call_tool("corpus_size", {})).structured_content
    assert listed["corpus_size"].description.startswith("Count the papers")
    assert answer == {"papers": 0, "passages": 0}


def it_is_on_the_command_line_and_in_the_pages(copy):
    assert json.loads(copy.run(*PROGRAM, "admin", "call", "corpus_size").stdout) == {"papers": 0, "passages": 0}
    assert "| `corpus_size` | Count the papers" in copy.read("docs/tools.md")
    assert "## corpus_size (`corpus.size`)" in copy.read("docs/tools.md")
