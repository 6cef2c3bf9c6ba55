"""Papers on a terminal: a ranked list of hits, and one paper in full."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from bio_mcp.doors import terminal
from bio_mcp.retrieval.analysis import analyse, query_terms

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
FLAGS = {
    "retracted": ("RETRACTED", "bold red"),
    "notice": ("RETRACTION NOTICE", "bold red"),
    "concern": ("EXPRESSION OF CONCERN", "bold red"),
    "corrected": ("corrected", "yellow"),
}


def hits(results: Sequence[Mapping[str, Any]], query: str) -> RenderableType:
    """The hits in their order, with matching words marked and the reason for each rank."""
    return Group(*(_hit(rank, hit, query) for rank, hit in enumerate(results, 1)))


def _hit(rank: int, hit: Mapping[str, Any], query: str) -> RenderableType:
    where = ", ".join(filter(None, [hit["journal"], str(hit["year"] or ""), f"PMID {_pmid(hit)}"]))
    lines = [Text(where, style="italic")]
    if hit["snippet"] and hit["snippet"] != hit["title"]:
        lines.append(marked(hit["snippet"], query))
    why = hit.get("explanation") or f"quality {terminal.number(hit['quality'])}"
    fits = "weak match, " if hit.get("match") == "weak" else ""
    chance = f"; relevant with a probability of {hit['relevance']:.2f}" if hit.get("relevance") is not None else ""
    lines.append(Text(f"{fits}score {terminal.number(hit['score'], 3)}: {why}{chance}", style="dim"))
    title = Text.assemble(f"{rank}. ", *flag(hit["retraction"]), (hit["title"] or "(no title)", "bold"))
    return Group(title, *(Padding(line, (0, 0, 0, 3), expand=False) for line in lines), "")


def flag(retraction: str) -> Iterator[tuple[str, str]]:
    """The mark before the title of a paper with a retraction status."""
    if retraction in FLAGS:
        word, style = FLAGS[retraction]
        yield (f"[{word}] ", style)


def marked(text: str, query: str) -> Text:
    """`text` with the words marked that match the query as the search analyses it."""
    wanted = {term for term, _ in query_terms(query)}
    shown = Text(text)
    for word in _WORD.finditer(text):
        if wanted.intersection(analyse(word.group())):
            shown.stylize("bold green", *word.span())
    return shown


def _pmid(hit: Mapping[str, Any]) -> str:
    return str(hit["doc_id"]).removeprefix("pmid:")


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
        ("quality", _quality(body["quality"])),
    ]
    known = terminal.pairs((name, Text(value)) for name, value in facts if value)
    abstract = Text(f"\n{body['abstract']}" if body["abstract"] else "")
    return Group(title, "", known, abstract)


def _names(authors: Sequence[str], shown: int = 8) -> str:
    more = f" and {len(authors) - shown} more" if len(authors) > shown else ""
    return ", ".join(authors[:shown]) + more


def _ids(body: Mapping[str, Any]) -> str:
    ids = {"PMID": _pmid(body), "PMCID": body["pmcid"], "DOI": body["doi"]}
    return ", ".join(f"{kind} {value}" for kind, value in ids.items() if value)


def _quality(quality: Mapping[str, Any]) -> str:
    reasons = "; ".join(quality["reasons"])
    return f"{quality['total']} of 9" + (f": {reasons}" if reasons else "")
