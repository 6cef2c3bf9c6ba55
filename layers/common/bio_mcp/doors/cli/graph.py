"""`bio-mcp kg`: the graph of herbs, imported, shown and walked."""

from collections.abc import Mapping
from importlib import resources
from importlib.resources import as_file
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from bio_mcp.answering.graph_nodes import Relation, relations, resolve
from bio_mcp.answering.retractions import flag_warnings, flagged
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.contraindications import contraindications_command
from bio_mcp.doors.cli.options import answering, arguments_of, options_of, words
from bio_mcp.doors.cli.session import Session
from bio_mcp.graph.nodes import EdgeType, NodeType
from bio_mcp.graph.records import to_record
from bio_mcp.ingesting.graph_files import read_items
from bio_mcp.ingesting.graph_import import import_graph
from bio_mcp.ports import Backends
from bio_mcp.progress import Progress
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.families import BIO_MCP
from bio_mcp.tools.kg import query_kg
from bio_mcp.tools.kg.shapes import direction, pmids_of

SAMPLE = "samples/graph.jsonl.gz"  # inside the package
OPTIONS = {
    "pattern": "node types or edges joined by '>', as 'herb>constituent>indication'; ^ walks an edge backwards",
    "max_depth": "edges of a path",
    "edges": "only edges of this type; repeat for more",
    "nodes": "only through nodes of this type; repeat for more",
    "sources": "only edges with a source of these words; repeat for more",
    "icd": "only to an indication whose code begins so",
    "to": "only to this node, by its id or name",
    "limit": "paths to show",
}


class GraphFile(Request):
    """A file to import, by its path; `if_empty` skips it if the graph has anything."""

    file: str
    if_empty: bool = False


class ImportedGraph(Response):
    """How many nodes and edges the file has, whether they changed the graph, and what the graph holds now, by type."""

    file: str
    nodes: int
    edges: int
    changed: bool
    holds: dict[str, int]


@tool("kg.import", family=BIO_MCP, scope="admin", timeout=24 * 3600, read_only=False)
def import_file(request: GraphFile, backends: Backends, context: Context) -> ImportedGraph:
    """Import the nodes and edges of a file, all of them or none."""
    path = Path(request.file)
    if request.if_empty and backends.graph.revision():
        return ImportedGraph(file=path.name, nodes=0, edges=0, changed=False, holds=dict(backends.graph.count()))
    read = import_graph(read_items(path), backends.graph, context.progress)
    holds = dict(backends.graph.count())
    return ImportedGraph(file=path.name, nodes=read.nodes, edges=read.edges, changed=read.changed, holds=holds)


@click.group("kg")
def kg_command() -> None:
    """Import, show and walk the graph of herbs, constituents and indications."""


kg_command.add_command(contraindications_command)


@kg_command.command("import")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, readable=True))
@click.option("--sample", is_flag=True, help="Import the bundled sample: plants, compounds and activities.")
@click.option("--if-empty", is_flag=True, help="Do nothing if the graph already has something.")
@answering
def import_command(session: Session, file: str | None, sample: bool, if_empty: bool) -> None:
    """Import nodes and edges: JSON lines, rows of Dr. Duke's databases or codes of ICD-10-CM, plain or .gz.

    Every line is checked before the first is written. What is stored already is added to, so importing twice changes
    nothing.
    """
    if bool(file) == sample:
        raise click.UsageError("Give the file to import, or --sample.")
    with as_file(resources.files("bio_mcp").joinpath(SAMPLE)) as bundled, terminal.progress("importing") as update:
        given = {"file": str(bundled) if sample else str(file), "if_empty": if_empty}
        body = session.ask(import_file, given, progress=_written(update))
    session.answer(body, render_import)


def _written(update: Progress) -> Progress:
    return lambda done, total, _: update(done, total, f"{done:,} nodes and edges written")


def render_import(body: Mapping[str, Any]) -> None:
    """Print what the file had, and what the graph holds."""
    read = f"{body['file']}: {terminal.counted(body['nodes'], 'node')}, {terminal.counted(body['edges'], 'edge')}"
    terminal.say(f"{read}{'.' if body['changed'] else '; the graph did not change.'}")
    holds = body["holds"]
    of = {kind: sum(holds.get(each.value, 0) for each in types) for kind, types in KINDS.items()}
    terminal.say(f"The graph holds {' and '.join(terminal.counted(count, kind) for kind, count in of.items())}.")


KINDS: Mapping[str, type[NodeType] | type[EdgeType]] = {"node": NodeType, "edge": EdgeType}


@kg_command.command("show")
@words("node")
@answering
def show_command(session: Session, node: str) -> None:
    """Show NODE, an id or a name in English, Thai or Latin, with every edge of it and where that is from."""
    found = resolve(node, session.backends.graph)
    around, left_out = relations(found, session.backends.graph)
    retracted = flagged({pmid for each in around for pmid in pmids_of(each.edge)}, session.backends)
    body = {
        **to_record(found),
        "relations": [_relation(each) for each in around],
        "left_out": left_out,
        "warnings": list(flag_warnings(retracted)),
    }
    session.answer(body, render_node)


def _relation(found: Relation) -> dict[str, Any]:
    stated = to_record(found.edge)
    return {
        "edge": direction(found.edge, backwards=found.backwards),
        "id": found.node.node_id,
        "type": found.node.type.value,
        "label": found.node.label,
        "sources": stated["sources"],
        "evidence": stated.get("evidence", []),
    }


def render_node(body: Mapping[str, Any]) -> None:
    """Print what is known of a node, then its edges."""
    facts = [("id", body["id"]), ("type", body["node"])]
    facts += [(LANGUAGES.get(language, language), name) for language, name in body["names"].items()]
    facts += [(key, ", ".join(body[key])) for key in ("synonyms", "parts", "sources") if key in body]
    facts += [(word, body[key]) for key, word in (("icdCode", "ICD code"), ("description", "is")) if key in body]
    terminal.show(terminal.pairs((name, Text(value)) for name, value in facts))
    for each in body["relations"]:
        terminal.show("", Text.assemble((each["edge"], "bold"), f" {each['label']} ({each['type']} {each['id']})"))
        for evidence in each["evidence"]:
            terminal.show(Text("   " + ": ".join(_evidence(evidence))))
        terminal.show(Text("   " + "; ".join(each["sources"]), "italic"))
    if body["left_out"]:
        terminal.say("", f"{terminal.counted(body['left_out'], 'edge')} more.")
    for warning in body["warnings"]:
        terminal.warn(warning)


LANGUAGES = {"en": "English", "th": "Thai", "la": "Latin"}


def _evidence(evidence: Mapping[str, str]) -> list[str]:
    parts = {"pmid": f"PMID {evidence.get('pmid')}", "quote": f'"{evidence.get("quote")}"'}
    return [text for key, text in parts.items() if key in evidence]


@kg_command.command("paths")
@words("start")
@options_of(query_kg, without=("type",), helps=OPTIONS)
@answering
def paths_command(session: Session, start: str, **given: Any) -> None:
    """Show the paths from START, an id or a name in English, Thai or Latin.

    Without a pattern they go as far as edges lead; from an indication, a drug or a contraindication, backwards.
    """
    node = resolve(start, session.backends.graph)
    arguments = arguments_of(query_kg, given) | {"start": {"type": node.type.value, "id": node.node_id}}
    session.answer(session.ask(query_kg, arguments), render_paths)


def render_paths(body: Mapping[str, Any]) -> None:
    """Print a line for each path, then what was left out."""
    for path in body["paths"]:
        terminal.show(_line(path))
    if not body["paths"]:
        terminal.say("No path fits.")
    for warning in body.get("warnings", ()):
        terminal.warn(warning)


def _line(path: list[Mapping[str, Any]]) -> Text:
    line = Text(path[0]["label"], "bold")
    for node in path[1:]:
        flag = " [retracted]" if node.get("retracted") else ""
        line.append(f" {node['edge']} ", "dim").append(f"{node['label']}{flag}", "bold")
    return line
