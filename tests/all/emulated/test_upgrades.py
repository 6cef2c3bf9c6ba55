"""A stack of an earlier version is upgraded to this one and goes back, and all that was stored is found each time."""

import io
import subprocess
import tarfile

import pytest

from scripts import retained
from tests.all.emulated.conftest import LEFT_OPEN, synced
from tests.all.emulated.test_changed_minds import KEPT
from tests.emulated.build import ROOT, build
from tests.emulated.cloud import NAME, SAMPLES, cloud
from tests.emulated.stack import resources, until

pytestmark = pytest.mark.timeout(1_200)
PROJECT = "lab/upgraded"
TEXT = "Statins lower cholesterol."
NOTE = {"id": "note", "text": TEXT, "embedding": [1.0] + [0.0] * 383, "metadata": {"doc_id": "n"}}


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """The template of the release before the last, built; before there are two, of two changes of the template ago."""
    assert git("rev-parse", "--is-shallow-repository") == b"false\n", "this needs all commits: git fetch --unshallow"
    releases = git("tag", "--sort=-creatordate", "--merged", "HEAD").decode().split()
    changes = git("log", "--first-parent", "--format=%H", "--", "template.yaml").decode().split()
    source = tmp_path_factory.mktemp("earlier")
    with tarfile.open(fileobj=io.BytesIO(git("archive", releases[1] if len(releases) > 1 else changes[2]))) as files:
        files.extractall(source, filter="tar")
    (source / ".venv").symlink_to(ROOT / ".venv")
    return build(source)


class Filled:
    """The stack, with papers of PubMed and a project that a client filled."""

    def __init__(self, up):
        self.up, self.papers = up, set()

    def deploy(self, template):
        self.up.deploy(NAME, retained.parameters(LEFT_OPEN, NAME, self.up.stack.client), template)

    def kept(self):
        there = resources(self.up.stack.client, NAME).values()
        return {each for each in there if each[0].removeprefix("AWS::") in (*KEPT, "OpenSearchService::Domain")}

    def sync(self, day, many):
        self.papers |= synced(self.up, day, many)

    def everything_is_found(self):
        asked = {"tool": "query_hybrid", "arguments": {"project": PROJECT, "text": "statins", "top_k": 3}}
        until(lambda: self.papers <= self.found(), 300, "hit for each paper")
        until(lambda: self.up.stack.invoke("projects", asked)["items"], 300, "passage of the note")

    def found(self):
        asked = {"query": " ".join(sorted(self.papers)), "top_k": 100}  # a query that every version reads
        body = self.up.stack.invoke("search", {"tool": "rag.search", "arguments": asked})
        return {each["doc_id"].removeprefix("pmid:") for each in body.get("results", ())}


def test_a_stack_of_an_earlier_version_is_upgraded_and_goes_back_with_all_that_it_has(earlier):
    present = build()
    with cloud(files=SAMPLES[:1], own_domain=True, template=earlier) as up:
        filled = Filled(up)
        filled.sync("1971/02/01", 4)
        assert up.stack.command("projects", "create", PROJECT)["created"]
        up.stack.invoke("chunks", {"tool": "store_chunks", "arguments": {"project": PROJECT, "items": [NOTE]}})
        filled.everything_is_found()
        before = filled.kept()
        filled.deploy(present)
        assert before <= filled.kept()
        filled.everything_is_found()
        filled.sync("1971/03/01", 2)
        filled.everything_is_found()
        filled.deploy(earlier)
        assert filled.kept() == before
        filled.everything_is_found()
        filled.sync("1971/04/01", 2)
        filled.everything_is_found()
