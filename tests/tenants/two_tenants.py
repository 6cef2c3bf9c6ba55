"""A small corpus with projects of several tenants, and calls by which one might come at another's."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from bio_mcp.callers import ANONYMOUS, Caller
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, document_source
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.literature.records import CitedSpan
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.state import CallRecord, Job
from bio_mcp.ports.stores import StoredAnswer
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.tenants import CallBackends, Names
from tests.support.corpus import HashedWords
from tests.support.examples import EXAMPLES
from tests.support.sample_corpus import Corpus
from tests.support.sample_graph import HERB, ILLNESS
from tests.support.sample_project import put

AT = datetime(2026, 11, 1, tzinfo=UTC)
DOCUMENT, CHUNK, ANSWER, CALL = "pmid:17727691", "chunk-1", "a" * 20, "c" * 32
NORTH, SOUTH, OWN = Caller("ann", tenant="north"), Caller("bob", tenant="south"), Caller("eve")
STRANGERS = {"north": [SOUTH, Caller("west", tenant="west"), OWN, ANONYMOUS], "": [SOUTH, ANONYMOUS]}
SECRET = {"north": "quokka", "": "numbat"}  # stands in all that a tenant has, and in no name that is guessed
JOB = {"north": "ingest_20261101_abcdef", "": "ingest_20261101_012345"}


class Words(Corpus):
    """The sample corpus, without a model and without limits, which would refuse most attempts."""

    limits = None

    @property
    def embeddings(self) -> Any:
        return HashedWords()


def furnish(backends: Any, owner: Caller) -> str:
    """Give the owner projects, documents, a job, an answer, a call and a file; returns the key of the file."""
    own, secret = CallBackends(backends, owner), SECRET[owner.tenant]
    work = Work(DOCUMENT, title=f"A {secret}", citekey=f"{secret}2020", pmid="17727691", tags=(secret,))
    for name in ("lab", "vault", f"{secret}-den"):
        project = create_project(name, Options(), own).project
        put(own, project.collection, [ProjectChunk(CHUNK, work, f"The {secret} of heart obstruction in newborns.")])
        own.project_documents.put(name, ProjectDocument(work, frozenset({DOCUMENT}), origin={"file": secret}))
        own.project_documents.put_cursor(name, "zotero", {"seen": secret})
    request = {"query_key": "lab 1", "arguments": {"source": secret}}
    own.jobs.put(Job(JOB[owner.tenant], "ingest", "waiting", AT, AT, request))
    span = CitedSpan("17727691", 1, "abstract", 0, 3, secret)
    own.answers.put(StoredAnswer(ANSWER, secret, secret, (span,), 0.9, AT))
    own.calls.record(CallRecord(CALL, "rag.search", {"query": secret}, "0", "1", "ok", AT, latency_ms=1))
    return own.blobs.put("evaluations", secret.encode(), ".html")


def state_of(backends: Any, owner: Caller) -> list[Any]:
    """All that the owner has."""
    own = CallBackends(backends, owner)
    projects = own.projects.all()
    return [
        projects,
        [own.collections.sample(each.collection, 100) for each in projects],
        [own.project_documents.all(each.project_id) for each in projects],
        [own.project_documents.cursor(each.project_id, "zotero") for each in projects],
        own.jobs.get(JOB[owner.tenant]),
        own.answers.get(ANSWER),
        own.calls.get(CALL),
    ]


def add_document_edge(backends: Any) -> None:
    """Let a document of the installation's own project state something."""
    quote = Evidence("17727691", f"The {SECRET['']} treats it.")
    backends.graph.put(
        [], [Edge(EdgeType.ACTS_ON, HERB.node_id, ILLNESS.node_id, (document_source("lab", "x"),), (quote,))]
    )


def guesses(owner: Caller, file: str) -> list[str]:
    """Names of what the owner has, as clients know them and as stores do, and odd forms of them."""
    key, folder, name = Names(owner.tenant).key, *file.rpartition("/")[::2]
    job = JOB[owner.tenant]
    known = ["lab", "vault", "proj-lab", DOCUMENT, CHUNK, job, ANSWER, CALL, file, f"blob:{file}"]
    stored = [f"{key}:lab", f"{key}.proj-lab", f"{key}:{job}", f"{key}:{ANSWER}", f"{folder}/{key}/{name}"]
    odd = ["../lab", "lab/../vault", "LAB", "lab\x00", " lab", "%6cab", owner.tenant, "", f"{key}:{key}:lab"]
    return [*known, *stored, *odd, "lab,vault"]


def attempts(names: list[str]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Every tool with each of its texts replaced by each name, and every resource with each name as its parameter."""
    for tool in TOOLS.values():
        for path in texts_of(tool.input_schema, tool.input_schema.get("$defs", {})):
            for name in names:
                yield tool, replaced(EXAMPLES[tool.name], path, name)
    for resource in RESOURCES.values():
        for name in names if resource.parameters else ():
            yield resource, dict.fromkeys(resource.parameters, name)


def texts_of(
    schema: dict[str, Any], definitions: dict[str, Any], path: tuple[Any, ...] = ()
) -> Iterator[tuple[Any, ...]]:
    """The paths of all texts that an input may have; 0 is the first of a list."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for choice in schema.get("anyOf", ()):
        yield from texts_of(choice, definitions, path)
    if schema.get("type") == "string":
        yield path
    if schema.get("type") == "array":
        yield from texts_of(schema.get("items", {}), definitions, (*path, 0))
    for name, inner in schema.get("properties", {}).items():
        yield from texts_of(inner, definitions, (*path, name))


def replaced(there: Any, path: tuple[Any, ...], value: str) -> Any:
    """What is `there` with `value` at `path`."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if step == 0:
        return [replaced(there[0] if isinstance(there, list) and there else None, rest, value)]
    made = dict(there) if isinstance(there, dict) else {}
    return {**made, step: replaced(made.get(step), rest, value)}
