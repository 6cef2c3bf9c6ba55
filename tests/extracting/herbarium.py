"""A library with a graph: files that say something of herbs, and what stands in the stores before and after."""

import json
from contextlib import contextmanager

from bio_mcp.deadline import Deadline, silent
from bio_mcp.extracting.reading import as_lines, document_line, passage_line
from bio_mcp.extracting.run import DEFAULT_PROJECT, Batch, run
from bio_mcp.graph.nodes import EdgeType, Step, to_record
from bio_mcp.jobs.runner import RunContext
from bio_mcp.retrieval.project_chunks import collection_name
from tests.ingesting.library import Library
from tests.support.sample_graph import NODES, add_graph

IDS = {"project": ["project"], "document": ["doc_id"], "passage": ["chunk_id"], "edge": ["from", "edge", "to"]}
STEPS = [Step(each) for each in EdgeType]
COLLECTION = collection_name(DEFAULT_PROJECT)


class Herbarium(Library):
    """`files` is the folder that a run reads."""

    def __init__(self, home, **settings):
        super().__init__(home, **settings)
        if not self.graph.revision():
            add_graph(self)

    def run(
        self, source=None, *, dry_run=False, deadline=None, unattended=False, local=True, job_id=None, over=None, **more
    ):
        uri = str(self.files if source is None else source)
        batch = Batch([(uri, "auto")], {"batch": [{"uri": uri}], "dry_run": dry_run}, dry_run=dry_run, **more)
        deadline = deadline or Deadline(60)
        return run(batch, RunContext(over or self, deadline, silent, unattended), local=local, job_id=job_id)

    @property
    def edges(self):
        at = self.graph.neighbours([each.node_id for each in NODES], STEPS, 1_000)
        return {edge.key: edge for each in at.values() for edge in each.edges}

    @property
    def stored(self):
        """The lines of the log that would write all that stands."""
        documents = self.project_documents.all(DEFAULT_PROJECT)
        chunks = [chunk for each in documents for chunk in self.collections.document(COLLECTION, each.doc_id)]
        assert len(chunks) == self.collections.count(COLLECTION), "there are chunks without a document"
        named = [each for each in self.projects.all() if each.project_id == DEFAULT_PROJECT]
        return {
            *(as_lines([{"write": "project", "project": each.project_id}]) for each in named),
            *(as_lines([document_line(DEFAULT_PROJECT, each)]) for each in documents),
            *(as_lines([passage_line(COLLECTION, each)]) for each in chunks),
            *(as_lines([{"write": "edge", **to_record(each)}]) for each in self.edges.values()),
        }


def writes(ran):
    """The lines of the log that are writes, as bytes."""
    return [as_lines([each]) for each in ran.lines if "write" in each or "delete" in each]


def left_by(lines):
    """What stands of these writes in the end, as `Herbarium.stored` has it: later ones replace earlier ones."""
    standing = {}
    for each in map(json.loads, lines):
        what = each.get("write") or each["delete"]
        name = str([each.get(key) for key in IDS[what]])
        standing.pop((what, name), None)
        if "write" in each:
            standing[what, name] = as_lines([each])
    return set(standing.values())


def problems(ran):
    return [each["problem"] for each in ran.lines if "statement" in each]


@contextmanager
def opened(home, **settings):
    with Herbarium(home, **settings) as herbarium:
        yield herbarium
