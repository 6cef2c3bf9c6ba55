"""Templates and files of the pages, with the headers they are sent with. All that a paper holds is shown as text."""

import gzip
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from bio_mcp.callers import MEANING, PUBLIC
from bio_mcp.lazy import Lazy
from bio_mcp.literature.quality import DESIGN_NAMES
from bio_mcp.retrieval.excerpts import matches
from bio_mcp.untrusted import neutral

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
SECURE = MappingProxyType(
    {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",  # with no-referrer, browsers send forms with the Origin `null`
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }
)
PRIVATE = MappingProxyType({**SECURE, "cache-control": "no-store"})


MENU = (
    ("/", "Search"),
    ("/topics", "Topics"),
    ("/library", "Library"),
    ("/reviews", "Reviews"),
    ("/references", "References"),
    ("/graph", "Graph"),
)
"""The pages for everybody, by their addresses."""
ADMIN = (
    ("/admin/corpora", "Corpora", "How many papers are held, from which topics, and how fresh they are."),
    ("/admin/syncs", "Syncs", "What was fetched from PubMed, and how far a sync is."),
    ("/admin/evaluation", "Evaluation", "How good and how fast search and answers are, in figures."),
    ("/admin/people", "People", "Who is invited, and what is open in your name."),
    ("/admin/connect", "Connect", "How Claude, ChatGPT, VS Code and others use what is here."),
)
"""The pages about the server, each with what it is for."""
TYPES = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "library.js": "text/javascript; charset=utf-8",
    "viewer.mjs": "text/javascript; charset=utf-8",
    "pdf.min.mjs": "text/javascript; charset=utf-8",
    "pdf.worker.min.mjs": "text/javascript; charset=utf-8",
    "openjpeg_nowasm_fallback.js": "text/javascript; charset=utf-8",
    "jbig2_nowasm_fallback.js": "text/javascript; charset=utf-8",
}
FOR_A_YEAR = "public, max-age=31536000, immutable"
UNTIL_ASKED = "no-cache"


@cache
def static_file(name: str) -> tuple[bytes, bytes, str]:
    """The file that `TYPES` names, it compressed by gzip, and its version: the beginning of its hash."""
    content = (files(__package__) / "static" / name).read_bytes()
    return content, gzip.compress(content, mtime=0), hashlib.sha256(content).hexdigest()[:16]


async def serve(request: Request) -> Response:
    """Answer with a file; 404 for any name that is not of `TYPES`."""
    name = request.path_params["name"]
    if name not in TYPES:
        return Response("There is no such file.", 404, dict(SECURE), "text/plain")
    content, compressed, version = static_file(name)
    current = request.query_params.get("v") == version
    caching = {
        "cache-control": FOR_A_YEAR if current else UNTIL_ASKED,
        "etag": f'"{version}"',
        "vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == caching["etag"]:
        return Response(None, 304, {**SECURE, **caching})
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, caching = compressed, {**caching, "content-encoding": "gzip"}
    return Response(content, 200, {**SECURE, **caching}, TYPES[name])


PAGES_OF_TOOLS = MappingProxyType(
    {
        "rag.search": "the search box",
        "rag_answer": "the button Answer",
        "corpus.queries": "the page Corpora",
        "whatsNew": "the page Topics",
        "pubmed.sync_delta": "the button Follow of the page Topics",
        "list_projects": "the page Library",
        "ingest_from_source": "the page Library",
        "searchPubMedArticles": "pubmed.ncbi.nlm.nih.gov",
    }
)
"""What one clicks for a tool that a sentence names; for any other one asks an assistant that is connected."""
LABELS = MappingProxyType(
    {
        "filters.year_from": "From year",
        "filters.year_to": "To year",
        "filters.publication_types": "Study design",
        "filters.journals": "Journal",
        "format": "Format",
        "query": "The question",
        "question": "The question",
        "queryTerm": "Term",
        "query_key": "Name",
        "references": "The list",
    }
)
"""What a page calls the arguments that it gives."""
SENTENCES = MappingProxyType(
    {
        r"cursor: it is no next_cursor of this query with these filters and sort": "This is a page of another search.",
        r"The corpus is empty\. .*": "No paper is held here yet. "
        "Follow a topic on the page Topics, and PubMed's papers on it come in.",
        r"( that pass the filters)? fits the query \(the probability .*": r"\1 fits the question. "
        "Look in PubMed itself, or follow the topic.",
        r" is not in the corpus\. Look with .*": " is not in the corpus. A topic that finds it brings it in.",
        r"There is no job .*": "There is nothing at this address, or it is no longer kept.",
        r" with create: true|, with `bio-mcp sync --stop`| \([A-Z]\w+(?:Error|Timeout)\)": "",
    }
)
"""What a page says in place of words that are for programs."""


def in_words_of_the_page(sentence: str) -> str:
    """The sentence with arguments as the page labels them, papers by their PMIDs, and tools as what one clicks."""
    for said, instead in SENTENCES.items():
        sentence = re.sub(said, instead, sentence)
    sentence = re.sub(r"^([\w.]+): ", lambda named: f"{LABELS.get(named[1], named[1])}: ", sentence)
    sentence = re.sub(r"\bpmid:(\d+)", r"PMID \1", sentence)

    from bio_mcp.catalog import naming_tools  # every tool, which most pages need not

    sentence = naming_tools(sentence, lambda tool: PAGES_OF_TOOLS.get(tool.name, "an assistant that is connected here"))
    first = r"^[a-z](?=[a-z]* )|(?<=[.?!] )t(?=he (?:page|button|search))"
    return re.sub(first, lambda letter: letter[0].upper(), sentence)


def shown(iso: str) -> str:
    """An ISO 8601 time in UTC for people, to the minute."""
    return f"{iso[:10]} {iso[11:16]} UTC"


def with_matches(text: str, query: str) -> "Markup":
    """`text` for a page, with the words marked that match `query`."""
    text = neutral(text)
    return _marked(text, matches(text, query))


def with_quote(text: str, quote: str) -> "Markup":
    """`text` for a page, with `quote` marked where it first stands."""
    text, quote = neutral(text), neutral(quote)
    at = text.find(quote) if quote else -1
    return _marked(text, [(at, at + len(quote))] if at >= 0 else [], ' id="quote" tabindex="-1"')


def _marked(text: str, places: Sequence[tuple[int, int]], attributes: str = "") -> "Markup":
    from markupsafe import Markup, escape

    parts, end = [], 0
    for start, stop in places:
        parts += [escape(text[end:start]), Markup(f"<mark{attributes}>"), escape(text[start:stop]), Markup("</mark>")]  # noqa: S704
        end = stop
    return Markup("").join([*parts, escape(text[end:])])


def render(template: str, **values: Any) -> str:
    """`template` with `values`, each escaped, and with the characters replaced that no reader sees."""
    return _environment().get_template(template).render(values)


def _made() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: neutral(value) if type(value) is str else value,  # not `Markup`, which is ours
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(static=lambda name: f"/static/{name}?v={static_file(name)[2]}")
    made.globals.update(designs=DESIGN_NAMES, meanings=MEANING, public=PUBLIC)
    made.filters.update(shown=shown, worded=in_words_of_the_page, matching=with_matches, quoting=with_quote)
    return made


_environment = Lazy(_made)


def compile_templates() -> None:
    """Compile every template, which the first page otherwise waits for."""
    for each in _environment().list_templates():
        _environment().get_template(each)
