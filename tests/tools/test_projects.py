"""The tools that read projects, called as every door calls them."""

from dataclasses import replace

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.errors import IndexUnavailable, StoreFailed
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.tools.projects import MOST_DOCUMENTS
from tests.support.corpus import Corpus, ModelsHere, Over
from tests.support.memory_corpus import article
from tests.support.sample_project import NEWBORNS, TEXTS, add_project, put

SEARCHES = {"find_chunks": "query", "query": "text", "query_hybrid": "text"}
QUESTION = "perfusion index of newborns"


@pytest.fixture(scope="module")
def backends(tmp_path_factory):
    """A corpus with the sample's project `lab`, which no test changes."""
    with Corpus(tmp_path_factory.mktemp("projects")) as corpus:
        add_project(corpus, "lab")
        yield corpus


@pytest.fixture
def lab(tmp_path):
    """A corpus with that project, for a test of its own."""
    with Corpus(tmp_path) as corpus:
        add_project(corpus, "lab")
        yield corpus


def ask(tool, backends, question=QUESTION, project="lab", **more):
    return call(TOOLS[tool], {"project": project, SEARCHES[tool]: question, **more}, backends).body


def ids(body):
    return [each["chunk_id"] for each in body["items"]]


def add(backends, *chunks, project="lab"):
    put(backends, backends.projects.get(project).collection, list(chunks))


def limit(backends, **changes):
    backends.projects.put(replace(backends.projects.get("lab"), **changes))


@pytest.mark.parametrize("tool", SEARCHES)
def test_a_passage_comes_with_all_that_cites_it(backends, tool):
    body = ask(tool, backends)
    assert body["count"] == len(body["items"]) == 3
    best = body["items"][0]
    assert best["render_text"] in TEXTS.values()
    assert {name: best[name] for name in ("citekey", "doi", "title", "year", "pmid", "doc_id", "kind")} == {
        "citekey": "granelli2007",
        "doi": "10.1111/j.1651-2227.2007.00439.x",
        "title": NEWBORNS.title,
        "year": 2007,
        "pmid": "17727691",
        "doc_id": "pmid:17727691",
        "kind": "body",
    }
    assert best["section_path"] == ["Article", best["section"]]
    assert best["page_span"] == ([1, 2] if best["section"] == "Methods" else [2, 3])
    assert best["url"] == "https://doi.org/10.1111/j.1651-2227.2007.00439.x"
    assert best["full_text"] is None
    assert "truncated" not in best
    assert "project" not in best


def test_what_is_first_by_words_and_meaning_has_a_score_of_one(backends):
    body = ask("query_hybrid", backends, TEXTS["Results"])
    assert body["items"][0]["score"] == 1
    assert body["items"][0]["bm25"] > 0
    assert body["fusion"] == "RRF"
    assert body["hybrid_enabled"] is True
    assert all(0 < each["score"] <= 1 for each in body["items"])


@pytest.mark.parametrize("tool", SEARCHES)
def test_scores_are_the_same_beside_other_projects(lab, tool):
    before = ask(tool, lab)
    for n in range(3):
        add_project(lab, f"other/{n}")
        add(lab, ProjectChunk("x", Work("x"), f"{QUESTION} {n}"), project=f"other/{n}")
    assert ask(tool, lab) == before


@pytest.mark.parametrize("name", ["text", "query"])
def test_the_hybrid_search_takes_either_documents_name_for_the_question(backends, name):
    assert call(TOOLS["query_hybrid"], {"project": "lab", name: QUESTION}, backends).body["count"] == 3


@pytest.mark.parametrize("given", [{}, {"text": "x", "query": "x"}])
def test_the_hybrid_search_takes_exactly_one_question(backends, given):
    error = call(TOOLS["query_hybrid"], {"project": "lab", **given}, backends).body["error"]
    assert error["code"] == "INVALID_ARG"
    assert "exactly one" in error["message"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, {"granelli2007-0", "granelli2007-1", "xu2016-0"}),
        ({"tags": ["newborn", "screening"]}, {"granelli2007-0", "granelli2007-1"}),
        ({"tags": ["newborn", "cancer"]}, set()),
        ({"tags": []}, {"granelli2007-0", "granelli2007-1", "xu2016-0"}),
        ({"section_prefix": "Article > Results"}, {"granelli2007-1"}),
        ({"section_prefix": "article"}, {"granelli2007-0", "granelli2007-1"}),
        ({"year": 2016}, {"xu2016-0"}),
        ({"year_from": 2008}, {"xu2016-0"}),
        ({"year_to": 2008}, {"granelli2007-0", "granelli2007-1"}),
        ({"year_from": 2007, "year_to": 2007}, {"granelli2007-0", "granelli2007-1"}),
        ({"citekey": "xu2016"}, {"xu2016-0"}),
        ({"authors": ["Ostman-Smith", "nobody"]}, {"granelli2007-0", "granelli2007-1"}),
        ({"doc_id": "doi:10.3892/ol.2016.4904"}, {"xu2016-0"}),
        ({"project": "other", "project_id": "other"}, {"granelli2007-0", "granelli2007-1", "xu2016-0"}),
        ({"project": {"$ne": "lab"}, "citekey": "xu2016"}, {"xu2016-0"}),
    ],
)
@pytest.mark.parametrize("tool", SEARCHES)
def test_filters_are_joined_by_and_and_a_clients_own_project_is_ignored(backends, tool, filters, found):
    body = ask(tool, backends, filters=filters)
    assert set(ids(body)) == found
    assert [each for each in body["warnings"] if "passes the filters" in each] == (
        [] if found else ["No passage of project 'lab' passes the filters."]
    )


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        ({"journal": "x"}, "tags, section_prefix, year, year_from, year_to, citekey, authors, doc_id"),
        ({"tags": True}, "filters.tags"),
        ({"year": "around 2007"}, "filters.year"),
        ({"year": 2007, "year_to": 2008}, "one year, or a first and a last"),
        ({"year_from": 2009, "year_to": 2008}, "2009 is after the last year, 2008"),
        ({"tags": ["x"] * 501}, "filters"),
        ({"citekey": "x" * 501}, "filters.citekey"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused_with_those_that_can(backends, filters, says):
    error = ask("query", backends, filters=filters)["error"]
    assert error["code"] == "INVALID_ARG"
    assert says in error["message"]


STATED = "A total of 334 newborns were randomized. Mortality fell (HR 0.72, 95% CI 0.58-0.90)."


def test_a_passage_says_what_its_document_states_of_the_study(lab):
    """By the abstract of the corpus, else by the document's own, whatever passage was found."""
    own, known = Work("doc:1", title="A trial"), Work("pmid:77", title="Another", pmid="77")
    abstract = ("A trial", "Abstract")
    add(
        lab,
        ProjectChunk("one-0", own, STATED[:41], 0, section="Abstract", section_path=abstract, char_end=41),
        ProjectChunk("one-1", own, STATED[28:], 1, section_path=abstract, char_start=28, char_end=len(STATED)),
        ProjectChunk("one-2", own, "The perfusion index of newborns was high.", 2, section="Results"),
        ProjectChunk("two-0", known, "The perfusion index of newborns was low.", 0),
    )
    lab.documents.put([Document(article("77", "Another", f"{STATED} They were well."), "hash")])
    stated = {each["chunk_id"]: each.get("study") for each in ask("query_hybrid", lab)["items"]}
    assert stated["one-2"] == "n = 334; HR 0.72, 95 % CI 0.58 to 0.90"
    assert stated["two-0"] == "n = 334; HR 0.72, 95 % CI 0.58 to 0.90"
    assert stated["granelli2007-0"] is None


@pytest.mark.parametrize("tool", SEARCHES)
def test_more_hits_than_a_project_gives_are_an_error_and_no_clip(lab, tool):
    limit(lab, top_k=2)
    error = ask(tool, lab, top_k=3)["error"]
    assert error["code"] == "INVALID_ARG"
    assert "3 is more than project 'lab' returns, which is 2" in error["message"]
    assert ask(tool, lab, top_k=2)["count"] == 2
    assert ask(tool, lab)["count"] == 2  # the contract's default is no wish


@pytest.mark.parametrize("tool", SEARCHES)
def test_an_unknown_project_is_named_with_those_there_are(backends, tool):
    error = ask(tool, backends, project="unknown")["error"]
    assert error["code"] == "INVALID_PROJECT"
    assert error["message"] == (
        "Project 'unknown' not found. Available projects: lab. ingest_from_source with create: true makes one."
    )
    assert error["details"]["available_projects"] == ["lab"]


def listed(backends, **arguments):
    return call(TOOLS["list_projects"], arguments, backends).body


def test_an_installation_without_a_project_says_how_one_is_made(tmp_path):
    with Corpus(tmp_path) as corpus:
        assert listed(corpus) == {
            "projects": [],
            "count": 0,
            "warnings": ["There is no project yet: ingest_from_source with create: true makes one."],
        }


def test_the_documents_of_a_project_are_listed_with_their_passages(lab):
    assert listed(lab, project="lab")["warnings"] == [
        "It has no document that was read: ingest_from_source brings some in."
    ]
    for number in range(3):
        work = replace(NEWBORNS, doc_id=f"doc-{number}")
        lab.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id}), chunks=number))
    body = listed(lab, project="lab")
    assert [each["id"] for each in body["projects"]] == ["lab"]
    assert (body["count"], [each["passages"] for each in body["documents"]]) == (3, [0, 1, 2])
    assert body["documents"][0] == {
        "doc_id": "doc-0",
        "citekey": "granelli2007",
        "title": NEWBORNS.title,
        "source": "granelli2007.pdf",
        "passages": 0,
        "pmid": NEWBORNS.pmid,
        "retraction": "unknown",
    }
    assert [each["doc_id"] for each in listed(lab, project="lab", cursor="2")["documents"]] == ["doc-2"]
    assert "documents" not in listed(lab)


def test_a_long_list_of_documents_goes_on_where_the_answer_ends(lab):
    for number in range(MOST_DOCUMENTS + 1):
        work = replace(NEWBORNS, doc_id=f"doc-{number:03}", title="long " * 80)
        lab.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id}), chunks=1))
    found, cursor = [], "0"
    while cursor:
        body = listed(lab, project="lab", cursor=cursor)
        found += [each["doc_id"] for each in body["documents"]]
        assert (body["count"], len(found) + body.get("left_out", 0)) == (len(body["documents"]), MOST_DOCUMENTS + 1)
        cursor = body.get("next_cursor")
    assert found == [f"doc-{number:03}" for number in range(MOST_DOCUMENTS + 1)]


def test_the_documents_of_no_project_are_asked_for_in_vain(lab):
    assert listed(lab, project="no")["error"]["code"] == "INVALID_PROJECT"


def test_a_project_without_words_is_searched_by_meaning_alone(lab):
    limit(lab, hybrid_enabled=False)
    error = ask("query_hybrid", lab)["error"]
    assert error["code"] == "HYBRID_NOT_SUPPORTED"
    assert "use query" in error["message"]
    assert ask("query", lab)["count"] == 3


class AnotherModel:
    """The configured model, by another name."""

    fingerprint, dim, max_tokens = "another-model", 384, 256

    def embed(self, _texts):
        raise AssertionError("nothing is embedded by a model that the index does not have")


@pytest.mark.parametrize("tool", SEARCHES)
def test_another_model_than_the_projects_is_named_with_what_to_do(backends, tool):
    model = AnotherModel()
    error = ask(tool, Over(backends, embeddings=model, models=ModelsHere(lambda: model, [])))["error"]
    assert error["code"] == "EMBEDDING_MISMATCH"
    for word in ("hashed-words", "another-model", "force_rebuild"):
        assert word in error["message"]


@pytest.mark.parametrize("tool", SEARCHES)
def test_a_project_without_passages_is_an_empty_answer_that_says_so(lab, tool):
    lab.collections.create("proj-new", "hashed-words", lab.embeddings.dim)
    lab.projects.put(Project("new", "proj-new", "hashed-words"))
    body = ask(tool, lab, project="new")
    assert (body["items"], body["count"]) == ([], 0)
    assert "holds no passages yet" in body["warnings"][0]


@pytest.mark.parametrize("tool", SEARCHES)
def test_a_project_that_lost_its_index_is_an_error_and_not_an_empty_answer(lab, tool):
    lab.projects.put(Project("lost", "proj-lost", "hashed-words"))
    error = ask(tool, lab, project="lost")["error"]
    assert error["code"] == "INDEX_UNAVAILABLE"
    assert "ingest_from_source with create: true makes it anew" in error["message"]


class Down:
    """A port that cannot be reached."""

    def __init__(self, failure):
        self._failure = failure

    def __getattr__(self, _name):
        def fail(*_given, **_more):
            raise self._failure

        return fail


@pytest.mark.parametrize("tool", SEARCHES)
@pytest.mark.parametrize(
    ("port", "failure"),
    [
        ("collections", IndexUnavailable("the index is down")),
        ("projects", StoreFailed("the table is down")),
        ("documents", StoreFailed("the table is down")),
    ],
)
def test_an_outage_is_an_error_and_never_an_empty_answer(backends, tool, port, failure):
    error = ask(tool, Over(backends, **{port: Down(failure)}))["error"]
    assert error["code"] == "INDEX_UNAVAILABLE"
    assert error["details"]["retryable"] is True


def long_passage():
    return ProjectChunk("long", Work("long"), " ".join([QUESTION, *(f"word{n}" for n in range(500))]))


@pytest.mark.parametrize("tool", SEARCHES)
def test_a_long_passage_is_cut_at_a_word_and_its_full_text_comes_on_request_alone(lab, tool):
    add(lab, long_passage())
    limit(lab, max_characters=300)
    [hit] = ask(tool, lab, filters={"doc_id": "long"})["items"]
    assert (hit["truncated"], hit["full_text"]) == (True, None)
    assert len(hit["render_text"]) <= 300
    assert long_passage().text.startswith(hit["render_text"].removesuffix("…") + " ")
    [hit] = ask(tool, lab, filters={"doc_id": "long"}, include_full_text=True)["items"]
    assert hit["full_text"] == long_passage().text


def test_neighbours_never_repeat_each_other(lab):
    sentences = [f"Sentence {n} on the perfusion index of newborns is here." for n in range(12)]
    texts = [" ".join(sentences[at : at + 4]) for at in range(0, 9, 3)]
    add(lab, *(ProjectChunk(f"n{at}", Work("n"), text, at) for at, text in enumerate(texts)))
    body = ask("query_hybrid", lab, filters={"doc_id": "n"}, top_k=10)
    shown = " ".join(each["render_text"] for each in body["items"])
    assert body["count"] == 3
    assert [shown.count(each) for each in sentences[:10]] == [1] * 10


def test_full_texts_never_repeat_each_other(lab):
    whole = "All of the chapter, which a client sends with each of its passages."
    texts = ["The perfusion index of newborns is low.", "Its sensitivity in newborns is high."]
    chunks = [
        ProjectChunk(f"n{at}", Work("n"), text, at, metadata={"fulltext": whole}) for at, text in enumerate(texts)
    ]
    add(lab, *chunks)
    body = ask("query", lab, filters={"doc_id": "n"}, include_full_text=True)
    assert [each["full_text"] for each in body["items"]] == [whole, None]


def test_several_projects_are_merged_by_score_and_each_hit_names_its_own(lab):
    add_project(lab, "lab/two")
    exact = ProjectChunk("exact", Work("exact"), QUESTION)
    add(lab, exact, project="lab/two")
    body = ask("query", lab, projects=["lab/two", "lab"])
    assert body["items"][0]["chunk_id"] == "exact"
    assert {each["project"] for each in body["items"]} == {"lab", "lab/two"}
    assert [each["score"] for each in body["items"]] == sorted((each["score"] for each in body["items"]), reverse=True)
    assert body["count"] == 4  # the same passages of both projects are shown once


def test_each_of_several_projects_must_exist_and_allow_what_is_asked(lab):
    assert ask("query", lab, projects=["unknown"])["error"]["code"] == "INVALID_PROJECT"
    add_project(lab, "small", top_k=2)
    assert "project 'small' returns, which is 2" in ask("query", lab, projects=["small"], top_k=3)["error"]["message"]
    add_project(lab, "wordless", hybrid_enabled=False)
    assert ask("query_hybrid", lab, projects=["wordless"])["error"]["code"] == "HYBRID_NOT_SUPPORTED"
    assert ask("query", lab, projects=["lab"] * 10)["error"]["code"] == "INVALID_ARG"


@pytest.mark.parametrize("tool", SEARCHES)
def test_a_retraction_in_the_corpus_reaches_the_hits_of_a_project_at_once_by_pmid_or_doi(lab, tool):
    assert not any("retraction" in each for each in ask(tool, lab)["items"])
    newborns = article("17727691", retraction=RetractionStatus.CONCERN)
    lab.documents.put([Document(newborns, "h", version=1)])
    flagged = ask(tool, lab, filters={"citekey": "granelli2007"})
    assert {each["retraction"] for each in flagged["items"]} == {"concern"}
    [warning] = flagged["warnings"]
    assert warning == "granelli2007 (PMID 17727691) has an expression of concern: say so where you cite it."
    clear = article("27602157", doi="10.3892/ol.2016.4904", retraction=RetractionStatus.CLEAR)
    lab.documents.put([Document(clear, "h", version=1)])
    before = ask(tool, lab, filters={"citekey": "xu2016"})
    assert before["items"][0]["retraction"] == "clear"
    assert before["warnings"] == []
    lab.documents.put([Document(replace(clear, retraction=RetractionStatus.RETRACTED), "h2", version=2)])
    after = ask(tool, lab, filters={"citekey": "xu2016"})
    assert after["items"][0]["pmid"] == "27602157"
    assert after["items"][0]["retraction"] == "retracted"
    assert after["warnings"] == ["xu2016 (PMID 27602157) was retracted: say so where you cite it."]


def test_what_a_client_sent_comes_back_as_it_was_sent(lab):
    metadata = {"citekey": "doe2020", "rating": {"stars": 5}, "fulltext": "The whole of it."}
    add(lab, ProjectChunk("mine", Work("mine", citekey="doe2020"), "A part of it.", metadata=metadata))
    [hit] = ask("query", lab, filters={"doc_id": "mine"}, include_full_text=True)["items"]
    assert hit["metadata"] == {"rating": {"stars": 5}}
    assert hit["full_text"] == "The whole of it."


def test_projects_are_listed_with_their_models(lab):
    body = call(TOOLS["list_projects"], {}, lab).body
    [listed] = body["projects"]
    assert (listed["id"], listed["collection"], body["count"]) == ("lab", "proj-lab", 1)
    assert (listed["embed_model"], listed["sparse_model"]) == ("hashed-words", "bio-mcp/bm25-1")
    assert (listed["dense_model"], listed["hybrid_enabled"], listed["top_k"]) == ("hashed-words", True, 20)
    limit(lab, hybrid_enabled=False)
    assert call(TOOLS["list_projects"], {}, lab).body["projects"][0]["sparse_model"] is None


def test_an_index_is_inspected_without_text_unless_a_sample_is_asked_for(backends):
    body = call(TOOLS["inspect_collection"], {"project": "lab"}, backends).body
    assert (body["size"], body["collection"], body["embed_model"]) == (3, "proj-lab", "hashed-words")
    assert body["named_vectors"] == ["dense", "sparse"]
    assert (body["sample"], body["sample_payloads"], body["warnings"]) == ([], [], [])
    assert not any(text in str(body) for text in TEXTS.values())
    limited = call(TOOLS["inspect_collection"], {"project": "lab", "sample": 1}, backends).body
    [sample] = limited["sample"]
    assert (sample["id"], sample["source"]) == ("granelli2007-0", {"path": "granelli2007.pdf", "title": NEWBORNS.title})
    assert sample["zotero"] == {"citekey": "granelli2007", "tags": ["newborn", "screening"]}
    assert sample["doc"] == {"page_span": [1, 2], "section": "Methods", "section_path": ["Article", "Methods"]}
    assert set(limited["sample_payloads"][0]) == set(body["payload_keys"])
    assert limited["sample_payloads"][0]["chunk_text"] == TEXTS["Methods"]
    assert "embedding" not in str(limited)


def test_a_sample_is_at_most_five_passages_cut_as_hits_are(lab):
    add(lab, *(replace(long_passage(), chunk_id=f"a{n}") for n in range(6)))
    limit(lab, max_characters=200)
    body = call(TOOLS["inspect_collection"], {"project": "lab", "sample": 5}, lab).body
    assert [len(each["chunk_text"]) <= 200 for each in body["sample_payloads"]] == [True] * 5


def test_an_index_that_is_missing_is_inspected_as_empty_and_one_that_is_down_is_an_error(lab):
    lab.projects.put(Project("lost", "proj-lost", "hashed-words", hybrid_enabled=False))
    body = call(TOOLS["inspect_collection"], {"project": "lost", "sample": 2}, lab).body
    assert (body["size"], body["sample"], body["named_vectors"]) == (0, [], ["dense"])
    assert "has no index" in body["warnings"][0]
    down = Over(lab, collections=Down(IndexUnavailable("the index is down")))
    assert call(TOOLS["inspect_collection"], {"project": "lab"}, down).body["error"]["code"] == "INDEX_UNAVAILABLE"
    assert call(TOOLS["inspect_collection"], {"project": "none"}, lab).body["error"]["code"] == "INVALID_PROJECT"


FORMAL = [
    ("Title page", "Perfusion index of newborns. Anne Granelli, Ingegerd Ostman-Smith. University of Newborns."),
    ("Competing interests", "The authors of perfusion index of newborns declare no competing interests."),
    ("References", "1. Doe J. The perfusion index of newborns. J Newborns. 2001."),
]


def formal(sections=FORMAL, copies=1):
    work = Work("doi:10.1000/own", title="Perfusion index of newborns")
    return [
        ProjectChunk(f"own-{at}-{copy}", work, text, position=at, section=heading, section_path=(heading,))
        for copy in range(copies)
        for at, (heading, text) in enumerate(sections)
    ]


@pytest.mark.parametrize("tool", SEARCHES)
def test_what_is_no_evidence_is_found_where_its_section_is_asked_for_alone(lab, tool):
    before = ids(ask(tool, lab))
    add(lab, *formal())
    assert ids(ask(tool, lab)) == before
    for at, (section, _) in enumerate(FORMAL):
        assert ids(ask(tool, lab, filters={"section_prefix": section})) == [f"own-{at}-0"]


def test_many_references_hide_no_text(lab):
    add(lab, *formal(copies=100))
    assert ids(ask("query_hybrid", lab, top_k=3))[:3] == ids(ask("query_hybrid", lab))[:3]
    assert {each.partition("-")[0] for each in ids(ask("query_hybrid", lab))} == {"granelli2007", "xu2016"}
