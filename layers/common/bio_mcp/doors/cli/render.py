"""Shows any answer on a terminal: the kind of a field decides how it is shown.

A title is bold, after a mark if the paper was retracted. Facts follow it, in one line or, of the answer itself, as
rows of name and value. Texts are paragraphs. A list of things with titles or texts is a list of paragraphs, any other
list of objects a table. Reasons and warnings go to standard error.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from bio_mcp.doors import terminal
from bio_mcp.untrusted import excerpt

TITLES = ("title", "label", "heading", "searchTerm", "correctedQuery")
TEXTS = """
    snippet abstract abstractText full_text render_text chunk_text text quote scopeNote answer citation summary content
""".split()
CITING = {
    "id": "{}",
    "doc_id": "{}",
    "citekey": "{}",
    "authors": "{}",
    "journal": "{}",
    "journalInfo": "{}",
    "source": "{}",
    "section_path": "{}",
    "page_span": "{}",
    "pdat": "{}",
    "pubDate": "{}",
    "year": "{}",
    "pmid": "PMID {}",
    "pmcid": "PMCID {}",
    "doi": "DOI {}",
}
"""What cites a thing, in the order in which it is shown: a value that needs no name, or its usual name before it."""
LABELS = {
    "doc_id": "id",
    "pmid": "PMID",
    "pmcid": "PMCID",
    "doi": "DOI",
    "pdat": "published",
    "edat": "entered",
    "lr": "revised",
    "pub_types": "types",
    "entryTerms": "also",
    "hybrid_enabled": "words too",
    "chunks": "passages",
}
MACHINE = frozenset(
    """
    status uuid chunk_id sim bm25 word_rank vector_rank char_start char_end lang audit next_cursor retraction level
    eSearchUrl eSummaryUrl eLinkUrl linkUrl eFetchDetails searchParameters queryTranslation relationshipType score_kind
    sourceRetraction epubDate contentType requestedPmids retrievedPmidCount affiliationIndices version agrees url
    metadata truncated next_step
    """.split()
)
"""Fields for programs; --json has them."""
FLAGS = {
    "retracted": ("RETRACTED", "bold red"),
    "notice": ("RETRACTION NOTICE", "bold red"),
    "concern": ("EXPRESSION OF CONCERN", "bold red"),
    "corrected": ("corrected", "yellow"),
}
STATES = {
    "complete": ("complete", "green"),
    "incomplete": ("incomplete; run the same command again", "yellow"),
    "running": ("another process is at it; nothing was started", "yellow"),
    "cancelled": ("cancelled; what was stored stays", "yellow"),
    "ok": ("ok", "green"),
    "warn": ("warn", "yellow"),
    "fail": ("FAIL", "bold red"),
}
MOST_NAMES = 8
LONGEST_OBJECT = 200  # characters of an object in a table
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#!])")


@dataclass(frozen=True)
class View:
    """What the fields of an answer do not say: which are not shown, which are titles, the columns of a list that is a
    table (`last_sync.state` is of an object in it), other names, how things are numbered and from which number on, and
    sentences, formatted with the answer: before all, where no list has anything, and at the end. A field for programs
    is shown if it has a name here."""

    hidden: frozenset[str] = frozenset()
    titles: tuple[str, ...] = ()
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    head: str = ""
    empty: str = ""
    foot: str = ""
    ranked: str = ""
    first: int = 1

    def shows(self, name: str, value: Any) -> bool:
        """Whether a field is for people."""
        programs = name in MACHINE and name not in self.labels
        elsewhere = programs or name in self.hidden or name in ("warnings", "reasons")
        return not elsewhere and value not in (None, "", [], {})


PLAIN = View()


def render(body: Mapping[str, Any], view: View, query: str = "") -> None:
    """Print an answer and its warnings. Words of `query` are marked in its texts."""
    shown = {name: value for name, value in body.items() if view.shows(name, value)}
    lists = {name: value for name, value in shown.items() if _is_list_of_objects(value)}
    parts: list[RenderableType] = [Text(view.head.format(**body))] if view.head else []
    parts += [*_whole({name: value for name, value in shown.items() if name not in lists}, body, view)]
    for name, items in lists.items():
        parts += _list(name, items, view, query, apart=bool(parts) or len(lists) > 1)
    if view.empty and not lists:
        parts.append(Text(view.empty))
    elif view.foot:
        parts.append(Text(view.foot.format(**body), "dim"))
    if parts:
        terminal.show(*parts)
    for sentence in (*body.get("reasons", ()), *body.get("warnings", ())):
        terminal.warn(sentence)


def _whole(shown: Mapping[str, Any], body: Mapping[str, Any], view: View) -> Iterator[RenderableType]:
    """The fields of the answer itself: title, rows of facts, texts."""
    rows = [(name, value) for name, value in shown.items() if name not in (*TITLES, *TEXTS)]
    if "title" in body:
        yield titled(body)
        yield ""
    if rows:
        yield terminal.pairs((label(name, view.labels), _cell(name, value, view)) for name, value in rows)
    if texts := [Text(str(shown[name])) for name in (*TITLES[1:], *TEXTS) if name in shown]:
        yield Group(*([""] if rows else []), *texts)


def _list(
    name: str, items: Sequence[Mapping[str, Any]], view: View, query: str, *, apart: bool
) -> Iterator[RenderableType]:
    """The things of a list as a table or as entries; set apart from what stands above it, a table with its name."""
    if name not in view.tables and any(key in each for each in items for key in (*view.titles, *TITLES, *TEXTS)):
        yield from [""] if apart else []
        yield from (entry(each, view, query, view.ranked.format(rank)) for rank, each in enumerate(items, view.first))
        return
    if apart:
        yield from ("", Text(label(name, view.labels), "bold"))
    names = view.tables.get(name) or [key for key in items[0] if any(view.shows(key, each.get(key)) for each in items)]
    rows = [[_at(each, key) for key in names] for each in items]
    right = [
        place for place, of in enumerate(zip(*rows, strict=True)) if all(isinstance(e, int | float | None) for e in of)
    ]
    cells = [[_cell(key, value, view) for key, value in zip(names, row, strict=True)] for row in rows]
    ids = [place for place, key in enumerate(names) if key == "id"]  # which are copied
    yield terminal.table([label(key, view.labels) for key in names], cells, right=right, whole=ids)


def _at(item: Any, path: str) -> Any:
    for name in path.split("."):
        item = item and item.get(name)
    return item


def _cell(name: str, value: Any, view: View) -> str | Text:
    if name == "state":
        return Text(*STATES.get(value, (value, "")))
    shown = plain(name, value, view.labels)
    return excerpt(shown, LONGEST_OBJECT) if isinstance(value, Mapping) else shown


def entry(item: Mapping[str, Any], view: View, query: str = "", rank: str = "") -> RenderableType:
    """A thing with a title or texts: what cites it, its texts, what it consists of, and its other facts."""
    shown = {name: value for name, value in item.items() if view.shows(name, value)}
    title = titled(item, rank, view.titles)
    if str(shown.get("pubDate", "-"))[:4] in str(shown.get("source", "")):
        shown.pop("pubDate")
    study = shown.pop("study", "")
    citing = [form.format(plain(name, shown[name], view.labels)) for name, form in CITING.items() if name in shown]
    texts = [shown[name] for name in TEXTS if name in shown and not title.plain.endswith(shown[name])]
    inner = {name: value for name, value in shown.items() if _is_list_of_objects(value) and name not in CITING}
    used = {*view.titles, *TITLES, *TEXTS, *CITING, *inner}
    facts = [
        f"{label(name, view.labels)} {plain(name, value, view.labels)}"
        for name, value in shown.items()
        if name not in used
    ]
    lines = [
        Text(", ".join(citing), "italic"),
        Text(plain("study", study, view.labels)),
        *(marked(each, query) for each in texts),
        *(
            Text(f"{label(name, view.labels)}: {plain(name, each, view.labels)}")
            for name, of in inner.items()
            for each in of
        ),
        Text("; ".join(facts), "dim"),
    ]
    return Group(title, *(Padding(line, (0, 0, 0, 3), expand=False) for line in lines if line), "")


def titled(item: Mapping[str, Any], rank: str = "", titles: Sequence[str] = ()) -> Text:
    """The title of a thing, after the mark of what became of a paper."""
    word, style = FLAGS.get(str(item.get("retraction", "")), ("", ""))
    title = next((str(item[name]) for name in (*titles, *TITLES) if item.get(name)), "(no title)")
    return Text.assemble(rank, (f"[{word}] " if word else "", style), (title, "bold"))


def marked(text: str, query: str) -> Text:
    """`text` with the words marked that match the query as the search analyses it."""
    shown = Text(text)
    if not query:
        return shown
    from bio_mcp.retrieval.excerpts import matches

    for start, end in matches(text, query):
        shown.stylize("bold green", start, end)
    return shown


def markdown(text: str) -> str:
    """The text in one line, with what Markdown or HTML would read as its own escaped."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def label(name: str, labels: Mapping[str, str]) -> str:
    """The name of a field in words: "max_edat_seen" is "max edat seen"."""
    return labels.get(name) or LABELS.get(name) or re.sub("[_.]|(?=[A-Z])", " ", name).lower().strip()


def plain(name: str, value: Any, labels: Mapping[str, str]) -> str:
    """A value in a line."""
    match value:
        case None:
            return "–"
        case [first, *_, last] if name == "page_span":
            return f"page {first}" if first == last else f"pages {first}-{last}"
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value) if "year" in name else f"{value:,}"
        case float():
            return f"{value:,.3f}".rstrip("0").rstrip(".")
        case [_, *_]:
            return _listed(name, value, labels)
        case Mapping():
            return str(value["short"]) if "short" in value else _object(value, labels)
        case _:
            return str(value).replace("pmid:", "PMID ", 1)


def _listed(name: str, values: Sequence[Any], labels: Mapping[str, str]) -> str:
    separator = (
        " > "
        if name.endswith("path")
        else "; "
        if values and isinstance(values[0], dict) and name != "authors"
        else ", "
    )
    more = f" and {len(values) - MOST_NAMES} more" if name == "authors" and len(values) > MOST_NAMES else ""
    return separator.join(plain("", each, labels) for each in (values[:MOST_NAMES] if more else values)) + more


def _object(value: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """The fields of an object in a line, each after its name; a text that is named like its kind needs none."""
    if "isoAbbreviation" in value:
        year = (value.get("publicationDate") or {}).get("year") or ""
        volume, issue, pages = (value.get(name) or "" for name in ("volume", "issue", "pages"))
        printed = f"{year};{volume}{f'({issue})' if issue else ''}:{pages}".rstrip(";:")
        return f"{value['isoAbbreviation'] or value['title']} {printed}".strip()
    if {"lastName", "collectiveName"} & value.keys():
        return value.get("collectiveName") or " ".join(filter(None, (value["lastName"], value["initials"])))
    parts = []
    for name, each in value.items():
        if each not in (None, "", [], {}):
            form = f"{label(name, labels)} {{}}"
            if name not in labels and isinstance(each, str):
                form = CITING.get(name, "{}" if name in (*TITLES, *TEXTS) else form)
            parts.append(form.format(plain(name, each, labels)))
    return ", ".join(parts)


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
