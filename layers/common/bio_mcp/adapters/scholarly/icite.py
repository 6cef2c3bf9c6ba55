"""NIH iCite's API, version 2: figures of papers by PMID, with its names of fields ("legacy")."""

from collections.abc import Mapping, Sequence
from typing import Any

from bio_mcp.adapters.entrez.pmids import batches
from bio_mcp.adapters.scholarly.fields import number, text, whole
from bio_mcp.adapters.scholarly.rest import RestApi
from bio_mcp.deadline import Deadline
from bio_mcp.ports.metrics import Metrics

BATCH = 200  # PMIDs of a request; iCite takes 1,000, which some proxies find too long an address


class Icite:
    """The port `CitationMetrics`."""

    def __init__(self, api: RestApi) -> None:
        self._api = api

    def of(self, pmids: Sequence[str], *, deadline: Deadline) -> dict[str, Metrics]:
        asked = dict.fromkeys(pmids)
        found: dict[str, Metrics] = {}
        for some in batches(list(asked), BATCH):
            found |= self._of(some, deadline)
        return {pmid: found[pmid] for pmid in asked if pmid in found}

    def _of(self, pmids: Sequence[str], deadline: Deadline) -> dict[str, Metrics]:
        answer = self._api.json("pubs", {"pmids": ",".join(pmids)}, deadline=deadline, check=self._check)
        return {str(each["pmid"]): _metrics(each) for each in answer["data"]}

    def _check(self, answer: Mapping[str, Any]) -> None:
        listed = answer.get("data")
        if not isinstance(listed, list) or not all(isinstance(each, dict) and each.get("pmid") for each in listed):
            raise self._api.unreadable()


def _metrics(found: Mapping[str, Any]) -> Metrics:
    cited_by = _pmids(found.get("cited_by"))
    return Metrics(
        pmid=str(found["pmid"]),
        title=text(found.get("title")),
        year=whole(found.get("year")),
        doi=text(found.get("doi")).lower() or None,
        citation_count=whole(found.get("citation_count")) or len(cited_by),
        citations_per_year=number(found.get("citations_per_year")),
        relative_citation_ratio=number(found.get("relative_citation_ratio")),
        percentile=number(found.get("nih_percentile")),
        is_provisional=_is_true(found.get("provisional")),
        is_clinical=_is_true(found.get("is_clinical")),
        is_research=_is_true(found.get("is_research_article")),
        references=_pmids(found.get("references")),
        cited_by=cited_by,
        cited_by_clinical=_pmids(found.get("cited_by_clin")),
    )


def _pmids(listed: Any) -> tuple[str, ...]:
    """PMIDs by number, each once: iCite lists them in no order, and in files as one text with spaces."""
    given = listed.split() if isinstance(listed, str) else listed if isinstance(listed, list) else []
    numbers = {found for each in given if (found := whole(each)) is not None and found > 0}
    return tuple(map(str, sorted(numbers)))


def _is_true(value: Any) -> bool:
    """iCite says true, and in older answers "Yes"."""
    return value is True or str(value).lower() in ("yes", "true")
