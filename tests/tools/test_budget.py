"""Every tool that can answer long has a length beyond which it leaves records out, and says so."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from bio_mcp.call import call, read
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.graph.nodes import EdgeType, Evidence, Node, NodeType
from bio_mcp.literature.documents import TextSection
from bio_mcp.literature.notices import Notice
from bio_mcp.literature.records import AbstractSection, Author, ChangeKind
from bio_mcp.ports.ncbi import DocSummary, MeshPage, MeshRecord, Summaries
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.scholarly import EuropePmcPage, EuropePmcRecord, Metrics, RegisteredWork
from bio_mcp.ports.state import Checkpoint, Hold, NewsEntry
from bio_mcp.ports.stores import ReviewSearch
from bio_mcp.retrieval.project_chunks import ChunkMatch, ProjectChunk, Work
from bio_mcp.screening.collecting import record_of
from bio_mcp.tools import answer_size
from bio_mcp.tools.payloads import chunk_from
from tests.support.memory_corpus import Corpus as Searched
from tests.support.memory_corpus import article
from tests.support.reference_graph import ReferenceGraph
from tests.support.sample_corpus import BOOK, TheseRecords, ThisLookup
from tests.support.sample_graph import HERB, edge

LONG = "A very long sentence about statins. " * 100
CROWD = tuple(Author(f"Author{n}", "Ada", "A") for n in range(5_000))
LONGEST = replace(article("9", "Statins.", '"Much" was said.\n' * 5_000), authors=CROWD)
PAPERS = [replace(article(str(n), f"{n}. {LONG}", LONG), doi=f"10.1/{n}") for n in range(100, 300)]
CHAPTER = replace(BOOK, abstract=tuple(AbstractSection(f"Part {n}", None, LONG) for n in range(50)))

EXPLAINED = {"query": "statins", "top_k": 100, "explain": True, "include_weak": True}
MUCH = {
    "rag.get": [{"doc_id": "pmid:9"}],
    "rag.search": [EXPLAINED, EXPLAINED | {"group_by_doc": False}],
    "searchPubMedArticles": [{"queryTerm": "statins", "maxResults": 1000, "fetchBriefSummaries": 100}],
    "fetchArticleDetails": [
        {"pmids": [each.pmid for each in PAPERS], "detailLevel": level, "includeAffiliations": True}
        for level in ("abstract_plus", "citation_data", "full_xml", "medline_text")
    ],
    "getArticleRelationships": [{"sourcePmid": "100", "maxRelatedResults": 50}],
    "getBookRecord": [{"id": BOOK.pmid}],
    "lookupMeshTerms": [{"term": "statins", "maxResults": 50}],
    "matchCitations": [{"citations": [{"title": "statins"}] * 50}],
    "checkBibliography": [{"items": [{"title": f"{n} {LONG[::-1]}", "PMID": str(n)} for n in range(100, 140)]}],
    "convertArticleIds": [{"ids": [f"10.1/{n}{'x' * 480}" for n in range(200)]}],
    "getFullText": [{"id": "PMC1"}, {"id": "PMC1", "maxCharacters": 50_000}],
    "searchEuropePmc": [{"query": "statins", "maxResults": 100, "includeAbstracts": True}],
    "getCitationMetrics": [{"pmids": [each.pmid for each in PAPERS]}],
    "checkNotices": [{"project": "lab"}],
    "findVersions": [{"ids": [f"10.1000/{n}" for n in range(20)]}],
    "corpus.queries": [{}],
    "whatsNew": [{"query_key": "statins", "since": "2000-01-01", "limit": 200}],
    "list_projects": [{}],
    "hybrid_search": [{"query": "statins", "top_k": 100}],
    "query_kg": [{"start": {"type": "herb", "id": "H1"}}],
    "find_chunks": [{"project": "lab", "query": "statins", "top_k": 20, "include_full_text": True}],
    "query": [{"project": "lab", "text": "statins", "top_k": 20, "include_full_text": True}],
    "query_hybrid": [{"project": "lab", "text": "statins", "top_k": 20, "include_full_text": True}],
    "find_contraindications": [{"herb_ids": ["H1"]}],
    "screenPapers": [{"query_key": "long", "top_k": 100}, {"query_key": "long", "show": "report"}],
    "snowball": [{"pmids": ["100"], "top_k": 200}],
    "locateQuote": [{"project": "lab", "quote": LONG[:990]}],
}
DRUGS = [Node(f"D{n}", NodeType.DRUG, {"en": f"drug {n}"}) for n in range(100)]
MUCH_AGAINST = [(each, edge(EdgeType.INTERACTS_WITH, HERB, each, Evidence("100", LONG))) for each in DRUGS]

CONSTITUENTS = [Node(f"C{n}", NodeType.CONSTITUENT, {"en": LONG[:900]}) for n in range(100)]
MUCH_WITHIN = [(each, edge(EdgeType.HAS_CONSTITUENT, HERB, each)) for each in CONSTITUENTS]


MUCH_NEWS = [NewsEntry(datetime(2020, 1, 1, tzinfo=UTC), ChangeKind.NEW, each.pmid, 1) for each in PAPERS[:40]]

BOUNDED = {
    "eval.run": ["metrics"],  # one for each figure that is asked for, which are fifty at most
    "search": ["results"],  # twenty titles of a limited length
}


class Wordy(TheseRecords):
    """PubMed, if every title were a paragraph."""

    def esummary(self, pmids, **_):
        return Summaries(tuple(DocSummary(pmid, LONG) for pmid in pmids), {})

    def efetch_text(self, pmids, *, style, **_):
        if style == "medline":
            return "".join(f"\nPMID- {pmid}\nTI  - {LONG}\n" for pmid in pmids)
        of = "<PubmedArticle><MedlineCitation><PMID>{}</PMID><Article><ArticleTitle>{}</ArticleTitle></Article>"
        records = "".join(of.format(pmid, LONG) + "</MedlineCitation></PubmedArticle>" for pmid in pmids)
        return f"<PubmedArticleSet>{records}</PubmedArticleSet>"


class WordyDesk(ThisLookup):
    """NCBI's other services, as wordy."""

    def mesh(self, _term, most, **_):
        return MeshPage(most, tuple(MeshRecord(f"D{n}", ("statins", *LONG.split())) for n in range(most)))

    def full_text(self, pmcid, **_):
        sections = tuple(TextSection(f"Part {n}", 1, LONG) for n in range(100))
        return replace(super().full_text(pmcid), sections=sections)


CITED = tuple(each.pmid for each in PAPERS[1:])


class WordyServices:
    """iCite, Europe PMC and Crossref, as wordy."""

    def of(self, ids, **_):
        citing = tuple(str(n) for n in range(100))
        notices = tuple(Notice("correction", label=LONG) for _ in range(5))
        if next(iter(ids)).isdecimal():
            return {each: Metrics(each, references=CITED, cited_by_clinical=citing) for each in ids}
        return {each: RegisteredWork(each, LONG, notices=notices) for each in ids}

    def articles(self, _ids, **_):
        return {}

    def search(self, _query, most, **_):
        return EuropePmcPage(most, tuple(EuropePmcRecord("PPR", f"PPR{n}", LONG, abstract=LONG) for n in range(most)))


class LongCollections:
    """Indexes that find fifty long passages, whatever is asked."""

    def model(self, _collection):
        return "words", 64

    def search(self, _collection, _query):
        chunks = [ProjectChunk(f"c{n}", Work(f"d{n}"), f"{n}. {LONG}") for n in range(50)]
        return [ChunkMatch(each, bm25=1.0, sim=0.5) for each in chunks]

    def document(self, _collection, doc_id):
        return [ProjectChunk(f"c{n}", Work(doc_id), LONG, n) for n in range(50) if f"d{n}" == doc_id]


class Backends(Searched):
    """A corpus, projects, a PubMed, a lookup and services with much to say."""

    notices = None

    def __init__(self):
        super().__init__(*(replace(each, abstract=()) for each in PAPERS[:40]), LONGEST)
        self.checkpoints = SimpleNamespace(all=lambda _key: [Checkpoint(str(n), term=LONG * 2) for n in range(100)])
        self.documents.heads = self.documents.get_many
        self.news = SimpleNamespace(is_whole=lambda _key: True, since=lambda *_of, **_order: MUCH_NEWS)
        self.jobs = SimpleNamespace(latest=lambda *_of: None)
        self.documents.count = lambda: len(PAPERS)
        lab = Project("lab", "proj-lab", "words")
        self.collections = LongCollections()
        self.projects = SimpleNamespace(all=lambda: [lab] * 500, get=lambda _id: lab)
        searches = [ReviewSearch(str(n), self.now(), "PubMed", LONG * 2, 200, ()) for n in range(50)]
        self.screenings.put("query:long", [*searches, *map(record_of, PAPERS)])
        self.graph = ReferenceGraph(HERB, *(each for pair in (*MUCH_AGAINST, *MUCH_WITHIN) for each in pair))
        self.pubmed, self.lookup = Wordy([*PAPERS, CHAPTER]), WordyDesk(PAPERS)
        works = [Work(f"d{n}", LONG[:300], doi=f"10.1000/{n}") for n in range(50)]
        documents = [ProjectDocument(each, frozenset({each.doc_id})) for each in works]
        self.project_documents = SimpleNamespace(
            all=lambda _id: documents,
            find=lambda _id, named: [each for each in documents if each.identifiers & set(named)],
            put=lambda *_: None,
        )
        self.leases = SimpleNamespace(take=lambda name: Hold(name, 1, "nowhere"), release=lambda *_: None)
        self.metrics = self.europe_pmc = self.notices = WordyServices()


@pytest.fixture(scope="module")
def backends():
    return Backends()


def records_of(tool):
    """The lists of objects in the answer of `tool`, which may be long."""
    fields = tool.output_schema["properties"]
    return [name for name, field in fields.items() if field.get("type") == "array" and "$ref" in field["items"]]


SHORT = {"rag_answer"}  # five citations at most, each a sentence of a limited length


@pytest.mark.parametrize("name", [name for name, tool in TOOLS.items() if tool.longest is None and name not in SHORT])
def test_a_tool_without_a_length_answers_no_list_of_records(name):
    assert records_of(TOOLS[name]) == BOUNDED.get(name, []), (
        f"give {name} a `longest`, and more than that to answer in MUCH"
    )


def test_every_length_is_tried():
    assert {name for name, tool in TOOLS.items() if tool.longest} == set(MUCH)
    assert records_of(TOOLS["rag.search"]) == ["results"]


@pytest.mark.parametrize(("name", "arguments"), [(name, each) for name, asked in MUCH.items() for each in asked])
def test_an_answer_is_within_the_length_that_is_stated_and_says_what_it_left_out(backends, name, arguments):
    outcome = call(TOOLS[name], arguments, backends)
    assert not outcome.failed, outcome.body
    assert 10_000 < len(outcome.text) <= TOOLS[name].longest
    assert outcome.body.get("left_out") or outcome.body["status"] == "partial"
    assert outcome.body.get("left_out") or outcome.body["reasons"]


def test_the_first_records_fill_the_room_and_one_is_always_given():
    assert answer_size.fitting([5, 5, 5], 15) == 3
    assert answer_size.fitting([5, 5, 5], 14) == 2
    assert answer_size.fitting([50, 5], 14) == 1
    assert answer_size.fitting([], 14) == 0


RAISED = {  # what is left out within the default length, and is there when more characters are asked for
    "rag.get": ("max_characters", {"doc_id": "pmid:9"}),
    "rag.search": ("max_characters", EXPLAINED),
    "getArticleRelationships": ("maxCharacters", {"sourcePmid": "100", "maxRelatedResults": 50}),
    "getBookRecord": ("maxCharacters", {"id": BOOK.pmid}),
    "hybrid_search": ("max_characters", {"query": "statins", "top_k": 100}),
    "query_hybrid": ("max_characters", MUCH["query_hybrid"][0]),
    "query_kg": ("max_characters", {"start": {"type": "herb", "id": "H1"}, "filters": {"limit": 500}}),
    "find_contraindications": ("max_characters", {"herb_ids": ["H1"]}),
}


@pytest.mark.parametrize("name", RAISED)
def test_more_characters_have_what_was_left_out(backends, name):
    field, arguments = RAISED[name]
    short = call(TOOLS[name], arguments | {field: 20_000}, backends)
    whole = call(TOOLS[name], arguments | {field: 1_500_000}, backends)
    assert len(short.text) <= 20_000
    assert len(whole.text) > 50_000
    assert not whole.body.get("left_out")
    assert whole.body.get("status", "complete") == "complete"


@pytest.mark.parametrize(("name", "listed"), [("list_projects", "projects"), ("corpus.queries", "queries")])
def test_a_list_goes_on_at_the_cursor_until_its_end(backends, name, listed):
    answers, cursor = [], {}
    while not answers or cursor:
        answers.append(call(TOOLS[name], cursor, backends).body)
        cursor = {"cursor": answers[-1]["next_cursor"]} if "next_cursor" in answers[-1] else {}
    seen = [each.get("id") or each["query_key"] for answer in answers for each in answer[listed]]
    assert len(answers) > 1
    assert len(seen) == {"projects": 500, "queries": 100}[listed]
    assert seen == (["lab"] * 500 if listed == "projects" else [str(n) for n in range(100)])
    assert [bool(each.get("left_out")) for each in answers] == [True] * (len(answers) - 1) + [False]


def test_a_cursor_beyond_the_end_finds_nothing_and_one_that_is_none_is_refused(backends):
    assert call(TOOLS["list_projects"], {"cursor": "99999"}, backends).body == {"projects": [], "count": 0}
    for hostile in ("-1", "1e3", "", "9" * 10, "next"):
        assert call(TOOLS["list_projects"], {"cursor": hostile}, backends).body["error"]["code"] == "INVALID_ARG"


@pytest.mark.parametrize(
    "uri", ["resource://pubmed/paper/{pmid}", "paper://pmid/{id}", "kg://herb/{id}"], ids=["paper", "study", "herb"]
)
def test_a_resource_is_within_the_length_of_an_answer_and_says_what_it_left_out(backends, uri):
    resource = RESOURCES[uri]
    asked = "H1" if uri.startswith("kg") else "9"
    outcome = read(resource, {name: asked for name in resource.parameters}, backends)
    assert not outcome.failed, outcome.body
    assert 10_000 < len(outcome.text) <= answer_size.DEFAULT
    assert outcome.body["left_out"]


def test_a_paper_that_is_cut_keeps_the_first_authors_and_most_of_the_abstract(backends):
    body = call(TOOLS["rag.get"], {"doc_id": "pmid:9", "max_characters": 10_000}, backends).body
    assert body["authors"][:3] == ["Author0 A", "Author1 A", "Author2 A"]
    assert len(body["abstract"]) > 7_000
    assert "characters of the abstract" in body["left_out"]
    assert call(TOOLS["fetch"], {"id": "pmid:9"}, backends).body["metadata"]["authors"].endswith("et al.")
    assert len(call(TOOLS["fetch"], {"id": "pmid:9"}, backends).text) <= answer_size.DEFAULT


def test_samples_of_a_project_are_as_many_as_fit(backends):
    wide = {"tags": [f"{'x' * 400}{n}" for n in range(100)]}
    chunks = [chunk_from(f"c{n}", LONG[:500], wide) for n in range(5)]
    backends.collections.sample = lambda _collection, many: chunks[:many]
    backends.collections.count = lambda _collection: 5
    body = call(TOOLS["inspect_collection"], {"project": "lab", "sample": 5}, backends).body
    assert 1 <= len(body["sample"]) == len(body["sample_payloads"]) < 5
    assert body["warnings"] == [f"{5 - len(body['sample'])} passages did not fit in the answer"]
    assert len(json.dumps(body)) <= answer_size.DEFAULT + 45_000


def test_warnings_are_as_many_as_a_reader_reads():
    assert answer_size.some(["a", "b"]) == ["a", "b"]
    assert answer_size.some([]) == []
    many = answer_size.some([f"paper {n} was not delivered" for n in range(5_000)])
    assert len("".join(many)) < answer_size.WARNINGS + 100
    assert many[-1].endswith("more of these are left out.")
    cut, more = answer_size.some(["x" * 50_000, "y"], 1_000)
    assert (len(cut), more) == (1_000, "1 more of these are left out.")
