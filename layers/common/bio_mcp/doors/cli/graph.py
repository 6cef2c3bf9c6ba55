"""`bio-mcp kg`: the graph of herbs, imported, shown and walked."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from importlib import resources
from importlib.resources import as_file
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from bio_mcp.answering.graph_questions import Relation, relations, resolve
from bio_mcp.answering.project_search import flagged
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, options_of, words
from bio_mcp.doors.cli.render import View, label
from bio_mcp.doors.cli.session import Session, counted
from bio_mcp.graph.nodes import EdgeType, NodeType, to_record
from bio_mcp.ingesting.graph_import import import_graph, read_items
from bio_mcp.ports import Backends
from bio_mcp.tool import Context
from bio_mcp.tools import answer_size
from bio_mcp.tools.kg import direction, find_contraindications, query_kg

SAMPLE = "samples/graph.jsonl.gz"  # inside the package
HELPS = {
    "pattern": "node types or edges joined by '>', as 'herb>constituent>indication'; ^ walks an edge backwards",
    "max_depth": "edges of a path",
    "edges": "only edges of this type; repeat for more",
    "nodes": "only through nodes of this type; repeat for more",
    "sources": "only edges with a source of these words; repeat for more",
    "icd": "only to an indication whose code begins so",
    "to": "only to this node, by its id or name",
    "limit": "paths to show",
}
STRENGTHS = {"high": "bold red", "moderate": "red", "low": "yellow"}
NODE = View(labels={"node": "type", "icdCode": "ICD code", "description": "is"})


kg_command = click.Group("kg", help="Import, show and walk the graph of herbs, constituents and indications.")


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
        work = partial(_import, bundled if sample else Path(str(file)), if_empty)
        body = session.do("kg.import", work, counted(update, "nodes and edges"))
    read = f"{body['file']}: {terminal.counted(body['nodes'], 'node')}, {terminal.counted(body['edges'], 'edge')}"
    nodes, edges = (sum(body["holds"].get(each.value, 0) for each in kind) for kind in (NodeType, EdgeType))
    holds = f"The graph holds {terminal.counted(nodes, 'node')} and {terminal.counted(edges, 'edge')}."
    session.answer(body, f"{read}{'.' if body['changed'] else '; the graph did not change.'}\n{holds}")


def _import(path: Path, if_empty: bool, backends: Backends, context: Context) -> dict[str, Any]:
    """Import the nodes and edges of a file, all of them or none; none where the graph has any and `if_empty`."""
    body = {"file": path.name, "nodes": 0, "edges": 0, "changed": False}
    if not (if_empty and backends.graph.revision()):
        body |= asdict(import_graph(read_items(path), backends.graph, context.progress))
    return {**body, "holds": dict(backends.graph.count())}


@kg_command.command("show")
@words("node")
@answering
def show_command(session: Session, node: str) -> None:
    """Show NODE, an id or a name in English, Thai or Latin, with every edge of it and where that is from."""
    found = resolve(node, session.backends.graph)
    around, left_out = relations(found, session.backends.graph)
    retracted = flagged({pmid for each in around for pmid in each.edge.pmids}, session.backends)
    body = {
        **to_record(found),
        "relations": [_relation(each) for each in around],
        "left_out": left_out,
        "warnings": list(retracted.values()),
    }
    session.answer(body, NODE)


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


@kg_command.command("paths")
@words("start")
@options_of(query_kg, without=("type", "id"), helps=HELPS)
@answering
def paths_command(session: Session, start: str, **given: Any) -> None:
    """Show the paths from START, an id or a name in English, Thai or Latin.

    Without a pattern they go as far as edges lead; from an indication, a drug or a contraindication, backwards.
    """
    node = resolve(start, session.backends.graph)
    arguments = arguments_of(query_kg, given) | {"start": {"type": node.type.value, "id": node.node_id}}
    session.answer(session.ask(query_kg, arguments), _show_paths)


def _show_paths(body: Mapping[str, Any]) -> None:
    """Print a line for each path, and after the last the sources, by the numbers that the edges have."""
    numbers: dict[str, int] = {}
    for path in body["paths"]:
        line = Text(path[0]["label"], "bold")
        for node in path[1:]:
            flag = " [retracted]" if node.get("retracted") else ""
            cited = sorted(numbers.setdefault(each, len(numbers) + 1) for each in node["sources"])
            line.append(f" {label(node['edge'], {}).replace('^', '← ')} ", "dim").append(
                f"{node['label']}{flag}", "bold"
            )
            line.append(f" [{', '.join(map(str, cited))}]", "dim")
        terminal.show(line)
    if body["paths"]:
        terminal.show("", *(Text(f"[{number}] {source}", "dim") for source, number in numbers.items()))
    else:
        terminal.show("No path fits. `bio-mcp kg show NODE` lists every edge of a node.")


@kg_command.command("contraindications")
@click.argument("herb_ids", nargs=-1, metavar="HERBS...")
@click.option("--formulation", "formulation_ids", multiple=True, metavar="ID", help="Check this one; repeat for more.")
@answering
def contraindications_command(session: Session, /, **given: Any) -> None:
    """Show what is documented against HERBS, ids or names, each with its papers, its quotes and its sources.

    A herb is checked with its constituents, a formulation with all that it contains.
    """
    arguments = arguments_of(find_contraindications, {**given, "max_characters": answer_size.MOST})
    session.answer(session.ask(find_contraindications, arguments), _show_contraindications)


def _show_contraindications(body: Mapping[str, Any]) -> None:
    """Print each entity with its findings, the strongest first, and every warning."""
    for entity in body["entities"]:
        named = entity["label"] or entity["entity_id"]
        terminal.show("", Text.assemble((named, "bold"), f" ({entity['type']}): {entity['status'].replace('_', ' ')}"))
        for row in body["results"]:
            if (row["entity_id"], row["type"]) == (entity["entity_id"], entity["type"]):
                strength = (row["strength"], STRENGTHS[row["strength"]])
                terminal.show(Text.assemble(f"   {row['contraindication']}  ", strength))
                terminal.show(Text(f"      {row['evidence']}"))
                terminal.show(Text(f"      {'; '.join(row['derivation'])}", "italic"))
        for each in entity["candidates"]:
            terminal.show(f"   or {each['label']} ({each['type']} {each['id']})?")
