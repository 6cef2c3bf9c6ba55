"""README.md, docs/laptop.md and docs/projects.md do what they say.

What their examples find is looked at here; tests/all/test_readme.py runs every block of commands whole, and `make`.
Commands run in a data directory of their own and against the local NCBI.
The sample is cut to two dozen records, since embedding all takes half a CPU-minute; tests/all imports it whole.
Client configurations are JSON: they must parse. Serving others with a token is tests/doors/auth/test_served_door.py.
"""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bio_mcp.doors.cli.program import MENU
from bio_mcp.doors.cli.program import run as run_command
from bio_mcp.settings import Settings
from scripts.docs import ROOT
from tests.doors.command_line import Ran

README = (ROOT / "README.md").read_text(encoding="utf-8")
LAPTOP = (ROOT / "docs/laptop.md").read_text(encoding="utf-8")
PROJECTS = (ROOT / "docs/projects.md").read_text(encoding="utf-8")
PAGES = README + LAPTOP + PROJECTS
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGES, re.DOTALL)
SCRIPTS = [text for language, text in BLOCKS if language == "sh" and not text.startswith("make ")]
CONFIGURATIONS = [json.loads(text) for language, text in BLOCKS if language == "json"]
SAMPLE = "layers/common/bio_mcp/samples/pubmed.xml.gz"
PROGRAM = ".venv/bin/bio-mcp"
SEARCH = f"{PROGRAM} search "
SEARCHES = [line for text in SCRIPTS for line in text.splitlines() if line.startswith(SEARCH)]
FIT = {"34093119": "acupuncture", "33011088": "COVID-19", "33406518": "risk factors"}  # the topic of the best hit
READ = "27602157"
IN_TESTS_ALL = {"make run", "make test"}
BIN = Path(sys.executable).parent


def run_block(script, home, **environment):
    known = {"PATH": os.environ["PATH"], "HOME": str(home), "BIO_MCP_HOME": str(home / "corpus"), **environment}
    script = (
        script.replace(".venv/bin/", f"{BIN}/")
        .replace("$PWD/.venv/bin", str(BIN))
        .replace(SAMPLE, str(home / "sample.xml"))
    )
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=ROOT, env=known, capture_output=True, text=True, check=False
    )


@pytest.fixture
def run(ncbi, cli):
    """Runs one command line of a page in this process, over the data directory of that home."""

    def run(command, home):
        known = Settings(
            home=home / "corpus",
            ncbi_base_url=ncbi.base_url,
            ncbi_delay_ms=1,
            ncbi_admin_email="test@example.org",
        )
        cli.capsys.readouterr()
        program, *argv = shlex.split(command)
        assert program == PROGRAM
        return Ran(run_command(argv, configure=lambda: known), *cli.capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A data directory as `make run` leaves it, with fewer papers."""
    made = tmp_path_factory.mktemp("readme")
    start, *records = gzip.decompress((ROOT / SAMPLE).read_bytes()).decode().split("<PubmedArticle>")
    wanted = [each for each in records if re.search(f"<PMID[^>]*>({'|'.join([*FIT, READ])})</PMID>|COVID-19", each)]
    few = "<PubmedArticle>".join([start, *dict.fromkeys([*wanted, *records[:5]])])
    (made / "sample.xml").write_text(few + "</PubmedArticleSet>", encoding="utf-8")
    known = Settings(home=made / "corpus")
    assert run_command(["import", "--if-empty", str(made / "sample.xml")], configure=lambda: known) == 0
    (made / "papers").mkdir()
    (made / "papers/note.md").write_text("# Heart failure\n\n## Results\n\nExercise lowers mortality.\n")
    return made


@pytest.mark.parametrize("command", SEARCHES)
def test_an_example_of_a_search_finds_what_it_asks_for(command, home, run):
    best, *_ = run(f"{command.removesuffix(' --json')} --json", home).json["results"]
    pmid = best["doc_id"].removeprefix("pmid:")
    assert re.search(FIT[pmid], command)
    assert re.search(FIT[pmid], f"{best['title']} {best['snippet']}", re.IGNORECASE)


def test_the_example_of_a_project_finds_what_was_ingested(home, run):
    commands = next(text for text in SCRIPTS if "projects create" in text).splitlines()
    assert len(commands) == 3
    *_, last = [run(command.replace("~", str(home)), home) for command in commands]
    assert "Exercise lowers mortality." in last.out


def test_a_search_prints_how_probably_each_hit_fits_and_how_many_hardly_do(home, run):
    *hits, foot = run(SEARCHES[0], home).out.split("\n\n")
    assert hits
    assert all(re.search(r"\n   relevance 0\.\d+$", hit) for hit in hits)
    assert re.search(r"[\d,]+ weak matches left out: --include-weak", foot)


def test_the_example_of_a_sync_brings_papers_that_the_sample_has_not_and_none_of_them_twice(tmp_path, run):
    command = next(line for script in SCRIPTS for line in script.splitlines() if " sync " in line)
    brought = run(f"{command} --json", tmp_path).json["inserted"]
    sample = gzip.decompress((ROOT / SAMPLE).read_bytes()).decode()
    term = re.search('"(.*)"', command)[1]
    found = run(f'{PROGRAM} pubmed search "{term}" --json', tmp_path).json["pmids"]
    assert brought == len(found)
    assert [pmid for pmid in found if f">{pmid}</PMID>" not in sample]
    again = run(f"{command} --json", tmp_path).json
    assert (again["inserted"], again["updated"], again["state"]) == (0, 0, "complete")


def test_every_command_that_is_named_exists():
    named = {words.split()[1] for words in re.findall(r"`(bio-mcp [a-z][^`]*)`", PAGES)}
    assert len(named) > 8
    assert named <= {name for section in MENU.values() for name in section}


def test_every_make_command_is_run_by_the_whole_suite():
    start = README.partition("## Start")[2].partition("## ")[0]
    assert set(re.findall(r"^make \w+|(?<=`)make \w+(?=`)", start, re.MULTILINE)) == IN_TESTS_ALL


def test_client_configurations_name_the_endpoint_or_the_program():
    desktop, code = CONFIGURATIONS
    started = desktop["mcpServers"]["bio-mcp"]
    assert (started["command"].rpartition("/")[2], started["args"]) == ("bio-mcp", ["stdio"])
    assert code["servers"]["bio-mcp"] == {"type": "http", "url": "http://127.0.0.1:3010/mcp"}


def test_it_stays_short():
    assert len(README.splitlines()) <= 200
