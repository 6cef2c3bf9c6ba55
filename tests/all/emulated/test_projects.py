"""Projects of the deployed stack: made by its operator, filled through the inbox, asked over MCP."""

import json
from itertools import count

import numpy as np
import pytest

from bio_mcp.ingesting.files import FILES, folder_of
from tests.all.emulated.test_front_door import ERAS, called
from tests.emulated.build import ROOT
from tests.emulated.stack import until

pytestmark = pytest.mark.timeout(300)
PAPER = ROOT / "tests/data/pdf/micropub001725.pdf"
QUESTION = "cell populations of the Drosophila ovary in the Fly Cell Atlas"
IDS = (f"lab/project-{number}" for number in count(1))
INGESTED_S = 120


class Project:
    def __init__(self, stack):
        self.stack, self.id = stack, next(IDS)
        made = stack.command("projects", "create", self.id)
        assert made["created"], made

    def put(self, name, content):
        return put(self.stack, f"{self.id}/{name}", content)

    def size(self):
        return called(self.stack, ERAS[0], "inspect_collection", project=self.id)["size"]

    def found(self, tool="query_hybrid", **arguments):
        return called(self.stack, ERAS[0], tool, project=self.id, top_k=3, **arguments)["items"]

    def ingests(self):
        return [line for line in self.stack.log("ingest") if line.get("message") == "ingested" and self.is_in(line)]

    def is_in(self, line):
        return line.get("project") == self.id


def put(stack, path, content):
    bucket, key = stack.outputs["Bucket"], f"inbox/{path}"
    stack.client("s3").put_object(Bucket=bucket, Key=key, Body=content)
    return f"s3://{bucket}/{key}"


@pytest.fixture
def project(up):
    return Project(up.stack)


def test_a_paper_that_is_put_into_the_inbox_is_found_over_mcp_with_its_pages(project):
    project.put("Mendoza 2025 (fly ovary).pdf", PAPER.read_bytes())
    hits = until(lambda: project.found(text=QUESTION), INGESTED_S, "passage of the paper")
    assert any("ovar" in hit["render_text"].lower() for hit in hits)
    assert hits[0]["page_span"][0] >= 1
    assert project.found("find_chunks", query=QUESTION)


def test_a_paper_that_is_put_there_twice_is_there_once(project):
    sizes = []
    for place, name in enumerate(["paper.pdf", "paper.pdf", "the same paper.pdf"]):
        project.put(name, PAPER.read_bytes())
        until(lambda: len(project.ingests()) > place, INGESTED_S, f"ingest of {name}")  # noqa: B023  called at once
        sizes.append(project.size())
    assert sizes[0] > 10
    assert len(set(sizes)) == 1


def test_a_project_that_is_deleted_leaves_no_file_in_the_bucket(project):
    project.put("paper.pdf", PAPER.read_bytes())
    until(lambda: project.found(text=QUESTION), INGESTED_S, "passage of the paper")
    until(project.ingests, INGESTED_S, "end of the ingest")
    folder = {"Bucket": project.stack.outputs["Bucket"], "Prefix": folder_of(project.id, FILES)}
    s3 = project.stack.client("s3")
    assert s3.list_objects_v2(**folder)["KeyCount"] == 1
    assert project.stack.command("projects", "delete", project.id, "--yes")["deleted"]
    assert s3.list_objects_v2(**folder)["KeyCount"] == 0


def test_a_file_that_cannot_be_read_is_a_warning_and_the_next_one_is_read(project):
    before = len(project.stack.dead())
    project.put("broken.pdf", b"%PDF-1.7 and no more")
    project.put("notes.md", b"# Statins\n\nStatins lower cholesterol in adults.")
    assert until(lambda: project.found(text="statins"), INGESTED_S, "passage of the notes")
    until(lambda: not project.stack.waiting("IngestQueueUrl"), INGESTED_S, "empty queue")
    [warned] = [line for line in project.ingests() if line["failed"]]
    assert warned["state"] == "complete"
    assert len(project.stack.dead()) == before


def test_a_file_for_a_project_that_there_is_not_becomes_a_dead_letter_that_names_it(up):
    source = put(up.stack, "lab/nobodys/paper.md", b"# A paper\n\nOf nobody.")
    dead = until(lambda: [each for each in up.stack.dead() if "lab/nobodys" in each], INGESTED_S, "dead letter")
    assert json.loads(dead[0])["detail"]["object"]["key"] == source.partition("inbox/")[1] + "lab/nobodys/paper.md"
    failed = [line["reason"] for line in up.stack.errors("ingest") if line.get("code") == "INVALID_PROJECT"]
    assert any("'lab/nobodys'" in each for each in failed)


@pytest.mark.parametrize("era", ERAS)
def test_what_a_client_embedded_itself_is_stored_and_found(project, era):
    noise = np.random.default_rng(7).standard_normal((100, 384))
    items = [
        {"id": f"c{place}", "text": f"Passage {place} of a paper.", "embedding": vector.tolist(), "metadata": {}}
        for place, vector in enumerate(noise)
    ]
    stored = called(project.stack, era, "store_chunks", project=project.id, items=items)
    assert stored["chunks_written"] == 100
    assert len(called(project.stack, era, "find_chunks", project=project.id, query="a paper", top_k=5)["items"]) == 5
