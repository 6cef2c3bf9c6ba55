"""EFetch: whole records. What is missing is silently absent, and the order asked for is not promised."""

import textwrap

from tests.support.eutils_server.answers import Answer, Params, as_text, error
from tests.support.eutils_server.records import Record
from tests.support.eutils_server.state import CAP, Ncbi, QueryLost

SET_HEAD = (
    b'<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    b'"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet>\n'
)
BEYOND_CAP = (
    "Search backend cannot retrieve history data. Reason: Exception: 'retstart' cannot be larger than 9998. For PubMed,"
    " ESearch can only retrieve the first 9,999 records matching the query."
)
MOST = 10_000


def efetch(ncbi: Ncbi, params: Params) -> Answer:
    try:
        pmids = asked_for(ncbi, params)
    except QueryLost as lost:
        return error("eFetchResult", str(lost), params)
    except ValueError as failure:
        return error("eFetchResult", str(failure), params, status=400)
    if not params.ids and not params.get("WebEnv"):
        return error("eFetchResult", "Supplied id parameter is empty.", params)
    held = [pmid for pmid in shuffled(pmids) if pmid not in ncbi.catalogue.withheld]
    found = [record for pmid in held if (record := ncbi.catalogue.get(pmid))]
    if params.get("rettype") == "medline":
        return as_text("\n".join(medline(record) for record in found))
    return Answer(SET_HEAD + b"\n".join(record.xml for record in found) + b"\n</PubmedArticleSet>")


def asked_for(ncbi: Ncbi, params: Params) -> list[int]:
    """PMIDs by id or by history, each once. ValueError with NCBI's sentence for what it refuses with 400."""
    if params.get("WebEnv"):
        held = ncbi.history.recall(params)
        retstart = params.number("retstart", 0)
        if retstart > CAP - 1 and len(held) > CAP:
            raise ValueError(BEYOND_CAP)
        return held[retstart : min(retstart + params.number("retmax", MOST), CAP)]
    if not params.has("id"):
        raise ValueError("Neither query_key nor id specified")
    pmids = [int(one) for one in params.ids if one.isdigit()]
    if params.ids and not pmids:
        raise ValueError("ID list is empty! Possibly it has no correct IDs.")
    return list(dict.fromkeys(pmids))[: params.number("retmax", MOST)]


def shuffled(pmids: list[int]) -> list[int]:
    """The same PMIDs with every seventh number at the end: repeatable, and not the order asked for."""
    return sorted(pmids, key=lambda pmid: pmid % 7 == 0)


def medline(record: Record) -> str:
    """The MEDLINE display format, its most used tags."""
    lines = [("PMID", str(record.pmid)), ("TI", record.title), ("AB", record.abstract)]
    lines += [("AU", name) for name in record.authors]
    lines += [("LA", text) for text in record.elements("Language")]
    lines += [("PT", text) for text in record.elements("PublicationType")]
    lines += [("TA", text) for text in record.elements("MedlineTA")]
    lines += [("MH", text) for text in record.elements("DescriptorName")]
    stamps = {"LR": "mdat", "EDAT": "edat", "MHDA": "mhda", "CRDT": "crdt"}
    lines += [(tag, record.dates[kind][0]) for tag, kind in stamps.items() if kind in record.dates]
    lines += [("AID", f"{value} [{kind}]") for kind, value in record.own_ids.items() if kind in ("doi", "pii")]
    return "\n" + "".join(_medline_line(tag, text) for tag, text in lines if text)


def _medline_line(tag: str, text: str) -> str:
    return textwrap.fill(f"{tag:<4}- {text}", 88, subsequent_indent=" " * 6, break_on_hyphens=False) + "\n"
