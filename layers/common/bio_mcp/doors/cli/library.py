"""`bio-mcp projects` and `bio-mcp ingest`: libraries of one's own documents."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bio_mcp.answering.project_search import FLAGGED, Known, known
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, asks, options_of, words
from bio_mcp.doors.cli.render import View
from bio_mcp.doors.cli.session import Session, refused
from bio_mcp.errors import InvalidInput
from bio_mcp.ingesting.correcting import EDITED, correct, in_normal_form, missing
from bio_mcp.ingesting.documents import document_named
from bio_mcp.ingesting.projects import Options, create_project, delete_document, delete_project, passages_of
from bio_mcp.literature.documents import LARGEST_FILE
from bio_mcp.literature.languages import three_letters
from bio_mcp.ports.projects import MAX_CHARACTERS, TOP_K, ProjectDocument
from bio_mcp.querying.looking_up import may_look_up, remember
from bio_mcp.settings import words_of
from bio_mcp.tools.ingest import ingest_from_source
from bio_mcp.tools.projects import inspect_collection, list_projects, locate_quote, query, query_hybrid

MOST_SHOWN = 10_000  # characters of a hit
HELPS = {
    "top_k": "passages to show",
    "tags": "only documents with this tag; repeat for documents with all of several",
    "section_prefix": "only below these headings from the top, such as Methods or 'Methods > Statistics'; References, "
    "Funding and the like are searched only so",
    "year": "only documents of this year",
    "year_from": "first year",
    "year_to": "last year",
    "citekey": "only the document with this citekey",
    "doc_id": "only this document, by its id",
    "authors": "only documents by this family name; repeat for any of several",
    "include_full_text": "show each passage whole",
    "projects": "search this project too; repeat for more",
}
PROJECTS = View(
    hidden=frozenset({"count", "left_out"}),
    tables={"projects": ("id", "hybrid_enabled", "embed_model")},
    labels={"id": "project", "embed_model": "model", "hybrid_enabled": "searched by words too"},
    empty="There is no project. `bio-mcp projects create ID` makes one.",
)
INSPECTED = View(
    hidden=frozenset({"dense_model", "named_vectors", "payload_keys", "indexes", "storage", "sample"}),
    labels={
        "collection": "index",
        "size": "passages",
        "embed_model": "model",
        "sparse_model": "searched by words, too",
    },
)
PASSAGES = View(
    ranked="{}. ",
    hidden=frozenset("count left_out hybrid_enabled dense_model sparse_model fusion model kind doc_id section".split()),
    empty="No passage fits.",
)
PLACES = View(hidden=frozenset({"found", "left_out", "doc_id", "section"}), labels={"quote": "quoted", "text": "there"})
FOUND = {"exactly": "It stands there as quoted.", "nearly": "It does not stand there as quoted.", "not found": ""}
PARSED_FIELDS = ("title", "authors", "year", "journal", "doi", "pmid", "pages", "ocr", "confidence", "language")
PARSED = View(labels={"doi": "DOI", "pmid": "PMID", "ocr": "recognised", "section_path": "heading"})
LOOK_UP = (
    "May PubMed and Crossref be asked, by DOI or title, for authors, year and journal of its documents? (It is asked "
    "once; --lookup or --no-lookup changes it.)"
)
INGESTED = View(
    hidden=frozenset({"dense_model", "sparse_model", "job_id"}),
    labels={"chunks_written": "passages written", "duration_seconds": "seconds"},
)


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
    fields = ("collection", "embed_model", "hybrid_enabled", "top_k", "max_characters")
    body = {"project": project.project_id, **{each: getattr(project, each) for each in fields}}
    name, differs = project.project_id, "; ".join(created.differs)
    became = f"{name} exists already and was not changed{', otherwise than asked: ' if differs else ''}{differs}."
    if created.new:
        became = f"{name} is there, and empty. `bio-mcp ingest {name} SOURCE` brings documents in."
    elif created.restored:
        became = f"{name} had lost its index and has an empty one now: ingest its documents again."
    session.answer({**body, "created": created.new, "restored": created.restored}, became)


@projects_command.command("list")
@answering
def list_command(session: Session) -> None:
    """List the projects, with the model that each is embedded by."""
    body = session.ask_all(list_projects, {}, "projects")
    body.pop("warnings", None)  # which name a tool
    session.answer(body, PROJECTS)


asks(
    projects_command,
    "inspect",
    inspect_collection,
    "Show what the project ID holds: size, model, and on request some passages.",
    click.argument("project", metavar="ID"),
    show=INSPECTED,
)


@projects_command.command("documents")
@click.argument("project_id", metavar="ID")
@click.option("--incomplete", is_flag=True, help="Only those of which a citation lacks something.")
@answering
def documents_command(session: Session, project_id: str, incomplete: bool) -> None:
    """List the documents of the project ID: passages, what became of each, and what its citation lacks."""
    session.own.projects.get(project_id)
    documents = session.own.project_documents.all(project_id)
    documents.sort(key=lambda each: ((each.work.title or "").casefold(), each.doc_id))
    papers = known([each.work for each in documents], session.own, [project_id] * len(documents))
    rows = [_document(each, paper) for each, paper in zip(documents, papers, strict=True)]
    rows = [each for each in rows if each["missing"]] if incomplete else rows
    session.answer({"project": project_id, "documents": rows, "count": len(rows)}, _show_documents)


def _show_documents(body: Mapping[str, Any]) -> None:
    rows = body["documents"]
    if not rows:
        terminal.show(f"There are none. `bio-mcp ingest {body['project']} SOURCE` brings documents in.")
        return
    shown = [
        (
            each["citekey"] or each["doc_id"],
            each["title"] or "",
            f"{each['authors'][0]}{' et al.' if each['authors'][1:] else ''}" if each["authors"] else "",
            str(each["year"] or ""),
            str(each["passages"]),
            each["status"],
            ", ".join(each["missing"]),
        )
        for each in rows
    ]
    terminal.show(
        terminal.table(("document", "title", "authors", "year", "passages", "status", "missing"), shown, (4,))
    )
    if any(each["missing"] for each in rows):
        terminal.show(f"What is missing: `bio-mcp projects edit {body['project']} DOCUMENT`, or ingest with --lookup.")


def _document(document: ProjectDocument, paper: Known) -> dict[str, Any]:
    work = document.work
    read = "recognised from images" if document.ocr else "read"
    retracted = paper.retraction in FLAGGED and FLAGGED[paper.retraction]
    return {
        **{each: getattr(work, each) for each in ("doc_id", "citekey", "title")},
        "authors": list(work.authors),
        **{each: getattr(work, each) for each in ("year", "journal", "doi")},
        "pmid": paper.pmid,
        "source": work.source,
        "passages": document.chunks,
        "status": retracted or (read if document.chunks else "not read"),
        "missing": missing(document),
        "known_from": dict(document.origin.get("from", {})),
    }


@projects_command.command("edit")
@click.argument("project_id", metavar="ID")
@click.argument("document", metavar="DOCUMENT")
@click.option("--title", help="Its title.")
@click.option("--author", "authors", multiple=True, help="An author as 'Doe J'; repeat for all of them, in order.")
@click.option("--year", type=click.IntRange(1500, 2100), help="The year of its publication.")
@click.option("--journal", help="The journal.")
@click.option("--doi", help="Its DOI.")
@click.option("--pmid", help="Its PMID.")
@click.option("--citekey", help="The key to cite it by.")
@click.option("--empty", type=click.Choice(EDITED), multiple=True, help="A field that has no value; repeat for others.")
@answering
def edit_command(session: Session, project_id: str, document: str, empty: Sequence[str], **given: Any) -> None:
    """Correct what is known of DOCUMENT of the project ID, which its citekey, DOI, PMID or id names.

    What you say holds over whatever a later ingest finds.
    """
    said = in_normal_form(given, empty)
    own = session.own
    corrected = correct(own.projects.get(project_id), document, said, own)
    changed = ", ".join(said)
    body = {"project": project_id, "document": _document(corrected, known([corrected.work], own)[0])}
    session.answer(
        body, f"{corrected.work.citekey or corrected.doc_id}: {changed} corrected, and kept by later ingests."
    )


@projects_command.command("delete")
@click.argument("project_id", metavar="ID")
@click.argument("document", metavar="[DOCUMENT]", required=False)
@click.option("--yes", is_flag=True, help="Delete it; without this, only print what would be deleted.")
@answering
def delete_command(session: Session, project_id: str, document: str | None, yes: bool) -> None:
    """Delete the project ID with its index and all that is known and kept of its documents; your own files stay.

    With DOCUMENT (its citekey, DOI, PMID or id) delete that one alone.
    """
    own, what = session.own, f"{document} of {project_id}" if document else project_id
    passages = (
        document_named(project_id, document, own.project_documents).chunks if document else passages_of(project_id, own)
    )
    if yes and document:
        delete_document(own.projects.get(project_id), document, own)
    elif yes:
        delete_project(project_id, own)
    what = f"{what} with {terminal.counted(passages, 'passage')}"
    sentence = f"{what} is deleted." if yes else f"{what} would be deleted. Give --yes to do it."
    named = {"project": project_id, "document": document} if document else {"project": project_id}
    session.answer({**named, "passages": passages, "deleted": yes}, sentence)
    session.code = 0 if yes else 1


@projects_command.command("search")
@click.argument("project", metavar="ID")
@words("text")
@click.option("--dense", is_flag=True, help="Search by meaning alone.")
@options_of(query_hybrid, without=("project", "text", "query"), helps=HELPS)
@answering
def search_command(session: Session, /, dense: bool, **given: Any) -> None:
    """Search the project ID for TEXT: by words and meaning, or by meaning where it has no words."""
    dense = dense or not session.own.projects.get(given["project"]).hybrid_enabled
    tool = query if dense else query_hybrid
    session.answer(session.ask(tool, arguments_of(tool, given)), PASSAGES, given["text"])


@projects_command.command("locate")
@words("quote")
@click.option("--project", metavar="ID", help="Look in this project, not in the corpus.")
@click.option("--document", "doc_id", metavar="DOC_ID", help="Look in this document alone.")
@answering
def locate_command(session: Session, /, **given: Any) -> None:
    """Find where the sentence QUOTE is from, in the corpus or a project, and whether it is quoted exactly."""
    body = session.ask(locate_quote, arguments_of(locate_quote, given))
    session.answer(body, replace(PLACES, head=FOUND[body["found"]]))


@projects_command.command("parse")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--ocr-languages",
    default="",
    callback=lambda *given: _languages(given[-1]),
    help="languages of scanned pages, the likeliest first, as ISO codes: eng,deu,tha [default: eng,deu]",
)
@answering
def parse_command(session: Session, file: Path, ocr_languages: tuple[str, ...]) -> None:
    """Show what would be read of FILE: PDF, DOCX, HTML, Markdown, JATS XML, text, or an image of a page."""
    if not file.is_file():  # a pipe would be waited for, and a device has no end
        raise InvalidInput("There is no such file; give the path of one.")
    with refused("The file cannot be opened"), file.open("rb") as opened:
        content = opened.read(LARGEST_FILE + 1)  # no more of a large one than shows that it is too large
    document = session.backends.parser.parse(content, file.name, ocr_languages)
    body = {each: getattr(document, each) for each in PARSED_FIELDS} | {"authors": list(document.authors) or None}
    body["sections"] = []
    for each in document.sections:
        about = {"heading": each.heading, "path": list(each.path), "kind": each.kind.value, "text": each.text}
        body["sections"].append({**about, "page_span": list(each.page_span) if each.page_span else None})
    session.answer({**body, "warnings": list(document.warnings)}, PARSED)


def _languages(given: str) -> tuple[str, ...]:
    languages = words_of(given)
    if unknown := [each for each in languages if not three_letters(each)]:
        raise click.BadParameter(f"{unknown[0]!r} is no code of a language; give codes such as eng,deu,tha.")
    return languages


@click.command("ingest")
@click.argument("project", metavar="ID")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "--ocr-languages", metavar="CODES", default="", help="Languages of scans, such as eng,deu, the likeliest first."
)
@click.option(
    "--references",
    "references_path",
    metavar="FILE",
    help="CSL-JSON file that describes the works, as Zotero exports it.",
)
@click.option(
    "--lookup/--no-lookup",
    default=None,
    help="Ask PubMed and Crossref, by DOI or title, what a document is; remembered for the project. Without it nothing "
    "leaves this machine.",
)
@click.option("--force-rebuild", is_flag=True, help="Read everything again, and embed it by the configured model.")
@click.option("--tenant", default="", help="The tenant whose project ID is.")
@answering
def ingest_command(
    session: Session,
    /,
    project: str,
    sources: tuple[str, ...],
    ocr_languages: str,
    lookup: bool | None,
    tenant: str,
    **options: Any,
) -> None:
    """Read documents into the project ID: PDF, DOCX, HTML, Markdown, JATS XML and plain text.

    SOURCE is a file, a folder with all that is below it, s3://bucket/key, https://... or zotero, which may be narrowed:
    'zotero?collection=Heart failure&tag=review'. What has not changed is skipped. It may be stopped at any time: run it
    again.
    """
    session.tenant = tenant
    languages = list(words_of(ocr_languages))
    given = {name: value for name, value in {**options, "ocr_languages": languages}.items() if value}
    if lookup is None and not session.as_json and sys.stdin and sys.stdin.isatty() and sys.stderr.isatty():
        session.own.projects.get(project)
        if may_look_up(project, session.own) is None:
            lookup = click.confirm(LOOK_UP, err=True)
    if lookup is not None:
        remember(project, session.own, allowed=lookup)

    def ask(source: str) -> dict[str, Any]:
        arguments = {"project": project, "source": source, **({"options": given} if given else {})}
        body = session.ask_to_the_end(ingest_from_source, arguments, "ingesting", "documents", of=True)
        if body["state"] != "complete" or body["failed"]:
            session.code = 1
        return body

    try:
        session.answer_each("sources", sources, ask, INGESTED)
    except KeyboardInterrupt:
        terminal.warn("stopped; what was read is in the project. Run the same command again to continue.")
        raise
