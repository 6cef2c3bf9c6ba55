"""Every recorded answer and failure of the E-utilities, played to each tool that asks for its like.

What a recording says is read here by means of its own. A tool gives just that, or an error, or says what is lacking:
never an empty answer that calls itself complete, unless the recording itself says "nothing".
"""

import json
import re
from pathlib import Path

import pytest
from lxml import etree

from bio_mcp.call import read
from bio_mcp.tools.pubmed import fetch_details, pubmed_stats, relate, search_pubmed
from tests.adapters.entrez.recordings import entries
from tests.support.validation import validate
from tests.tools.live import Live

CONTRACT = json.loads((Path(__file__).parents[1] / "contracts/tools.json").read_text())
LEVELS = ("abstract_plus", "full_xml", "medline_text", "citation_data")
LINKS = {
    "pubmed_similar_articles": "pubmed_pubmed",
    "pubmed_citedin": "pubmed_pubmed_citedin",
    "pubmed_references": "pubmed_pubmed_refs",
}
SECRET = re.compile(r"api-key|\b(?:\d{1,3}\.){3}\d{1,3}\b|MCID_|/usr/|/export/|eutils_lb")
RECORDED = [each for each in entries() if not each["file"].endswith(".py")]


def of(*endpoints):
    return [
        pytest.param(each, id=each["file"])
        for each in RECORDED
        if each["endpoint"] in endpoints or each["endpoint"] == "any"
    ]


def text(entry):
    return (entry["folder"] / entry["file"]).read_bytes().decode()


@pytest.fixture
def play(ncbi):
    live = Live(ncbi.base_url, tries=2)

    def play(entry, endpoint, body=None):
        ncbi.control.clear_faults()
        kind = "application/json" if (body or text(entry)).lstrip()[:1] in "{[" else "text/xml"
        ncbi.control.fault(
            endpoint=endpoint, status=entry["status"], body=body or text(entry), content_type=kind, times=60
        )
        return live

    yield play
    live.wire.close()


def whole_answer(body, tool):
    """Whether this is an answer; an error is a valid envelope without anything of NCBI's innards in it."""
    if "error" in body:
        assert set(body["error"]) == {"code", "message", "details"}
        assert body["error"]["code"] in CONTRACT["tools"][tool.name]["errors"]
        assert len(body["error"]["message"]) >= 20
        assert not SECRET.search(json.dumps(body))
        return False
    validate(body, tool.output_schema)
    return True


# ---- ESearch ----


def searched(entry):
    """(count, PMIDs) of a recorded search; None for what is no search of PubMed or its failure."""
    body = text(entry)
    if body.lstrip().startswith("{"):
        result = json.loads(body, strict=False).get("esearchresult", {})
        return (int(result["count"]), result["idlist"]) if "count" in result else None
    if "<eSearchResult>" not in body or "<ERROR>" in body or "<Count>" not in body:
        return None
    root = etree.fromstring(body.encode())
    return int(root.findtext("Count") or 0), [each.text for each in root.iterfind("IdList/Id")]


@pytest.mark.parametrize("entry", of("esearch"))
def test_a_recorded_search(play, entry):
    body = play(entry, "esearch").search("cancer")
    found = searched(entry)
    if whole_answer(body, search_pubmed):
        assert found is not None
        assert (body["totalFound"], body["pmids"]) == (found[0], found[1][:20])
    else:
        assert found is None or text(entry).lstrip().startswith("<")  # we ask for JSON


@pytest.mark.parametrize("entry", of("esummary"))
def test_recorded_summaries_of_other_articles_never_pass_for_ours(play, entry):
    body = play(entry, "esummary").search("cancer", fetchBriefSummaries=3)
    assert whole_answer(body, search_pubmed)
    assert (len(body["pmids"]), body["briefSummaries"], body["status"]) == (20, [], "partial")
    assert not SECRET.search(" ".join(body["reasons"]))
    related = play(entry, "esummary").related("25760099")
    assert whole_answer(related, relate)
    assert (related["retrievedCount"], related["status"]) == (5, "partial")


# ---- EFetch ----


def records(entry):
    """PMIDs of the records in a recorded PubMed answer; None for what is none."""
    body = text(entry)
    if "<PubmedArticleSet" in body:
        root = etree.fromstring(body.encode())
        return [each.findtext(".//PMID") for each in root if each.tag.startswith("Pubmed")]
    return re.findall(r"^PMID- *(\d+)", body, re.MULTILINE) or None


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("entry", of("efetch"))
def test_a_recorded_fetch(play, entry, level):
    there = records(entry)
    asked = list(dict.fromkeys([*(there or []), "1"] if "<PubmedArticleSet" in text(entry) else there or ["1"]))
    body = play(entry, "efetch").fetch(*asked, detailLevel=level)
    if not whole_answer(body, fetch_details):
        assert there is None or (level == "medline_text") == ("<PubmedArticleSet" in text(entry))  # the other form
        return
    assert there is not None
    assert sorted(each["pmid"] for each in body["articles"]) == sorted(set(there))
    assert body["notFoundPmids"] == [pmid for pmid in asked if pmid not in there]
    if level in ("full_xml", "medline_text") and there:
        assert body["content"] == text(entry)


# ---- every failure, whatever asked ----


@pytest.mark.parametrize(
    "entry", [each for each in of() + of("esearch", "efetch", "elink", "esummary") if each.id.startswith("errors/")]
)
def test_a_recorded_failure_is_never_an_empty_answer(play, entry):
    for endpoint in ("esearch", "efetch", "elink", "einfo"):
        live = play(entry, endpoint)
        bodies = {
            "esearch": lambda live=live: [(live.search("cancer"), search_pubmed)],
            "efetch": lambda live=live: [(live.fetch("1", detailLevel=each), fetch_details) for each in LEVELS],
            "elink": lambda live=live: [(live.related("25760099", each), relate) for each in LINKS],
            "einfo": lambda live=live: [(read(pubmed_stats, {}, live).body, search_pubmed)],
        }[endpoint]()
        assert not any(whole_answer(body, tool) for body, tool in bodies), endpoint
