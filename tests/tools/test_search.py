"""rag.search, called as every door calls it."""

import pytest

from bio_mcp.call import call
from bio_mcp.errors import EmbeddingFailed, IndexUnavailable
from bio_mcp.literature.records import AbstractSection, Author, Document, Journal, RetractionStatus
from bio_mcp.retrieval.passages import chunk_uuid
from bio_mcp.tools.search import rag_search
from tests.support.memory_corpus import Corpus, WordVectors, article
from tests.support.reference_indexes import ReferencePassages
from tests.support.validation import validate

STATIN = article(
    "11", "Statins and survival.",
    "We randomized 334 patients. Statins lowered mortality. Placebo did not. Nausea was rare. Cost was low.",
    types=[("D016449", "Randomized Controlled Trial")], mesh=[("D006801", "Humans")],
    journal=Journal(title="The Lancet", medline_abbreviation="Lancet", iso_abbreviation="Lancet (London)",
                    nlm_id="2985213R", issn="0140-6736"),
    authors=(Author("Smith", "Ann", "A"),), doi="10.1000/statin", pmcid="PMC11",
)  # fmt: skip
OLD = article(
    "12", "Statins in mice.", "Statins lowered cholesterol of mice.", 1998, mesh=[("D000818", "Animals")],
    languages=("ger",), authors=(Author("Smith", "Bo", "B"),),
)  # fmt: skip
ASPIRIN = article("13", "Aspirin for headache.", "Aspirin eased pain within one hour.", 2021)
TITLE_ONLY = article("14", "Interleukin-6 blockade.", "", 2023)
RETRACTED = article(
    "15", "Statins cure all.", "Statins lowered mortality.", 2023, retraction=RetractionStatus.RETRACTED
)
PAPERS = (STATIN, OLD, ASPIRIN, TITLE_ONLY, RETRACTED)


@pytest.fixture
def corpus():
    return Corpus(*PAPERS)


def brief(corpus, query, **more):
    return call(rag_search, {"query": query, **more}, corpus)


def search(corpus, query, **more):
    """Everything that was found, and why."""
    return brief(corpus, query, **{"include_weak": True, "explain": True, **more})


def found(corpus, query, **more):
    outcome = search(corpus, query, **more)
    assert not outcome.failed, outcome.body
    return [hit["doc_id"] for hit in outcome.body["results"]]


def refusal(corpus, query, **more):
    error = search(corpus, query, **more).body["error"]
    return error["code"], error["message"]


def test_the_right_paper_comes_first(corpus):
    assert found(corpus, "aspirin against headache")[0] == "pmid:13"
    assert found(corpus, "IL-6 blockade", synonyms=False)[0] == "pmid:14"


def test_the_answer_fits_its_own_published_schema(corpus):
    for arguments in ({"query": "statins"}, {"query": "statins", "group_by_doc": False}, {"query": "quark"}):
        validate(call(rag_search, arguments, corpus).body, rag_search.output_schema)


def test_a_hit_says_in_a_line_what_its_abstract_states_of_the_study():
    text = "A total of 334 patients were randomized. Mortality fell (HR 0.72, 95% CI 0.58-0.90)."
    corpus = Corpus(article("21", "Niacin.", text, types=[("D016449", "Randomized Controlled Trial")]), ASPIRIN)
    hits = {hit["doc_id"]: hit for hit in search(corpus, "niacin mortality aspirin").body["results"]}
    assert hits["pmid:21"]["study"] == "RCT, n = 334; HR 0.72, 95 % CI 0.58 to 0.90"
    assert "study" not in hits["pmid:13"]


def test_a_hit_carries_what_an_agent_needs_to_cite_it(corpus):
    hit = search(corpus, "statins survival mortality", top_k=1).body["results"][0]
    assert hit["doc_id"] == "pmid:11"
    assert hit["uuid"] == chunk_uuid("11", hit["chunk_id"])
    assert hit["title"] == "Statins and survival."
    assert "Statins lowered mortality." in hit["snippet"]
    assert (hit["authors"], hit["journal"], hit["year"]) == ("Smith A", "Lancet (London)", 2024)
    assert (hit["url"], "retraction" in hit) == ("https://doi.org/10.1000/statin", False)
    assert hit["quality"] == 8
    assert hit["explanation"].endswith("journal of a leading rank (+2), studied in humans (+2)")


def test_quality_bias_is_the_score_times_one_plus_a_tenth_of_the_quality(corpus):
    plain = {hit["doc_id"]: hit for hit in search(corpus, "statins", quality_bias=False).body["results"]}
    biased = search(corpus, "statins").body["results"]
    assert all(0 <= hit["score"] <= 1 for hit in plain.values())
    for hit in biased:
        assert hit["score"] == pytest.approx(plain[hit["doc_id"]]["score"] * (1 + hit["quality"] / 10), abs=2e-6)
    assert [hit["score"] for hit in biased] == sorted((hit["score"] for hit in biased), reverse=True)


def test_what_does_not_fit_is_counted_and_named_where_it_can_be_had(corpus):
    body = brief(corpus, "aspirin against headache").body
    assert [hit["doc_id"] for hit in body["results"]] == ["pmid:13"]
    assert (body["total"], body["weak"]) == (1, 4)
    assert body["next_step"] == "rag_get doc_id=pmid:13 for the record; include_weak: true for 4 weak ones"
    whole = brief(corpus, "aspirin against headache", include_weak=True).body
    assert (len(whole["results"]), "weak" in whole, whole["total"]) == (5, False, 5)


def test_where_all_is_weak_the_best_three_are_listed_and_marked(corpus):
    body = brief(corpus, "quantum chromodynamics lattice").body
    assert [hit["match"] for hit in body["results"]] == ["weak"] * 3
    assert (body["total"], body["weak"], "next_cursor" in body) == (3, 2, False)
    whole = brief(corpus, "quantum chromodynamics lattice", include_weak=True).body
    assert [hit["doc_id"] for hit in whole["results"][:3]] == [hit["doc_id"] for hit in body["results"]]
    assert body["warnings"] == whole["warnings"]


def test_the_weak_passages_of_a_paper_that_fits_are_left_out_too(corpus):
    fitting = brief(corpus, "statins lowered mortality", group_by_doc=False).body["results"]
    every = brief(corpus, "statins lowered mortality", group_by_doc=False, include_weak=True).body["results"]
    assert fitting == [hit for hit in every if "match" not in hit]


PARTS = {"sim", "bm25", "quality", "chunk_id", "section", "explanation", "word_rank", "vector_rank"}


def test_the_parts_of_the_score_are_shown_to_who_asks_for_them(corpus):
    [plain, *_] = brief(corpus, "statins survival mortality").body["results"]
    [explained, *_] = brief(corpus, "statins survival mortality", explain=True).body["results"]
    assert not PARTS & plain.keys()
    assert explained.keys() - plain.keys() == PARTS - {"section"}
    assert plain["score"] == round(explained["score"], 3)
    assert "interpreted" not in brief(corpus, "statins survival mortality").body
    assert brief(corpus, "12").body["interpreted"]["kind"] == "identifier"


def test_many_hits_have_short_passages_of_the_words_that_were_asked_for_and_few_have_long_ones():
    filler = "The weather of that year was of no account to any of the people who were seen. "
    texts = [f"{filler * 2}In all, {'and so on ' * 8}niacin lowered mortality. {filler}" for _ in range(30)]
    many = Corpus(*(article(str(n), f"Niacin {n}. " * 6, text) for n, text in enumerate(texts, 1)))
    thirty = brief(many, "niacin mortality", top_k=30)
    assert len(thirty.text.encode()) <= 30 * 450
    assert all("niacin lowered mortality" in hit["snippet"] for hit in thirty.body["results"])
    longest = max(len(hit["snippet"]) for hit in thirty.body["results"])
    three = brief(many, "niacin mortality", top_k=3).body["results"]
    assert min(len(hit["snippet"]) for hit in three) > longest


def test_where_nothing_is_found_the_next_step_is_pubmed(corpus):
    assert brief(corpus, "nonsuch[ti]").body["next_step"] == "searchPubMedArticles looks in PubMed itself"


def interpreted(corpus, query, **more):
    body = search(corpus, query, **more).body
    return body["interpreted"] | {"total": body["total"], "found": [hit["doc_id"][5:] for hit in body["results"]]}


@pytest.mark.parametrize(
    ("query", "kind", "pmids"),
    [
        ("12", "identifier", "12"),
        ("13, PMID 12", "identifier", "12 13"),
        ("https://pubmed.ncbi.nlm.nih.gov/15/", "identifier", "15"),
        ("doi:10.1000/STATIN", "identifier", "11"),
        ("PMC11", "identifier", "11"),
        ("Smith A", "author", "11"),
        ("Smith 1998 statins", "author", "12"),
        ("Smith et al. statins", "author", "11 12"),
        ("statins AND mortality", "boolean", "11 15"),
        ("statins NOT mortality", "boolean", "12"),
        ("statin*[ti]", "boolean", "11 12 15"),
        ('"lowered mortality" NOT retracted publication[pt]', "boolean", "11"),
        ("2020:2022[dp]", "boolean", "13"),
        ("smith[au] OR aspirin", "boolean", "11 12 13"),
        ("nonsuch AND statins", "boolean", ""),
    ],
)
def test_a_query_is_read_as_it_was_meant_and_what_matches_it_is_found_and_counted(corpus, query, kind, pmids):
    it = interpreted(corpus, query)
    assert (it["kind"], set(it["found"]), it["total"]) == (kind, set(pmids.split()), len(pmids.split()))
    assert it["text"].startswith("Read as ")
    validate(search(corpus, query).body, rag_search.output_schema)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("aspirin for headache, see PMID 12", "12"),
        ("do statins lower mortality? doi:10.1000/statin", "11"),
        ("Statins cure all", "15"),  # a title, though retracted
        ("Statins cure all.", "15"),
    ],
)
def test_a_paper_that_a_question_names_comes_first(corpus, query, first):
    corpus.add(
        Document(article("15", "Statins cure all of them.", "Cost.", retraction=RetractionStatus.RETRACTED), "h", 2)
    )
    hits = search(corpus, query.replace("all", "all of them")).body["results"]
    assert hits[0]["doc_id"] == f"pmid:{first}"
    assert len(hits) == len(PAPERS)
    assert hits[0]["explanation"].startswith("named by the query (+2), ")
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)


def test_a_phrase_that_no_paper_has_is_read_without_its_marks_unless_there_are_operators(corpus):
    body = search(corpus, 'aspirin "eased the headache"').body
    assert (body["interpreted"]["kind"], body["results"][0]["doc_id"]) == ("question", "pmid:13")
    assert body["warnings"][0].startswith("No paper matches with the quotation marks")
    assert search(corpus, 'aspirin AND "eased the headache"').body["total"] == 0


def test_an_identifier_that_no_paper_has_is_named(corpus):
    body = search(corpus, "PMID 1, PMID 12 and doi:10.1000/none").body
    assert [hit["doc_id"] for hit in body["results"]] == ["pmid:12"]
    assert body["warnings"] == ["PMID 1, DOI 10.1000/none are not in the corpus."]
    body = search(corpus, "12", filters={"year_from": 2000}).body
    assert (body["results"], body["total"]) == ([], 0)
    assert body["warnings"] == ["PMID 12 is not among the papers that pass the filters."]


def test_a_misspelt_word_is_corrected_and_said_so(corpus):
    it = interpreted(corpus, "mortalty and headahce")
    assert it["corrected"] == {"mortalty": "mortality", "headahce": "headache"}
    assert "headahce as headache" in it["text"]
    assert "corrected" not in interpreted(corpus, "statins, nausea and Headahce2")


def test_an_abbreviation_finds_what_it_stands_for_and_the_other_way():
    corpus = Corpus(
        article("1", "Zonular injury.", "Acute zonular injury (AZI) is rare."),
        article("2", "AZI.", "It was seen in all."),
        article("3", "Zonules.", "Zonular injury that was acute."),
        article("4", "Others.", "Nothing."),
    )
    for query in ("AZI", "azi", "acute zonular injury"):
        hits = {hit["doc_id"][5:]: hit["bm25"] for hit in search(corpus, query).body["results"]}
        assert all(hits[pmid] for pmid in "123")
        assert hits["4"] is None
    plain = {hit["doc_id"][5:]: hit["bm25"] for hit in search(corpus, "AZI", synonyms=False).body["results"]}
    assert plain["3"] is None


def test_thai_is_looked_up_in_english(corpus):
    body = search(corpus, "แอสไพรินลดอาการปวดหัว").body
    assert body["results"][0]["doc_id"] == "pmid:13"
    assert body["warnings"][0].startswith("Looked up in English as: ")


def test_nothing_to_rank_by_is_ordered_by_evidence(corpus):
    hits = search(corpus, "1990:2030[dp] NOT retracted publication[pt]").body["results"]
    assert [hit["quality"] for hit in hits] == sorted((hit["quality"] for hit in hits), reverse=True)
    assert {hit["relevance"] for hit in hits} == {1}
    assert hits[0]["explanation"].startswith("matches the query, times")


@pytest.mark.parametrize(
    ("query", "sort", "pmids"),
    [
        ("statins[tiab]", "date", "11 15 12"),
        ("statins[tiab]", "evidence", "11 12 15"),
        ("statins lowered mortality", "date", "11 15 12"),
        ("statins lowered mortality", "evidence", "11 12 15"),
        ("quantum chromodynamics lattice", "date", "15 13 12"),  # the best of those that do not fit
    ],
)
def test_papers_that_fit_are_sorted_by_date_or_evidence(corpus, query, sort, pmids):
    it = interpreted(corpus, query, sort=sort, include_weak=False)
    assert it["found"] == pmids.split()
    assert it["total"] == len(it["found"])


MANY = [article(str(n), f"Knee {n}.", f"Pain of knees. {'Pain. ' * (n % 7)}", 1990 + n % 30) for n in range(1, 431)]


@pytest.fixture(scope="module")
def many():
    return Corpus(*MANY)


@pytest.mark.parametrize("more", [{}, {"sort": "date"}, {"sort": "evidence"}, {"quality_bias": False}])
def test_pages_have_every_paper_that_matches_once(many, more):
    pmids, cursor = [], {}
    while not pmids or cursor:
        body = search(many, "knee[ti] AND pain", top_k=100, **more, **cursor).body
        assert body["total"] == len(MANY)
        pmids += [hit["doc_id"][5:] for hit in body["results"]]
        cursor = {"cursor": body["next_cursor"]} if "next_cursor" in body else {}
    assert sorted(pmids) == sorted(each.pmid for each in MANY)
    if more == {"sort": "date"}:
        years = {each.pmid: each.publication_date.year for each in MANY}
        assert pmids == sorted(pmids, key=lambda pmid: (-years[pmid], -int(pmid)))


def test_pages_of_a_question_end_with_what_was_found(many):
    pages = []
    cursor = {}
    while not pages or cursor:
        body = search(many, "painful knees", top_k=60, **cursor).body
        pages.append([hit["doc_id"] for hit in body["results"]])
        cursor = {"cursor": body["next_cursor"]} if "next_cursor" in body else {}
    found = [each for page in pages for each in page]
    assert len(set(found)) == len(found) == body["total"] >= 200
    assert found[:100] == [hit["doc_id"] for hit in search(many, "painful knees", top_k=100).body["results"]]


def test_a_page_goes_on_behind_what_did_not_fit_and_a_cursor_is_of_one_query(many):
    short = search(many, "knee[ti]", top_k=50, max_characters=5_000).body
    assert short["status"] == "partial"
    cursor = short["next_cursor"]
    whole = [hit["doc_id"] for hit in search(many, "knee[ti]", top_k=50).body["results"]]
    went_on = [hit["doc_id"] for hit in search(many, "knee[ti]", top_k=5, cursor=cursor).body["results"]]
    assert whole[len(short["results"]) :][:5] == went_on
    for other in ({"query": "knees"}, {"sort": "date"}, {"filters": {"year_from": 2000}}):
        error = call(rag_search, {"query": "knee[ti]", "cursor": cursor, **other}, many).body["error"]
        assert error["message"].startswith("cursor: ")


class Older(ReferencePassages):
    """An index that an earlier version wrote."""

    def _refused(self, *_):
        raise IndexUnavailable("An earlier version wrote it: run bio-mcp admin reindex")

    matching = words_like = other_names = _refused


def test_an_index_of_an_earlier_version_answers_questions_and_refuses_what_it_cannot_know(corpus):
    passages = Older()
    passages.model, passages.entries = corpus.passages.model, corpus.passages.entries
    corpus.passages = passages
    body = search(corpus, "asprin against headache and pain").body
    assert body["results"][0]["doc_id"] == "pmid:13"
    assert "bio-mcp admin reindex" in body["warnings"][0]
    for query, more in (("statins AND mice", {}), ("12", {}), ("statins", {"filters": {"journals": ["x"]}})):
        assert refusal(corpus, query, **more) == ("WEAVIATE", "An earlier version wrote it: run bio-mcp admin reindex")


def test_a_retracted_paper_is_flagged_and_sinks(corpus):
    for bias in (True, False):
        hits = search(corpus, "statins lowered mortality", quality_bias=bias).body["results"]
        flags = {hit["doc_id"]: (hit.get("retraction"), hit["quality"]) for hit in hits}
        assert flags["pmid:15"] == ("retracted", 0)
        assert hits[0]["doc_id"] == "pmid:11"


def test_a_title_without_abstract_is_its_own_snippet(corpus):
    hit = search(corpus, "interleukin blockade", top_k=1).body["results"][0]
    assert (hit["snippet"], hit["chunk_id"]) == ("Interleukin-6 blockade.", "w0")


def test_one_passage_a_paper_or_every_passage(corpus):
    assert len(found(corpus, "statins nausea cost")) == len(set(found(corpus, "statins nausea cost")))
    every = search(corpus, "nausea cost", group_by_doc=False).body["results"]
    assert [hit["chunk_id"] for hit in every if hit["doc_id"] == "pmid:11"] == ["w1", "w0"]
    assert [hit["score"] for hit in every] == sorted((hit["score"] for hit in every), reverse=True)


def test_a_passage_that_has_only_what_a_better_one_has_is_left_out():
    corpus = Corpus(article("21", "Statins.", "Statins lowered mortality. Statins lowered mortality."))
    hits = search(corpus, "statins", group_by_doc=False).body["results"]
    assert [hit["chunk_id"] for hit in hits] == ["w0"]


@pytest.mark.parametrize(
    ("filters", "pmids"),
    [
        ({"year_from": 2023}, {"11", "14", "15"}),
        ({"year_to": 2000}, {"12"}),
        ({"journals": ["the lancet"]}, {"11"}),
        ({"journals": ["2985213R"]}, {"11"}),
        ({"publication_types": ["Randomized Controlled Trial"]}, {"11"}),
        ({"publication_types": ["D016449"]}, {"11"}),
        ({"publication_types": ["Clinical Trials"]}, {"11"}),  # of which a randomized one is one
        ({"journals": ["lancet"]}, {"11"}),
        ({"journals": ["Lancet (London)"]}, {"11"}),
        ({"journals": ["0140-6736"]}, {"11"}),
        ({"languages": ["German", "fr"]}, {"12"}),
        ({"species": "humans"}, {"11"}),
        ({"species": "animals"}, {"12"}),
        ({"retracted": "only"}, {"15"}),
        ({"retracted": "exclude"}, {"11", "12", "13", "14", "21"}),
        ({"retracted": "include", "year_from": 2023}, {"11", "14", "15"}),
        ({"has_abstract": False}, {"14", "21"}),
        ({"has_abstract": True, "retracted": "exclude", "species": "humans"}, {"11"}),
        ({"mesh": ["humans"]}, {"11"}),
        ({"mesh": ["Humans", "Animals"]}, set()),
        ({"participants_min": 300}, {"11"}),
        ({"participants_min": 400}, set()),
    ],
)
def test_filters_say_which_papers_may_be_returned(corpus, filters, pmids):
    corpus.add(Document(article("21", "Statins.", "", 2010), "hash"))
    assert set(found(corpus, "statins", filters=filters)) == {f"pmid:{pmid}" for pmid in pmids}


def test_synonyms_find_what_the_words_do_not():
    corpus = Corpus(article("1", "Myocardial infarction.", "It was severe."), article("2", "Heart of gold.", "A poem."))
    by_words = {hit["doc_id"]: hit["bm25"] for hit in search(corpus, "heart attack", synonyms=False).body["results"]}
    widened = {hit["doc_id"]: hit["bm25"] for hit in search(corpus, "heart attack").body["results"]}
    assert by_words["pmid:1"] is None
    assert widened["pmid:1"] > widened["pmid:2"]
    assert "Also looked up: myocardial infarction." in interpreted(corpus, "heart attack")["text"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"query": " \n\t"}, "no word"),
        ({"query": "?!"}, "no word"),
        ({"query": "x", "limit": 5}, "not a parameter"),
        ({"query": "x", "filters": None}, "filters"),
        ({"query": "x", "filters": {"tags": ["a"]}}, "filters.tags"),
        ({"query": "x", "filters": {"project": "hearts"}}, "filters.project"),
        ({"query": "x", "max_characters": 999}, "max_characters"),
        ({"query": "x", "filters": {"journals": ["x" * 301]}}, "filters.journals.0"),
        ({"query": "x", "filters": {"year_from": 2020, "year_to": 2010}}, "year_from"),
        ({"query": "x", "filters": {"publication_types": ["Reviw"]}}, "publication_types: 'Reviw'"),
        ({"query": "x", "filters": {"publication_types": ["Reviw"]}}, "did you mean Review"),
        ({"query": "x", "filters": {"languages": ["Germann"]}}, "languages: 'Germann'"),
        ({"query": "x", "filters": {"journals": ["?"]}}, "filters.journals"),
        ({"query": "x", "filters": {"journals": ["Lancett"]}}, "journals: The corpus has no paper of the journal"),
        ({"query": "x", "filters": {"journals": ["Lancett"]}}, "did you mean 'Lancet' or 'The Lancet'?"),
        ({"query": "x", "filters": {"mesh": ["Animal"]}}, "did you mean 'Animals'"),
        ({"query": "x", "filters": {"species": "mice"}}, "filters.species"),
        ({"query": "statins AND (mice"}, "character 13, in 'statins AND (mice'"),
        ({"query": "statins[tittle]"}, "did you mean [title]"),
        ({"query": "statins[ti"}, "expected a tag such as [ti]"),
        ({"query": "x", "sort": "score"}, "sort"),
        ({"query": "x", "cursor": "20"}, "cursor"),
        ({"query": "x", "cursor": "1-0123456789ab"}, "cursor: it is no next_cursor of this query"),
        ({"query": "x", "cursor": "1-0123456789ab", "group_by_doc": False}, "pages are of papers"),
        ({"query": "ทคืฟ"}, "the Thai dictionary has none of its words"),
    ],
)
def test_bad_input_is_refused_with_a_sentence_that_helps(corpus, arguments, says):
    error = call(rag_search, arguments, corpus).body["error"]
    assert error["code"] == "VALIDATION"
    assert says in error["message"]


def test_an_empty_corpus_says_what_to_do():
    body = search(Corpus(), "statins").body
    assert body["results"] == []
    assert "Sync" in body["warnings"][0]


def test_filters_that_nothing_passes_are_named(corpus):
    body = search(corpus, "statins", filters={"year_from": 2100}).body
    assert (body["results"], body["warnings"]) == ([], ["No paper in the corpus passes the filters."])


def test_a_warning_names_hits_that_were_found_by_meaning_alone(corpus):
    assert "in the corpus: these papers were found by meaning alone" in search(corpus, "草药").body["warnings"][0]
    filtered = search(corpus, "草药", filters={"year_to": 2000}).body["warnings"][0]
    assert "in the papers that pass the filters" in filtered


def test_a_question_that_nothing_fits_is_answered_with_a_warning_whatever_the_scores(corpus):
    body = search(corpus, "quantum chromodynamics lattice").body
    assert body["results"][0]["score"] >= 1
    assert {hit["match"] for hit in body["results"]} == {"weak"}
    assert "5 papers" in body["warnings"][-1]
    assert "searchPubMedArticles" in body["warnings"][-1]


def test_a_question_that_one_paper_fits_has_no_warning_and_the_others_a_mark(corpus):
    body = search(corpus, "aspirin against headache").body
    assert body["warnings"] == []
    assert "match" not in body["results"][0]
    assert {hit["match"] for hit in body["results"][1:]} == {"weak"}


def test_each_hit_says_how_likely_it_fits_and_no_order_depends_on_it(corpus):
    hits = search(corpus, "aspirin against headache").body["results"]
    assert 1 > hits[0]["relevance"] > 3 * max(hit["relevance"] for hit in hits[1:]) > 0
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    passages = search(corpus, "aspirin against headache", group_by_doc=False).body["results"]
    of_papers = {hit["doc_id"]: hit["relevance"] for hit in hits}
    assert all(of_papers[hit["doc_id"]] == hit["relevance"] for hit in passages)


def test_what_fits_and_was_filtered_away_is_not_made_up_for(corpus):
    body = search(corpus, "aspirin against headache", filters={"publication_types": ["D016449"]}).body
    assert [hit["doc_id"] for hit in body["results"]] == ["pmid:11"]
    assert "the papers that pass the filters" in body["warnings"][-1]


def test_a_journal_of_which_there_is_no_paper_is_named_beside_those_that_have_some(corpus):
    journals = ["Lancett", "2985213R", "Sonnets"]
    body = search(corpus, "statins survival", filters={"journals": journals}).body
    assert [hit["doc_id"] for hit in body["results"]] == ["pmid:11"]
    assert "'Lancett' or 'Sonnets'; did you mean 'Lancet' or 'The Lancet'?" in body["warnings"][0]
    assert search(corpus, "statins", top_k=1, filters={"journals": ["The Lancet", "A journal"]}).body["warnings"] == []


class Broken(WordVectors):
    def embed(self, _texts):
        raise EmbeddingFailed("the model is not installed; run make setup")


class Other(WordVectors):
    fingerprint = "other"


class Down:
    def check_model(self, *_model):
        raise IndexUnavailable("the index is down")


@pytest.mark.parametrize(
    ("port", "failing", "code"),
    [
        ("embeddings", Broken(), "EMBEDDINGS"),
        ("embeddings", Other(), "INVARIANT_FAILURE"),
        ("passages", Down(), "WEAVIATE"),
    ],
)
def test_a_failed_or_another_model_and_a_down_index_are_errors_and_never_a_worse_list(corpus, port, failing, code):
    search(corpus, "statins")
    setattr(corpus, port, failing)
    assert refusal(corpus, "statins")[0] == code


def test_a_paper_deleted_during_the_search_makes_the_answer_partial(corpus):
    del corpus.documents.by_pmid["11"]
    body = search(corpus, "statins").body
    assert body["status"] == "partial"
    assert "1 paper" in body["reasons"][0]
    assert "pmid:11" not in [hit["doc_id"] for hit in body["results"]]


def test_half_a_character_is_refused_and_a_very_long_query_is_searched(corpus):
    assert refusal(corpus, "statins \ud800")[0] == "VALIDATION"
    assert found(corpus, "statins " * 1_200)[0] in {"pmid:11", "pmid:12"}


def test_sections_are_named_on_hits():
    paper = article("1", "T.", "")
    paper.abstract = (
        AbstractSection("METHODS", None, "We gave statins."),
        AbstractSection("RESULTS", None, "All slept."),
    )
    hit = search(Corpus(paper), "statins were given").body["results"][0]
    assert (hit["chunk_id"], hit["section"]) == ("s0", "METHODS")
