"""Crossref's REST API: works by DOI, with the notices about them of publishers and of Retraction Watch."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any
from urllib.parse import quote

from bio_mcp.adapters.entrez.pmids import batches
from bio_mcp.adapters.scholarly.fields import doi, inner, objects, text, whole
from bio_mcp.adapters.scholarly.rest import RestApi
from bio_mcp.deadline import Deadline
from bio_mcp.errors import NotFound, UpstreamFailed
from bio_mcp.literature.notices import Notice, kind_of
from bio_mcp.ports.notices import RegisteredWork

BATCH = 20  # DOIs of a request: a work with its references may have 200 kB


class Crossref:
    """The port `Notices`. `control` is a DOI that Crossref certainly has: where it has none of a list, it is asked for
    that one before the answer counts."""

    def __init__(self, api: RestApi, control: str) -> None:
        self._api = api
        self._control = control

    def of(self, dois: Sequence[str], *, deadline: Deadline) -> dict[str, RegisteredWork]:
        """DOIs with a comma are asked for one by one, as commas part filters."""
        asked = dict.fromkeys(dois)
        found: dict[str, RegisteredWork] = {}
        for some in batches([each for each in asked if "," not in each], BATCH):
            found |= self._listed(some, deadline)
        for each in asked:
            if "," in each:
                found |= self._single(each, deadline)
        return {each: found[each] for each in asked if each in found}

    def _listed(self, dois: Sequence[str], deadline: Deadline) -> dict[str, RegisteredWork]:
        found = self._some(dois, deadline)
        if not found and not self._some([self._control], deadline):
            raise UpstreamFailed(
                f"Crossref answered that it has none of {len(dois)} DOIs, nor {self._control}, which it has; "
                "try again later"
            )
        return found

    def _some(self, dois: Sequence[str], deadline: Deadline) -> dict[str, RegisteredWork]:
        named = ",".join(f"doi:{each}" for each in dois)
        answer = self._api.json("works", {"filter": named, "rows": str(len(dois))}, deadline=deadline)
        items = inner(answer, "message", "items")
        if not isinstance(items, list):
            raise self._api.unreadable()
        return self._by_doi(items)

    def _single(self, asked: str, deadline: Deadline) -> dict[str, RegisteredWork]:
        try:
            answer = self._api.json(f"works/{quote(asked, safe='', errors='replace')}", deadline=deadline)
        except NotFound:
            return {}
        return self._by_doi([answer.get("message")])

    def _by_doi(self, items: Sequence[Any]) -> dict[str, RegisteredWork]:
        works = [_work(each) for each in items if isinstance(each, dict) and doi(each.get("DOI"))]
        if len(works) < len(items):
            raise self._api.unreadable()
        return {each.doi: each for each in works}


def _work(item: Mapping[str, Any]) -> RegisteredWork:
    return RegisteredWork(
        doi=doi(item["DOI"]) or "",
        title=_first(item.get("title")),
        authors=tuple(filter(None, map(_author, objects(item.get("author"))))),
        journal=_first(item.get("container-title")),
        year=_year(item),
        volume=text(item.get("volume")),
        issue=text(item.get("issue")),
        pages=text(item.get("page")) or text(item.get("article-number")),
        kind=text(item.get("type")),
        notices=_notices(item.get("updated-by")),
        preprint_of=_related(item, "is-preprint-of"),
        preprints=_related(item, "has-preprint"),
    )


def _first(value: Any) -> str:
    """Crossref gives titles as lists, of which the first is in the work's own language."""
    return text(value[0]) if isinstance(value, list) and value else text(value)


def _author(each: Mapping[str, Any]) -> str:
    family, given = text(each.get("family")), text(each.get("given"))
    return ", ".join(filter(None, (family, given))) or text(each.get("name"))


def _year(item: Mapping[str, Any]) -> int | None:
    """Of print, as PubMed cites it, else of the earliest publication."""
    for name in ("published-print", "published", "issued", "published-online", "created"):
        if year := _date(item.get(name))[:4]:
            return whole(year)
    return None


def _date(value: Any) -> str:
    """A date of Crossref's as "2019-07-26", "2019-07" or "2019"; "" without one."""
    parts = objects([value]) and inner(value, "date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    numbers = [*takewhile(bool, map(whole, first))]
    return "-".join(f"{each:04}" if not place else f"{each:02}" for place, each in enumerate(numbers))


def _notices(updates: Any) -> tuple[Notice, ...]:
    """What updated the work, oldest first; the same notice of two sources stands twice."""
    found = [
        Notice(
            kind_of(text(each.get("type"))),
            doi(each.get("DOI")),
            _date(each.get("updated")),
            text(each.get("label")) or text(each.get("type")),
            text(each.get("source")) or "publisher",
        )
        for each in objects(updates)
    ]
    return tuple(sorted(found, key=lambda each: (each.date, each.kind, each.doi or "", each.source)))


def _related(item: Mapping[str, Any], relation: str) -> tuple[str, ...]:
    related = objects(inner(item, "relation", relation))
    named = [doi(each.get("id")) for each in related if each.get("id-type") == "doi"]
    return tuple(sorted({each for each in named if each}))
