"""No paper leaves the system without its standing: every tool and resource that names one is walked through."""

import json
import types
import typing
from datetime import date

import pytest
from pydantic import BaseModel

from bio_mcp.call import call, read
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.deadline import NEVER
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.literature.documents import FullText, Licence, TextSection
from bio_mcp.literature.notices import Notice
from bio_mcp.ports.ncbi import CitationMatch
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.scholarly import EuropePmcPage, EuropePmcRecord, Metrics, RegisteredWork, Version
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.syncing.delta import sync_delta
from bio_mcp.tools.answer import GivenAnswer
from bio_mcp.tools.lookup import ConvertedId
from tests.support.corpus import Corpus
from tests.support.retracting import plain_papers, retract, term
from tests.support.sample_project import put
from tests.tools.test_pubmed_fetch import BOOK

PAPER = {"pmid", "doc_id", "sourcePmid"}
STANDING = {"retraction", "sourceRetraction"}
ONLY_IDS = {ConvertedId}  # ids of an article, and nothing of the article itself
OF_EACH = {GivenAnswer}  # each of whose citations has one
CHAPTER = "20301577"
RETRACTED = '<PublicationType UI="D016441">Retracted Publication</PublicationType>'
WITHDRAWN_BOOK = BOOK.replace(">88<", f">{CHAPTER}<").replace("<Abstract>", f"{RETRACTED}<Abstract>")
QUOTE = "What all of them say."


def models(kind):
    """The models that a type is made of, itself included."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        for field in kind.model_fields.values():
            yield from models(field.annotation)
    elif isinstance(kind, types.GenericAlias | types.UnionType) or typing.get_origin(kind):
        for part in typing.get_args(kind):
            yield from models(part)


OUTPUTS = {each.name: each.output for each in (*TOOLS.values(), *RESOURCES.values())}
NAMING = {
    name for name, output in OUTPUTS.items() if any(PAPER & model.model_fields.keys() for model in models(output))
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_whatever_names_a_paper_has_a_place_for_its_standing(name):
    for model in set(models(OUTPUTS[name])) - ONLY_IDS - OF_EACH:
        if (PAPER | {"citation", "citations"}) & model.model_fields.keys():
            assert STANDING & model.model_fields.keys(), model


class NcbiLookup:
    """Matches every citation with one paper, and has the full text of it."""

    def __init__(self, pmid):
        self.pmid = pmid

    def ecitmatch(self, citations, **_):
        return [CitationMatch(each, self.pmid) for each in citations]

    def convert(self, _ids, _kind, **_):
        return {}

    def full_text(self, pmcid, **_):
        section = TextSection("Methods", 1, "We did.")
        return FullText(pmcid, self.pmid, None, "A title", "J", Licence("", "", ""), (section,), False)


class Services:
    """iCite, Europe PMC and Crossref, which know these papers, and no more of their standing than NCBI says."""

    def __init__(self, pmids):
        link = Version("MED", pmids[0])
        self.records = {pmid: EuropePmcRecord("MED", pmid, "A title", pmid=pmid, articles=(link,)) for pmid in pmids}

    def of(self, ids, **_):
        retraction = (Notice("retraction"),)
        papers = tuple(self.records)
        return {
            each: RegisteredWork(each, notices=retraction) if "/" in each else Metrics(each, references=papers)
            for each in ids
        }

    def articles(self, ids, **_):
        return {each: self.records[each] for each in ids}

    def search(self, *_, **__):
        return EuropePmcPage(len(self.records), tuple(self.records.values()))


@pytest.fixture
def corpus(tmp_path, ncbi):
    """Twelve papers, one of them retracted by now, and a chapter of a book that was."""
    ncbi.control.set_today("2026/01/01")
    pmids = plain_papers(ncbi, 12)
    ncbi.control.put(WITHDRAWN_BOOK)
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as made:
        for _ in range(2):
            sync_delta("k", term(pmids), 5, made, NEVER, lambda *_: None)
            retract(ncbi, pmids[0])
        made.pmid, made.others = pmids[0], pmids[1:]
        made.lookup = NcbiLookup(pmids[0])
        made.metrics = made.europe_pmc = made.notices = Services(pmids)
        project = create_project("lab", Options(), made).project
        put(made, project.collection, [ProjectChunk(pmid, Work(f"pmid:{pmid}", pmid=pmid), QUOTE) for pmid in pmids])
        work = Work(f"pmid:{pmids[0]}", doi="10.1000/a")  # of which the project knows no PMID
        made.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id})))
        known = Work("z", title="Of the corpus.", pmid=pmids[0])
        made.project_documents.put("lab", ProjectDocument(known, frozenset({known.doc_id})))
        made.graph.put(*herb_with(pmids))
        yield made


def herb_with(pmids):
    """A herb and a drug that it must not come together with, as the papers say."""
    herb, drug = (Node(id_, kind, {"en": id_}) for id_, kind in (("H1", NodeType.HERB), ("D1", NodeType.DRUG)))
    evidence = tuple(Evidence(pmid) for pmid in pmids)
    return [herb, drug], [Edge(EdgeType.CONTRAINDICATED_WITH, "H1", "D1", ("a list",), evidence)]


def asked(corpus):
    """(tool or resource, arguments) for each that names papers, in every form."""
    pmid, title = corpus.pmid, corpus.documents.get(corpus.pmid).article.title
    doc = f"pmid:{pmid}"
    forms = ("abstract_plus", "full_xml", "medline_text", "citation_data")
    relations = ("pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats")
    known = {"journal": "J", "year": "2020", "volume": "1", "firstPage": "1"}
    return [
        ("rag.search", {"query": title}),
        ("rag.search", {"query": title, "group_by_doc": False}),
        ("rag.get", {"doc_id": doc}),
        ("paper", {"pmid": pmid}),
        ("study", {"id": pmid}),
        ("searchPubMedArticles", {"queryTerm": f"{pmid}[uid]", "fetchBriefSummaries": 5}),
        *[("fetchArticleDetails", {"pmids": [pmid, *corpus.others], "detailLevel": form}) for form in forms],
        *[("getArticleRelationships", {"sourcePmid": pmid, "relationshipType": each}) for each in relations],
        ("matchCitations", {"citations": [known]}),
        ("getFullText", {"id": "PMC7"}),
        ("getBookRecord", {"id": CHAPTER}),
        ("searchEuropePmc", {"query": "anything"}),
        ("getCitationMetrics", {"pmids": [pmid, *corpus.others]}),
        ("findVersions", {"ids": [pmid]}),
        ("checkNotices", {"project": "lab"}),
        ("list_projects", {"project": "lab"}),
        ("checkBibliography", {"text": f"{title} PMID: {pmid}"}),
        ("whatsNew", {"query_key": "k", "since": "2000-01-01"}),
        ("snowball", {"pmids": [corpus.others[0]]}),
        ("find_chunks", {"project": "lab", "query": QUOTE, "top_k": 20}),
        ("query", {"project": "lab", "text": QUOTE, "top_k": 20}),
        ("locateQuote", {"project": "lab", "quote": QUOTE}),
        ("locateQuote", {"quote": title}),
        ("query_hybrid", {"project": "lab", "text": QUOTE, "top_k": 20}),
        ("hybrid_search", {"query": title}),
        ("find_contraindications", {"herb_ids": ["H1"]}),
    ]


def answered(corpus, name, arguments):
    if name in TOOLS:
        return call(TOOLS[name], arguments, corpus).body
    [resource] = [each for each in RESOURCES.values() if each.name == name]
    return read(resource, arguments, corpus).body


def papers(body):
    """Each object that names a paper."""
    if isinstance(body, dict):
        if PAPER & body.keys():
            yield body
        body = list(body.values())
    if isinstance(body, list):
        for part in body:
            yield from papers(part)


def test_the_standing_of_every_paper_that_leaves_is_reported_and_true(corpus):
    for name, arguments in asked(corpus):
        body = answered(corpus, name, arguments)
        assert "error" not in body, (name, body)
        found = list(papers(body))
        assert found, name
        standings = {
            str(each.get("pmid") or each.get("doc_id") or each["sourcePmid"]).removeprefix("pmid:"): each.get(
                "retraction", each.get("sourceRetraction")
            )
            for each in found
        }
        unknown = [
            each.get("title") for each in found if "unknown" in (each.get("retraction"), each.get("sourceRetraction"))
        ]
        assert set(unknown) <= {None}, (name, unknown)  # of what PubMed does not tell us, it does not tell this
        assert None not in standings.values(), (name, standings)
        assert any(standings.get(pmid) == "retracted" for pmid in (corpus.pmid, CHAPTER)), (name, standings)
        wrong = [pmid for pmid in corpus.others if standings.get(pmid) == "retracted"]
        assert not wrong, (name, arguments, wrong)


def test_every_tool_and_resource_that_names_papers_was_walked(corpus):
    apart = {name for name, output in OUTPUTS.items() if ONLY_IDS & set(models(output))}
    assert {name for name, _ in asked(corpus)} == NAMING - apart


def test_a_citation_of_a_retracted_paper_says_so_in_every_style(corpus):
    styles = {"citationStyles": ["ris", "bibtex", "apa_string", "mla_string"], "moreStyles": ["vancouver", "csl_json"]}
    given = {"sourcePmid": corpus.pmid, "relationshipType": "citation_formats", **styles}
    citations = answered(corpus, "getArticleRelationships", given)["citations"]
    assert len(citations) == 6
    for style, citation in citations.items():
        assert "retract" in citation.lower(), style
    matched = answered(corpus, "matchCitations", {"citations": [{"title": "Anything", "year": "2020"}]})
    assert "retract" in json.dumps(matched["matches"][0]["citation"]).lower()


def test_full_text_whose_standing_cannot_be_read_says_that_it_is_lacking(corpus, ncbi):
    ncbi.control.fault(endpoint="esummary", status=500, times=50)
    body = answered(corpus, "getFullText", {"id": "PMC7"})
    assert (body["retraction"], body["status"]) == ("unknown", "partial")
    assert "whether the article was retracted could not be read" in body["reasons"][0]
