"""The Library: projects of one's own documents, what comes into them and how far it is, and answers from them; a
document with its page, and papers that are saved from a search."""

import base64
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from itertools import groupby
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import Field
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from bio_mcp.answering.project_search import Known, known, passage_of
from bio_mcp.call import Outcome
from bio_mcp.doors.console.console import CONSOLE, Answer, Console, Shown, body_of, see_other, status_of
from bio_mcp.doors.console.pages import facts_of
from bio_mcp.doors.console.rendering import POLICY, PRIVATE
from bio_mcp.doors.console.search import selected
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.extracting.run import KIND as BATCH
from bio_mcp.ingesting.added import ABSTRACT, PAPERS, Upload, papers_in, suffix_of, upload_in
from bio_mcp.ingesting.correcting import EDITED, missing
from bio_mcp.ingesting.documents import document_of
from bio_mcp.ingesting.files import UPLOADS, folder_of, stored_pdf_key
from bio_mcp.ingesting.run import KIND as INGEST
from bio_mcp.ingesting.run import IngestCursor
from bio_mcp.ingesting.writing import REMEDY
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.sources import SUFFIXES
from bio_mcp.ports.state import Job
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.chunking import study_of
from bio_mcp.retrieval.excerpts import snippet
from bio_mcp.retrieval.project_chunks import ProjectChunk
from bio_mcp.retrieval.quotes import joined
from bio_mcp.tool import Context, Request, resource, tool
from bio_mcp.tools.fields import ProjectId
from bio_mcp.tools.ingest import (
    LONGEST_QUOTE,
    box_quote,
    create_project_tool,
    delete_document_tool,
    edit_document,
    ingest_from_source,
)
from bio_mcp.tools.projects import MOST_PROJECTS, ask_projects

PATH, SAVED = "/library", "/saved"
OF = "/-/"  # after a project's id, no part of which begins so
MOST_LISTED = 100  # projects
MOST_DOCUMENTS = 200
MOST_JOBS = 30  # of a project
COUNTED = ("done", "expected", "written", "unchanged", "failed", "chunks")  # documents of an ingest, and passages
LOOKED_AT = 200  # jobs of a kind, for those of a project
MOST_FILES = 20  # of a form
LARGEST_FILE = 64 << 20  # bytes
PART = 3 << 20  # bytes of a file that are sent, or given, at once
LINK_S = 300
EXCERPT = 420  # characters of a passage
MOST_TEXT = 200_000  # characters of a document's text that are shown
NOT_FOUND = "Metadata not found for document"
KINDS = ", ".join(sorted(each.removeprefix(".") for each in SUFFIXES))
SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"


@resource("console://projects", name="projects page", family=CONSOLE, scope="read", timeout=8)
def projects_page(backends: Backends, context: Context) -> Shown:
    """The projects, by id, and how large they are; `left_out` counts those that are not listed."""
    projects = backends.projects.all()
    shown = []
    for each in projects[:MOST_LISTED]:
        context.deadline.check("counting passages")
        shown.append(_project(each, backends))
    return Shown(projects=shown, left_out=len(projects) - len(shown))


@resource("console://projects/{project_id}", name="project page", family=CONSOLE, scope="read", timeout=8)
def project_page(backends: Backends, project_id: str) -> Shown:
    """One project with its documents, by title, and what became of all that came into it lately."""
    project = backends.projects.get(project_id)
    documents = sorted(
        backends.project_documents.all(project_id), key=lambda each: (_name_of(each).casefold(), each.doc_id)
    )
    listed = documents[:MOST_DOCUMENTS]
    papers = known([each.work for each in listed], backends, [project_id] * len(listed))
    jobs = [job for kind in (INGEST, BATCH) for job in backends.jobs.newest(kind, LOOKED_AT)]
    own = [each for each in jobs if each.request["query_key"].rpartition(" ")[0] == project_id]
    newest = sorted(own, key=lambda each: each.number or 0, reverse=True)[:MOST_JOBS]
    return Shown(
        project=_project(project, backends),
        documents=[_document(each, paper) for each, paper in zip(listed, papers, strict=True)],
        left_out=len(documents) - len(listed),
        ingests=[_ingest(each, backends) for each in newest],
    )


def _project(project: Project, backends: Backends) -> dict[str, Any]:
    return {
        "project_id": project.project_id,
        "passages": backends.collections.count(project.collection),
        "words": project.hybrid_enabled,
    }


def _ingest(job: Job, backends: Backends) -> dict[str, Any]:
    """What became of a file, of saved papers or, by its place, of a folder or library; `name` is "" for these."""
    cursor = IngestCursor.from_json(job.cursor)
    source = str(job.request.get("arguments", {}).get("source", ""))
    sent, papers = upload_in(source), papers_in(source)
    name = sent.name if sent else f"{len(papers)} {'paper' if len(papers) == 1 else 'papers'}" if papers else ""
    told = [each for each in cursor.warnings if each != REMEDY and not each.startswith(NOT_FOUND)]
    warnings = [each.removeprefix(f"{name!r}: ") for each in told]
    return {**facts_of(job, backends.now()), "name": name, "warnings": warnings} | {
        each: getattr(cursor, each) for each in COUNTED
    }


def _document(document: ProjectDocument, paper: Known) -> dict[str, Any]:
    """A document; `paper` is what the corpus knows of it."""
    work = document.work
    return {
        **{name: getattr(work, name) for name in ("title", "citekey", "authors", "year", "journal", "doi")},
        "doc_id": document.doc_id,
        "name": _name_of(document),
        "pmid": paper.pmid,
        "in_corpus": paper.article is not None,
        "retraction": paper.retraction,
        "study": study_of(paper.article).short if paper.article else "",
        "passages": document.chunks,
        "pages": document.pages,
        "ocr": document.ocr,
        "abstract": bool(document.origin.get(ABSTRACT)),
        "missing": missing(document),
        "file": stored_pdf_key(document),
    }


def _name_of(document: ProjectDocument) -> str:
    """What people call the document: its title, else its file's name."""
    return document.work.title or document.work.source or document.doc_id


def _found(project_id: str, doc_id: str, backends: Backends) -> ProjectDocument:
    backends.projects.get(project_id)
    if (found := document_of(project_id, doc_id, backends.project_documents)) is None:
        raise NotFound("This project has no such document any more.")
    return found


@resource("console://documents/{doc_id}", name="document page", family=CONSOLE, scope="read", timeout=8)
def document_page(backends: Backends, project_id: str, doc_id: str) -> Shown:
    """A document of a project, with the text that was read of it, section by section."""
    document = _found(project_id, doc_id, backends)
    collection = backends.projects.get(project_id).collection
    [paper] = known([document.work], backends, [project_id])
    sections, left_out = _sections(backends.collections.document(collection, doc_id))
    return Shown(
        project_id=project_id,
        document=_document(document, paper),
        pmid=document.work.pmid,
        sections=sections,
        left_out=left_out,
    )


def _sections(chunks: Sequence[ProjectChunk]) -> tuple[list[dict[str, Any]], bool]:
    """The text under each heading, without what neighbouring passages repeat, and whether there is more of it."""
    sections, length = [], 0
    for path, of in groupby(chunks, lambda each: each.section_path or (each.section or "",)):
        passages = list(map(passage_of, of))
        pages = [each.page_span for each in passages if each.page_span]
        text = joined(passages).text
        sections.append({"heading": path[-1], "text": text, "page": pages[0][0] if pages else None})
        if (length := length + len(text)) > MOST_TEXT:
            return sections, True
    return sections, False


@resource("console://files/{doc_id}", name="file of a document", family=CONSOLE, scope="read", timeout=20)
def file_of_document(backends: Backends, project_id: str, doc_id: str, span: str) -> Shown:
    """The PDF of a document as base64, and its size: its bytes from first to last of `span`, as "0-99"; "": all of it.

    All of a large one is at `url`, where files have addresses.
    """
    key = stored_pdf_key(document := _found(project_id, doc_id, backends))
    if key is None:
        raise NotFound("The file of this document is not kept here. Add it to the project to see its pages.")
    content = backends.blobs.get(key)
    name = re.sub(r"[^\w.-]+", "_", document.work.source or "document.pdf", flags=re.ASCII)
    url = backends.blobs.link(key, name, LINK_S) if not span and len(content) > PART else None
    first, last = map(int, span.split("-")) if span else (0, len(content))
    part = b"" if url else content[first : last + 1]
    return Shown(content=base64.b64encode(part).decode(), size=len(content), url=url)


class SentPart(Request):
    """A part of a file for a project, as base64."""

    project: ProjectId
    content: str = Field(max_length=2 * LARGEST_FILE)


@tool("console.part", family=CONSOLE, scope="ingest", timeout=20, read_only=False)
def keep_part(request: SentPart, backends: Backends) -> Shown:
    """Keep a part of a file for some days."""
    folder = folder_of(request.project, UPLOADS)
    return Shown(key=backends.blobs.put(folder, base64.b64decode(request.content)))


class SentWhole(Request):
    """A file of which all parts are here, by their keys."""

    name: str
    parts: list[str] = Field(min_length=1, max_length=-(-LARGEST_FILE // PART))


@tool("console.file", family=CONSOLE, scope="ingest", timeout=25, read_only=False)
def keep_file(request: SentWhole, backends: Backends) -> Shown:
    """Keep a file until it is read, by the parts that came of it."""
    if suffix_of(request.name) is None:
        raise InvalidInput(f"{request.name!r} is of no kind that is read here: {KINDS}.")
    key = backends.blobs.join(request.parts)
    content = backends.blobs.get(key)
    if len(content) > LARGEST_FILE:
        raise InvalidInput(f"{request.name!r} is larger than {LARGEST_FILE >> 20} MB.")
    if not content:
        raise InvalidInput(f"{request.name!r} is empty.")
    return Shown(key=key)


def routes(console: Console) -> list[tuple[str, str, Answer]]:
    """The routes of the Library."""
    project, document = f"{PATH}/{{project_id:path}}", f"{PATH}/{{project_id:path}}{OF}documents/{{doc_id:path}}"
    answers: list[tuple[str, str, Any]] = [
        (PATH, "GET", _projects),
        (PATH, "POST", _create),
        (SAVED, "GET", _choose),
        (SAVED, "POST", _save),
        (f"{project}{OF}parts", "POST", _part),
        (f"{project}{OF}documents", "POST", _add),
        (document, "GET", _one_document),
        (document, "POST", _edit),
        (f"{project}{OF}deleted/{{doc_id:path}}", "POST", _delete),
        (f"{project}{OF}words/{{doc_id:path}}", "GET", _words),
        (f"{project}{OF}files/{{doc_id:path}}", "GET", _file),
        (project, "GET", _one_project),
    ]
    return [(path, method, partial(each, console)) for path, method, each in answers]


async def _projects(console: Console, request: HttpRequest) -> Response:
    """The projects, and what is asked of some of them."""
    outcome = await console.ask(projects_page, {}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    question = request.query_params.get("q", "").strip()
    every = [each["project_id"] for each in outcome.body["projects"]]
    asked = [each for each in request.query_params.getlist("project") if each in every] or every[:MOST_PROJECTS]
    shown: dict[str, Any] = {"question": question, "asked": asked, "answer": None, "error": None}
    if question and asked:
        given = await console.ask(ask_projects, {"question": question, "projects": asked}, request)
        if given.failed:
            shown["error"] = given.body["error"]
        else:
            shown["answer"] = _with_excerpts(given.body, question)
    return _page(console, request, "projects.html", data=outcome.body, **shown)


def _with_excerpts(answer: Mapping[str, Any], question: str) -> dict[str, Any]:
    """The answer, its passages by document and cut to the sentences that have most words of the question."""
    terms = [term for term, _ in query_terms(question)]
    documents: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for each in answer["passages"]:
        cut = {**each, "quote": snippet(each["quote"], terms, EXCERPT)}
        documents.setdefault((each["project"], each["doc_id"]), []).append(cut)
    return {**answer, "documents": list(documents.values())}


def _page(
    console: Console, request: HttpRequest, template: str, status: int = HTTPStatus.OK, **values: Any
) -> Response:
    """A page of the Library."""
    limits = {"largest": LARGEST_FILE >> 20, "most_files": MOST_FILES, "at_once": console.largest >> 20, "part": PART}
    shown = {"address": address_of, "limits": limits, **values}
    return console.page(request, template, status, accepted=",".join(sorted(SUFFIXES)), **shown)


def address_of(project_id: str, doc_id: str = "", of: str = "documents", **query: Any) -> str:
    """The address of a project's page, or of a document's; `of` is what of it."""
    path = f"{PATH}/{quote(project_id)}" + (f"{OF}{of}/{quote(doc_id, safe=':/')}" if doc_id else "")
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def id_of(name: str) -> str:
    """The id of a project that people call so: its letters and digits in ASCII, small, with - between words."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    parts = (re.sub(r"[^a-z0-9._]+", "-", part).strip("-._") for part in plain.split("/"))
    return "/".join(filter(None, parts))


async def _create(console: Console, request: HttpRequest) -> Response:
    """Make a project, and lead to its page."""
    form = await console.form(request)
    made = await _made(console, request, form.get("name", ""))
    return made if isinstance(made, Response) else see_other(address_of(made))


async def _made(console: Console, request: HttpRequest, name: str) -> Response | str:
    """The id of the project of this name, made if there is none; the page that says why there can be none."""
    if not (project_id := id_of(name)):
        return console.refused(request, "Give the project a name with Latin letters or digits, as heart-failure.")
    outcome = await console.ask(create_project_tool, {"project": project_id}, request)
    return console.failure(request, outcome) if outcome.failed else str(outcome.body["project"])


async def _one_project(console: Console, request: HttpRequest, problems: Sequence[str] = ()) -> Response:
    outcome = await console.ask(project_page, {"project_id": request.path_params["project_id"]}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    status = HTTPStatus.BAD_REQUEST if problems else HTTPStatus.OK
    return _page(console, request, "project.html", status, data=outcome.body, problems=problems)


async def _part(console: Console, request: HttpRequest) -> Response:
    """Keep a part of a file, and answer with its key."""
    content = await body_of(request, PART)
    if not content:
        return PlainTextResponse(f"a part has 1 to {PART} bytes", HTTPStatus.BAD_REQUEST, PRIVATE)
    outcome = await _kept_part(console, request, content)
    if outcome.failed:
        error = outcome.body["error"]
        return PlainTextResponse(error["message"], status_of(error), PRIVATE)
    return PlainTextResponse(outcome.body["key"], headers=PRIVATE)


async def _kept_part(console: Console, request: HttpRequest, content: bytes) -> Outcome:
    part = {"project": request.path_params["project_id"], "content": base64.b64encode(content).decode()}
    return await console.ask(keep_part, part, request)


async def _add(console: Console, request: HttpRequest) -> Response:
    """Have files read into the project: those of the form, and those whose parts came before."""
    form = await console.form(request, console.largest, MOST_FILES)
    sent = [(name, parts.split()) for name, parts in zip(form.getlist("name"), form.getlist("parts"), strict=False)]
    for each in form.files:
        kept = await _kept_part(console, request, each.content)
        if kept.failed:
            return console.failure(request, kept)
        sent.append((each.name, [kept.body["key"]]))
    if not sent:
        most = f"Choose 1 to {MOST_FILES} files, of {console.largest >> 20} MB together at most."
        return await _one_project(console, request, [f"No file came. {most}"])
    outcomes = [await _begun(console, request, name, parts) for name, parts in sent[:MOST_FILES]]
    failed = [each for each in outcomes if each.failed]
    if any("scope" in each.body["error"]["details"] for each in failed):
        return console.failure(request, failed[0])
    if failed:
        return await _one_project(console, request, [each.body["error"]["message"] for each in failed])
    return see_other(f"{address_of(request.path_params['project_id'])}#added")


async def _begun(console: Console, request: HttpRequest, name: str, parts: Sequence[str]) -> Outcome:
    """Keep the file that came in these parts, and have it read."""
    kept = await console.ask(keep_file, {"name": name, "parts": parts}, request)
    if kept.failed:
        return kept
    source = Upload(kept.body["key"], name).source
    named = {"project": request.path_params["project_id"], "source": source}
    return await console.ask(ingest_from_source, named, request)


async def _one_document(console: Console, request: HttpRequest, error: Mapping[str, Any] | None = None) -> Response:
    outcome = await console.ask(document_page, request.path_params, request)
    if outcome.failed:
        return console.failure(request, outcome)
    shown: dict[str, Any] = {
        "cited": request.query_params.get("quote", "").strip(),
        "page": _page_of(request),
        "error": error,
    }
    answer = _page(console, request, "document.html", data=outcome.body, **shown)
    answer.headers["content-security-policy"] = f"{POLICY}; worker-src 'self'"
    return answer


def _page_of(request: HttpRequest) -> int:
    """The number of the page that is asked for; the first where it is none."""
    number = request.query_params.get("page", "")
    return max(1, int(number)) if re.fullmatch("[0-9]{1,5}", number) else 1


async def _edit(console: Console, request: HttpRequest) -> Response:
    """Correct what is known of the document: what differs from what stood in the form."""
    outcome = await console.ask(document_page, request.path_params, request)
    if outcome.failed:
        return console.failure(request, outcome)
    form, stands = await console.form(request), _as_edited(outcome.body)
    changed = [name for name in EDITED if name in form and form.text(name).split() != stands[name].split()]
    said: dict[str, Any] = {name: text for name in changed if (text := form.text(name))}
    if "authors" in said:
        said["authors"] = [each.strip() for each in said["authors"].splitlines() if each.strip()]
    if said.get("year", "").isdecimal():
        said["year"] = int(said["year"])
    if changed:
        named = {"project": request.path_params["project_id"], "document": request.path_params["doc_id"]}
        emptied = [name for name in changed if name not in said]
        outcome = await console.ask(edit_document, {**named, **said, "empty": emptied}, request)
        if outcome.failed:
            return await _one_document(console, request, outcome.body["error"])
    return see_other(address_of(request.path_params["project_id"], request.path_params["doc_id"]))


async def _delete(console: Console, request: HttpRequest) -> Response:
    """Delete the document, and lead back to its project."""
    project_id, doc_id = (request.path_params[name] for name in ("project_id", "doc_id"))
    outcome = await console.ask(delete_document_tool, {"project": project_id, "document": doc_id}, request)
    return console.failure(request, outcome) if outcome.failed else see_other(address_of(project_id))


def _as_edited(body: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form as they stood in it."""
    document = body["document"]
    fields = {name: str(document.get(name) or "") for name in EDITED}
    return fields | {"authors": "\n".join(document["authors"]), "pmid": body["pmid"] or ""}


_RANGE = re.compile(r"bytes=(\d{1,12})-(\d{1,12})")


async def _file(console: Console, request: HttpRequest) -> Response:
    """The PDF of a document or the part of it that is asked for. It may run nothing, whatever it holds."""
    asked = _RANGE.fullmatch(request.headers.get("range", ""))
    first = int(asked[1]) if asked else 0
    span = f"{first}-{min(int(asked[2]), first + PART - 1)}" if asked else ""
    outcome = await console.ask(file_of_document, {**request.path_params, "span": span}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    if outcome.body["url"]:
        return RedirectResponse(outcome.body["url"], HTTPStatus.FOUND, PRIVATE)
    content, size = base64.b64decode(outcome.body["content"]), outcome.body["size"]
    headers = {**PRIVATE, "content-security-policy": SANDBOX, "accept-ranges": "bytes", "content-disposition": "inline"}
    if asked is None:
        return Response(content, headers=headers, media_type="application/pdf")
    if not content:
        headers["content-range"] = f"bytes */{size}"
        return Response(None, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers)
    headers["content-range"] = f"bytes {first}-{first + len(content) - 1}/{size}"
    return Response(content, HTTPStatus.PARTIAL_CONTENT, headers, "application/pdf")


async def _words(console: Console, request: HttpRequest) -> Response:
    """The words of a quotation on a scanned page, with their boxes, as JSON for the script that draws them."""
    query = request.query_params
    page = _page_of(request)
    given = {"project": request.path_params["project_id"], "doc_id": request.path_params["doc_id"], "page": page}
    outcome = await console.ask(box_quote, {**given, "quote": query.get("quote", "")[:LONGEST_QUOTE]}, request)
    status = status_of(outcome.body["error"]) if outcome.failed else HTTPStatus.OK
    return JSONResponse(outcome.body, status, PRIVATE)


async def _choose(console: Console, request: HttpRequest) -> Response:
    """The page on which a project is chosen for the papers that are ticked."""
    if not (pmids := selected(request.query_params)):
        return console.nothing_selected(request)
    outcome = await console.ask(projects_page, {}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    return _page(console, request, "saved.html", data=outcome.body, pmids=pmids)


async def _save(console: Console, request: HttpRequest) -> Response:
    """Save the papers in a project, which is made where a name is given for it."""
    form = await console.form(request)
    if not (pmids := selected(form)):
        return console.nothing_selected(request)
    project, name = form.get("project", ""), form.get("name", "")
    if name.strip():
        made = await _made(console, request, name)
        if isinstance(made, Response):
            return made
        project = made
    if not project:
        return console.refused(request, "Choose a project, or give a name for a new one.")
    given = {"project": project, "source": f"{PAPERS}{','.join(pmids)}"}
    outcome = await console.ask(ingest_from_source, given, request)
    return console.failure(request, outcome) if outcome.failed else see_other(f"{address_of(project)}#added")
