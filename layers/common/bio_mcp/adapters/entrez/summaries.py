"""ESummary, version 2.0: short descriptions of articles."""

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

from bio_mcp.adapters.entrez.answer import Answer
from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.medline.retraction_status import REF_TYPES, retraction_status
from bio_mcp.literature.medline.scripts import subscript, superscript
from bio_mcp.literature.records import Correction, PublicationType, RetractionStatus
from bio_mcp.ports.pubmed import DocSummary, Summaries

BATCH = 200
DENIAL = "cannot get document summary"
_REF_TYPES = {kind.lower(): kind for kind in REF_TYPES}
_RAISED = re.compile(r"<sup>([^<>]*)</sup>", re.IGNORECASE)
_LOWERED = re.compile(r"<sub>([^<>]*)</sub>", re.IGNORECASE)
_MARKUP = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|mml:[\w]+)(?:\s[^<>]*)?/?>", re.IGNORECASE)


def read_summaries(answer: Answer, requested: Sequence[str] | None = None) -> Summaries:
    """The summaries of `requested`, or all in the answer's order. One bad id does not affect the others.

    Raises `NcbiUnreadable` if an id is silently absent: the answer is truncated then, which is not "not found".
    """
    result = answer.json.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("uids"), list):
        raise NcbiUnreadable("NCBI's summaries lack their list of PMIDs; try again")
    found: list[DocSummary] = []
    missing: dict[str, str] = {}
    for pmid in requested if requested is not None else [str(uid) for uid in result["uids"]]:
        entry = result.get(pmid)
        if isinstance(entry, dict) and "error" not in entry:
            found.append(_summary(pmid, entry))
        elif isinstance(entry, dict) or answer.json.get("error"):
            missing[pmid] = "PubMed has no summary of it"
        else:
            raise NcbiUnreadable(f"NCBI's answer passed over PMID {pmid}; try again")
    denied = frozenset(pmid for pmid in missing if _is_denied(result.get(pmid), pmid))
    return Summaries(tuple(found), missing, denied)


def _is_denied(entry: Any, pmid: str) -> bool:
    return isinstance(entry, dict) and entry.get("uid") == pmid and entry.get("error") == DENIAL


def _summary(pmid: str, entry: dict[str, Any]) -> DocSummary:
    ids = {item.get("idtype"): item.get("value") for item in _objects(entry.get("articleids"))}
    history = {item.get("pubstatus"): item.get("date") for item in _objects(entry.get("history"))}
    return DocSummary(
        pmid=pmid,
        title=_text(entry.get("title")) or _text(entry.get("vernaculartitle")) or _text(entry.get("booktitle")),
        journal=_text(entry.get("fulljournalname")),
        pub_types=_texts(entry.get("pubtype")),
        pdat=_text(entry.get("pubdate")),
        edat=_instant(history.get("pubmed")),
        pmcid=_pmcid(ids),
        authors=_texts(author.get("name") for author in _objects(entry.get("authors"))),
        source=_text(entry.get("source")),
        epdat=_text(entry.get("epubdate")),
        doi=_text(ids.get("doi")),
        volume=_text(entry.get("volume")),
        issue=_text(entry.get("issue")),
        pages=_text(entry.get("pages")),
        languages=_texts(entry.get("lang")),
        retraction=_retraction_status(entry),
    )


def _retraction_status(entry: dict[str, Any]) -> RetractionStatus:
    """The retraction status by ESummary's own terms: its "Retraction in" is the DTD's RetractionIn."""
    types = [PublicationType("", name) for name in _texts(entry.get("pubtype"))]
    kinds = [str(reference.get("reftype")).replace(" ", "").lower() for reference in _objects(entry.get("references"))]
    return retraction_status(types, [Correction(_REF_TYPES[kind]) for kind in kinds if kind in _REF_TYPES])


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value or () if isinstance(item, dict)]


def _text(value: Any) -> str | None:
    """Plain text of an XML fragment that NCBI escaped as a whole ("H&lt;sub&gt;2&lt;/sub&gt;O" -> "H₂O")."""
    if not isinstance(value, str):
        return None
    fragment = html.unescape(value)
    fragment = _RAISED.sub(lambda match: superscript(match[1]), fragment)
    fragment = _LOWERED.sub(lambda match: subscript(match[1]), fragment)
    return html.unescape(_MARKUP.sub("", fragment)).strip() or None


def _texts(values: Iterable[Any] | None) -> tuple[str, ...]:
    return tuple(text for value in values or () if (text := _text(value)))


def _instant(value: Any) -> str | None:
    """Convert "2021/09/28 06:00" to "2021-09-28T06:00"; None if it is not a date."""
    match = re.match(r"(\d{4})/(\d\d)/(\d\d)(?: (\d\d:\d\d))?", value) if isinstance(value, str) else None
    if not match:
        return None
    day = "-".join(match.groups()[:3])
    return f"{day}T{match[4]}" if match[4] else day


def _pmcid(ids: dict[Any, Any]) -> str | None:
    match = re.search(r"PMC\d+", f"{ids.get('pmc') or ''} {ids.get('pmcid') or ''}")
    return match[0] if match else None
