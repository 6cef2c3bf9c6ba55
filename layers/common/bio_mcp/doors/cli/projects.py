"""`bio-mcp projects`: libraries of one's own, made, listed, searched and deleted."""

from collections.abc import Iterator, Mapping
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, options_of
from bio_mcp.doors.cli.papers import flag, marked
from bio_mcp.doors.cli.session import Session
from bio_mcp.ingesting.projects import Created, Options, create_project, delete_project, passages_of
from bio_mcp.ports.projects import MAX_CHARACTERS, TOP_K
from bio_mcp.tools.projects import inspect_collection, list_projects, query, query_hybrid

MOST_SHOWN = 10_000  # characters of a hit
OPTIONS = {
    "top_k": "passages to show",
    "tags": "only documents with this tag; repeat for documents with all of several",
    "section_prefix": "only below these headings from the top, such as Methods or 'Methods > Statistics'",
    "year": "only documents of this year",
    "year_from": "first year",
    "year_to": "last year",
    "citekey": "only the document with this citekey",
    "authors": "only documents by this family name; repeat for any of several",
    "include_full_text": "show each passage whole",
    "projects": "search this project too; repeat for more",
}


@click.group("projects")
@click.option("--tenant", default="", help="Whose libraries: a tenant's, as its access tokens name it.")
@click.pass_obj
def projects_command(session: Session, tenant: str) -> None:
    """Make, list, search and delete libraries of your own documents, or of a tenant's."""
    session.tenant = tenant


@projects_command.command("create")
@click.argument("project_id", metavar="ID")
@click.option("--no-hybrid", is_flag=True, help="Search it by meaning alone, not by words too.")
@click.option(
    "--top-k", default=TOP_K, show_default=True, type=click.IntRange(1, TOP_K), help="Hits of a search, at most."
)
@click.option(
    "--max-characters",
    default=MAX_CHARACTERS,
    show_default=True,
    type=click.IntRange(100, MOST_SHOWN),
    help="Characters of a hit, at most.",
)
@answering
def create_command(session: Session, project_id: str, no_hybrid: bool, top_k: int, max_characters: int) -> None:
    """Make the project ID, such as lab/heart-failure, with an index of its own; one that exists stays as it is."""
    created = create_project(project_id, Options(not no_hybrid, top_k, max_characters), session.own)
    project = created.project
    body = {
        "project": project.project_id,
        "collection": project.collection,
        "embed_model": project.embed_model,
        "hybrid_enabled": project.hybrid_enabled,
        "top_k": project.top_k,
        "max_characters": project.max_characters,
        "created": created.new,
        "restored": created.restored,
    }
    session.answer(body, lambda _: terminal.say(_creation(created)))


def _creation(created: Created) -> str:
    name = created.project.project_id
    if created.new:
        return f"{name} is there, and empty. `bio-mcp ingest {name} SOURCE` brings documents in."
    if created.restored:
        return f"{name} had lost its index and has an empty one now: ingest its documents again."
    differs = f", otherwise than asked: {'; '.join(created.differs)}" if created.differs else ""
    return f"{name} exists already and was not changed{differs}."


@projects_command.command("list")
@answering
def list_command(session: Session) -> None:
    """List the projects, with the model that each is embedded by."""
    session.answer(session.ask_all(list_projects, {}, "projects"), render_list)


def render_list(body: Mapping[str, Any]) -> None:
    """Print a row per project."""
    rows = [
        (each["id"], "words and meaning" if each["hybrid_enabled"] else "meaning", each["embed_model"])
        for each in body["projects"]
    ]
    if rows:
        terminal.show(terminal.table(("project", "searched by", "model"), rows))
    else:
        terminal.say("There is no project. `bio-mcp projects create ID` makes one.")


@projects_command.command("inspect")
@click.argument("project_id", metavar="ID")
@options_of(inspect_collection)
@answering
def inspect_command(session: Session, project_id: str, **given: Any) -> None:
    """Show what the project ID holds: size, model, and on request some passages."""
    arguments = {"project": project_id, **arguments_of(inspect_collection, given)}
    session.answer(session.ask(inspect_collection, arguments), render_inspection)


def render_inspection(body: Mapping[str, Any]) -> None:
    """Print facts of the index, then the sample."""
    facts = [
        ("project", body["project"]),
        ("index", body["collection"]),
        ("passages", f"{body['size']:,}"),
        ("model", body["embed_model"]),
        ("searched by", "words and meaning" if body["sparse_model"] else "meaning"),
    ]
    terminal.show(terminal.pairs((name, Text(value)) for name, value in facts))
    for each in body["sample_payloads"]:
        where = ", ".join(place_in(each["citekey"], each["section_path"], each["page_start"], each["page_end"]))
        terminal.show("", Text(each["title"] or "(no title)", "bold"), Text(where, "italic"), Text(each["chunk_text"]))
    for warning in body["warnings"]:
        terminal.warn(warning)


@projects_command.command("delete")
@click.argument("project_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Delete it; without this, only print what would be deleted.")
@answering
def delete_command(session: Session, project_id: str, yes: bool) -> None:
    """Delete the project ID with its index and all that is known of its documents; files that were read stay."""
    passages = passages_of(project_id, session.own)
    if yes:
        delete_project(project_id, session.own)
    body = {"project": project_id, "passages": passages, "deleted": yes}
    session.answer(body, lambda _: terminal.say(_deletion(project_id, passages, yes)))
    session.code = 0 if yes else 1


def _deletion(project_id: str, passages: int, done: bool) -> str:
    with_these = f"{project_id} with {terminal.counted(passages, 'passage')}"
    return f"{with_these} is deleted." if done else f"{with_these} would be deleted. Give --yes to do it."


@projects_command.command("search")
@click.argument("project_id", metavar="ID")
@click.argument("text", nargs=-1, required=True, callback=lambda _ctx, _param, given: " ".join(given))
@click.option("--dense", is_flag=True, help="Search by meaning alone.")
@options_of(query_hybrid, helps=OPTIONS)
@answering
def search_command(session: Session, project_id: str, text: str, dense: bool, **given: Any) -> None:
    """Search the project ID for TEXT: by words and meaning, or by meaning where it has no words."""
    dense = dense or not session.own.projects.get(project_id).hybrid_enabled
    tool = query if dense else query_hybrid
    arguments = {"project": project_id, "text": text, **arguments_of(tool, given)}
    session.answer(session.ask(tool, arguments), lambda body: render_passages(body, text))


def render_passages(body: Mapping[str, Any], text: str) -> None:
    """Print the hits, then the warnings."""
    if body["items"]:
        terminal.show(Group(*(_passage(rank, each, text) for rank, each in enumerate(body["items"], 1))))
    else:
        terminal.say("No passage fits.")
    for warning in body["warnings"]:
        terminal.warn(warning)


def _passage(rank: int, hit: Mapping[str, Any], text: str) -> RenderableType:
    first, last = hit["page_span"] or (None, None)
    of = [str(hit[name]) for name in ("project", "year", "doi") if hit.get(name)]
    where = ", ".join([*place_in(hit["citekey"], hit["section_path"] or [hit["section"] or ""], first, last), *of])
    title = Text.assemble(f"{rank}. ", *flag(hit.get("retraction", "")), (hit.get("title") or hit["doc_id"], "bold"))
    shown = marked(hit.get("full_text") or hit["render_text"], text)
    lines = [Text(where, "italic"), shown, Text(f"score {terminal.number(hit['score'], 3)}", "dim")]
    return Group(title, *(Padding(line, (0, 0, 0, 3), expand=False) for line in lines if line), "")


def place_in(citekey: str | None, path: list[str], first: int | None, last: int | None) -> Iterator[str]:
    """Yield what cites a passage: citekey, headings, pages."""
    yield from filter(None, (citekey, " > ".join(path)))
    if first:
        yield f"page {first}" if first == last else f"pages {first}-{last}"
