"""NCBI's other databases, made of the same records: MeSH of their headings, PubMed Central of those with a PMCID.

None of these answers was recorded. Shapes are NCBI's as its documentation and its users show them: ESummary's `ds_`
members, the sentence by which a publisher withholds a text (here: of odd PMIDs), the converter's records and errors.
"""

import html
import re
from collections import Counter
from typing import Any
from xml.sax.saxutils import escape

from tests.support.eutils_server.answers import Answer, Params, as_json, header
from tests.support.eutils_server.records import Record, normalised, plain
from tests.support.eutils_server.state import Ncbi

_HEADING = re.compile(r'<DescriptorName UI="(D\d+)"[^>]*>([^<]*)<')
_SECTION = re.compile(r"<AbstractText(?P<named>(?: [^>]*)?)>(?P<text>.*?)</AbstractText>", re.DOTALL)
_LABEL = re.compile(r'Label="([^"]*)"')
WITHHELD = "<!--The publisher of this article does not allow downloading of the full text in XML form.-->"
KINDS = ("pmid", "pmcid", "doi")


def mesh_search(ncbi: Ncbi, params: Params) -> Answer:
    """Headings that hold every word of the term, or a word that begins so before an asterisk; the most used first."""
    term = re.sub(r"\[[^\]]*\]", "", params.get("term"))
    words = [normalised(word).rstrip() + ("" if word.endswith("*") else " ") for word in term.split()]
    headings = headings_of(ncbi)
    found = [uid for (uid, name), _ in headings.most_common() if all(word in normalised(name) for word in words)]
    start, most = params.number("retstart", 0), params.number("retmax", 20)
    page = found[start : start + most]
    result = {"count": str(len(found)), "retmax": str(len(page)), "retstart": str(start), "idlist": page}
    return as_json({"header": header("esearch"), "esearchresult": {**result, "querytranslation": params.get("term")}})


def mesh_summary(ncbi: Ncbi, params: Params) -> Answer:
    names = dict(headings_of(ncbi).keys())
    rows: dict[str, Any] = {"uids": [uid for uid in params.ids if uid in names]}
    for uid in params.ids:
        rows[uid] = _heading(uid, names[uid]) if uid in names else {"uid": uid, "error": "cannot get document summary"}
    return as_json({"header": header("esummary"), "result": rows})


def headings_of(ncbi: Ncbi) -> Counter[tuple[str, str]]:
    """(uid, name) of each descriptor in the records, with how many have it. A uid is 68 and the UI's digits."""
    found: Counter[tuple[str, str]] = Counter()
    for record in ncbi.catalogue.visible.values():
        found.update((f"68{ui[1:]}", plain(name)) for ui, name in _HEADING.findall(record.citation))
    return found


def _heading(uid: str, name: str) -> dict[str, Any]:
    return {
        "uid": uid,
        "ds_recordtype": "descriptor",
        "ds_meshui": f"D{uid[2:]}",
        "ds_meshterms": [name, f"{name} (entry term)"],
        "ds_scopenote": f"What NLM says of {name}. ",
        "ds_yearintroduced": "1999",
        "ds_subheading": ["therapy"],
        "ds_idxlinks": [{"parent": 1, "treenum": f"A01.{uid[-3:]}", "children": []}],
    }


def pmc_fetch(ncbi: Ncbi, params: Params) -> Answer:
    """The article of the first id; a number that nothing has is answered by a Reply."""
    number = (params.ids or ["0"])[0].removeprefix("PMC")
    record = with_id(ncbi, "pmcid", f"PMC{number}")
    head = '<?xml version="1.0"  ?><!DOCTYPE pmc-articleset PUBLIC "-//NLM//DTD ARTICLE SET 2.0//EN" '
    head += '"https://dtd.nlm.nih.gov/ncbi/pmc/articleset/nlm-articleset-2.0.dtd"><pmc-articleset>'
    if record is None:
        body = f'<Reply Id="{number}" error="The following PMCID is not available: {number}"/>'
    else:
        body = _article(record, number)
    return Answer(f"{head}{body}</pmc-articleset>".encode())


def _article(record: Record, number: str) -> str:
    withheld = record.pmid % 2 == 1
    doi = record.own_ids.get("doi")
    ids = f'<article-id pub-id-type="pmcid">PMC{number}</article-id>'
    ids += f'<article-id pub-id-type="pmid">{record.pmid}</article-id>'
    ids += f'<article-id pub-id-type="doi">{escape(doi)}</article-id>' if doi else ""
    licence = (
        '<permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/" '
        'xmlns:xlink="http://www.w3.org/1999/xlink"><license-p>Open access.</license-p></license></permissions>'
    )
    meta = f"{ids}<title-group><article-title>{escape(record.title)}</article-title></title-group>"
    front = f"<front><journal-meta/><article-meta>{meta}{'' if withheld else licence}</article-meta></front>"
    sections = "".join(
        f"<sec><title>{escape(html.unescape(_label(named) or f'Part {place}'))}</title><p>{text}</p></sec>"
        for place, (named, text) in enumerate(_SECTION.findall(record.citation), 1)
    )
    rows = "<tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr>"
    table = f"<table-wrap><label>Table 1</label><table>{rows}</table></table-wrap>"
    body = f"<body>{sections.replace('</p></sec>', f'</p>{table}</sec>', 1)}</body>"
    return f"<article>{WITHHELD if withheld else ''}{front}{'' if withheld else body}</article>"


def _label(named: str) -> str | None:
    found = _LABEL.search(named)
    return found[1].capitalize() if found else None


def convert(ncbi: Ncbi, params: Params) -> Answer:
    """The PMC ID Converter: it knows the articles of PubMed Central, by any of their ids."""
    kind = params.get("idtype") or "pmid"
    ids = [one.strip() for one in params.get("ids").split(",") if one.strip()]
    if not ids or kind not in KINDS:
        return Answer(b'{"status": "error", "message": "Invalid request"}', "application/json", 400)
    rows = [_row(with_id(ncbi, kind, one), one) for one in ids]
    return as_json({"status": "ok", "response-date": "2025-06-25 07:12:00", "request": {}, "records": rows})


def _row(record: Record | None, asked: str) -> dict[str, Any]:
    number = record and record.own_ids.get("pmc")
    if record is None or not number:
        return {"requested-id": asked, "status": "error", "errmsg": "Identifier not found in PMC"}
    row = {"requested-id": asked, "pmcid": number, "pmid": record.pmid, "doi": record.own_ids.get("doi")}
    return {name: value for name, value in row.items() if value}


def with_id(ncbi: Ncbi, kind: str, text: str) -> Record | None:
    """The record that has this id."""
    if kind == "pmid":
        return ncbi.catalogue.get(int(text)) if text.isdigit() else None
    name = {"pmcid": "pmc", "doi": "doi"}[kind]
    wanted = text.casefold()
    every = ncbi.catalogue.visible.values()
    return next((each for each in every if each.own_ids.get(name, "").casefold() == wanted), None)
