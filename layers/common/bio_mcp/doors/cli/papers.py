"""Papers on a terminal: a ranked list, and one in full."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from bio_mcp.doors import console
from bio_mcp.retrieval.analysis import analyse, query_terms

ROOM_FOR_TABLE = 90  # columns; a narrower terminal gets one paragraph a paper
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
FLAGS = {
    "retracted": ("RETRACTED", "bold red"),
    "notice": ("RETRACTION NOTICE", "bold red"),
    "concern": ("EXPRESSION OF CONCERN", "bold red"),
    "corrected": ("corrected", "yellow"),
}


def hits(results: Sequence[Mapping[str, Any]], query: str, width: int) -> RenderableType:
    """The results in their order, the words that match marked."""
    if width < ROOM_FOR_TABLE:
        return Group(*(_paragraph(rank, hit, query) for rank, hit in enumerate(results, 1)))
    columns = ("#", "PMID", "year", "paper", "score", "quality")
    rows = [
        (str(rank), _pmid(hit), str(hit["year"] or "–"), _paper(hit, query), _score(hit), _quality(hit))
        for rank, hit in enumerate(results, 1)
    ]
    return console.table(columns, rows, right=(0, 1, 2, 4, 5))


def _paragraph(rank: int, hit: Mapping[str, Any], query: str) -> RenderableType:
    line = f"PMID {_pmid(hit)}, {hit['year'] or 'no year'}, score {_score(hit)}, quality {_quality(hit)}"
    return Padding(Text.assemble(f"{rank}. ", _paper(hit, query), "\n", (line, "dim")), (0, 0, 1, 0))


def _paper(hit: Mapping[str, Any], query: str) -> Text:
    shown = Text.assemble(*flag(hit["retraction"]), (hit["title"] or "(no title)", "bold"))
    if hit["journal"]:
        shown.append(f"\n{hit['journal']}", style="italic")
    if hit["snippet"] and hit["snippet"] != hit["title"]:
        shown.append("\n").append_text(marked(hit["snippet"], query))
    return shown


def flag(retraction: str) -> Iterator[tuple[str, str]]:
    """The mark before the title of a paper that must not be cited unseen."""
    if retraction in FLAGS:
        word, style = FLAGS[retraction]
        yield (f"[{word}] ", style)


def marked(text: str, query: str) -> Text:
    """`text` with every word that the search takes for one of the query's."""
    wanted = {term for term, _ in query_terms(query)}
    shown = Text(text)
    for word in _WORD.finditer(text):
        if wanted.intersection(analyse(word.group())):
            shown.stylize("bold green", *word.span())
    return shown


def _pmid(hit: Mapping[str, Any]) -> str:
    return str(hit["doc_id"]).removeprefix("pmid:")


def _score(hit: Mapping[str, Any]) -> str:
    return console.number(hit["score"], 3)


def _quality(hit: Mapping[str, Any]) -> str:
    return console.number(hit["quality"])


def paper(body: Mapping[str, Any]) -> RenderableType:
    """One paper in full."""
    title = Text.assemble(*flag(body["retraction"]), (body["title"] or "(no title)", "bold"))
    facts = [
        ("authors", _names(body["authors"])),
        ("journal", body["journal"]),
        ("published", body["pdat"]),
        ("types", ", ".join(body["pub_types"])),
        ("ids", _ids(body)),
        ("entered", body["edat"]),
        ("revised", body["lr"]),
        ("quality", _weighed(body["quality"])),
    ]
    known = console.pairs((name, Text(value)) for name, value in facts if value)
    abstract = Text(f"\n{body['abstract']}" if body["abstract"] else "")
    return Group(title, "", known, abstract)


def _names(authors: Sequence[str], shown: int = 8) -> str:
    more = f" and {len(authors) - shown} more" if len(authors) > shown else ""
    return ", ".join(authors[:shown]) + more


def _ids(body: Mapping[str, Any]) -> str:
    ids = {"PMID": _pmid(body), "PMCID": body["pmcid"], "DOI": body["doi"]}
    return ", ".join(f"{kind} {value}" for kind, value in ids.items() if value)


def _weighed(quality: Mapping[str, Any]) -> str:
    reasons = "; ".join(quality["reasons"])
    return f"{quality['total']} of 9" + (f": {reasons}" if reasons else "")
