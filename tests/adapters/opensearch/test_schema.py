"""Indexes of papers as they are made, and their vectors in floats and in bytes."""

import json
from hashlib import sha256

import numpy as np
import pytest

from bio_mcp.adapters.opensearch.found_by import found_by
from bio_mcp.adapters.opensearch.index import Index
from bio_mcp.adapters.opensearch.passages import semantic_body
from bio_mcp.adapters.opensearch.schema import DOMAIN, PAPERS, SERVERLESS, VECTOR_LAYOUTS, Layout, indexed, mapping
from bio_mcp.literature.records import Article, Author
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.chunking import TITLE_WEIGHT
from bio_mcp.retrieval.passages import Filters, PassageQuery
from bio_mcp.retrieval.pubmed_syntax import fields_of
from tests.adapters.entries import DIM, entry, unit

SENTENCE = "Naïve IL-6-driven tumours: TNF-α and the BRCA1/TP53 genes in 1,024 women, treated or not."


def test_the_index_is_what_is_documented():
    body = Layout(DOMAIN, shards=2, replicas=1).body("model-a", DIM, "BM25")
    assert body["settings"]["index"]["similarity"]["terms"] == {"type": "BM25", "k1": 1.2, "b": 0.5}
    assert body["settings"]["index"]["number_of_shards"] == 2
    assert body["mappings"]["properties"]["terms"]["analyzer"] == "whitespace"
    assert body["mappings"]["_meta"] == {"fingerprint": "model-a", "dim": DIM, "vectors": "float", "version": 4}
    serverless = Layout(SERVERLESS).body("model-a", DIM, "BM25")
    assert serverless["settings"]["index"].keys() == {"knn", "similarity"}
    assert serverless["mappings"]["properties"]["windows"]["properties"]["vector"]["method"]["engine"] == "faiss"


def test_one_model_has_one_index_and_others_have_others():
    first, second = Layout(DOMAIN), Layout(DOMAIN, generation=2)
    names = {first.index_name("corpus", *model) for model in (("model-a", 8), ("model-b", 8), ("model-a", 9))}
    assert len(names | {second.index_name("corpus", "model-a", 8)}) == 4
    assert first.index_name("corpus", "model-a", 8) == first.index_name("corpus", "model-a", 8)


def test_whoever_changes_what_an_index_of_papers_has_counts_its_version_up():
    """Else nobody is told that an index of the old kind must be made again. Raise `Contents.version` first."""
    bodies = [Layout(DOMAIN, contents=each).body("m", DIM, "BM25") for each in PAPERS.values()]
    paper = Article("7", title=SENTENCE, authors=(Author("Smith-Lee", "Jo Ann", "JA"),))
    found = found_by(entry("7", fields=fields_of(paper)))
    written = json.dumps([bodies, analyse(SENTENCE), TITLE_WEIGHT, found], sort_keys=True)
    assert sha256(written.encode()).hexdigest()[:12] == "b54bb6992a3a"


def test_the_settings_of_an_index_are_described_and_left_out_where_they_are_not_ours():
    assert Layout(DOMAIN, shards=2, contents=PAPERS["byte"]).wanted == "2 shards, byte, mapping 4"
    assert Layout(DOMAIN).wanted == "1 shard, float, mapping 4"
    assert Layout(SERVERLESS).wanted == "float, mapping 4"


AXES = np.eye(DIM, dtype=np.float32)
OF_2001 = {"range": {"year": {"gte": 2001}}}


def body(layout):
    return Layout(DOMAIN, contents=PAPERS[layout]).body("model-a", DIM, "BM25")


def asked(layout, **more):
    query = PassageQuery((), unit(1), Filters(year_from=2001), 100, **more)
    return semantic_body(query, unit(1), Index("corpus-1", "model-a", DIM, layout, version=3))["query"]


def test_an_index_says_how_it_has_its_vectors_and_stores_none_of_them_in_its_source():
    for layout in VECTOR_LAYOUTS:
        made = body(layout)["mappings"]
        assert made["_meta"]["vectors"] == layout
        assert set(made["_source"]["excludes"]) >= {"terms", "windows", "vector", "words", "values", "names"}


def test_only_vectors_that_scripts_or_faiss_compare_have_doc_values():
    of = {engine: mapping("float", engine, DIM)["windows"]["properties"]["vector"] for engine in ("lucene", "faiss")}
    assert {engine: each["doc_values"] for engine, each in of.items()} == {"lucene": False, "faiss": True}
    windows = body("byte")["mappings"]["properties"]["windows"]["properties"]
    assert (windows["vector"]["doc_values"], "doc_values" in windows["exact"]) == (False, False)


def test_a_graph_in_bytes_is_of_windows_or_of_papers_and_no_graph_is_built_of_exact_vectors():
    of_windows, of_papers = (body(layout) for layout in ("byte", "paper"))
    windows = of_windows["mappings"]["properties"]["windows"]["properties"]
    assert (windows["vector"]["data_type"], windows["vector"]["method"]["engine"]) == ("byte", "lucene")
    assert of_papers["mappings"]["properties"]["vector"] == windows["vector"]
    assert of_papers["mappings"]["properties"]["windows"]["properties"].keys() == {"exact"}
    for made in (of_windows, of_papers):
        assert made["settings"]["index"]["knn.advanced.approximate_threshold"] == -1
    assert "knn.advanced.approximate_threshold" not in body("float")["settings"]["index"]


@pytest.mark.parametrize(("version", "largest"), [(2, 4), (3, 10)])
def test_a_vector_in_bytes_is_scaled_by_its_dimension_and_cut_at_the_largest_of_its_mapping(version, largest):
    rows = np.array([AXES[0], -AXES[1] / 2, AXES[2] * 9], np.float32)
    made = indexed("byte", version, rows)["windows"]
    unit_step = 127 * 8**0.5 / largest
    assert [each["vector"][at] for at, each in enumerate(made)] == [round(unit_step), -round(unit_step / 2), 127]
    assert [each["exact"] for each in made] == rows.tolist()


def test_the_vector_of_a_paper_is_the_direction_of_the_mean_of_its_windows():
    made = indexed("paper", 3, np.array([AXES[0], AXES[1]]))
    assert made["vector"] == [round(127 * 8**0.5 / 10 / 2**0.5)] * 2 + [0] * (DIM - 2)
    assert len(made["windows"]) == 2
    assert indexed("paper", 3, np.array([AXES[0], -AXES[0]]))["vector"] == [0] * DIM
    assert indexed("paper", 3, np.empty((0, DIM), np.float32)) == {"windows": []}


@pytest.mark.parametrize("layout", ["byte", "paper"])
def test_what_is_found_in_bytes_is_scored_by_the_exact_vectors_of_all_its_windows(layout):
    query = asked(layout)["bool"]
    script = query["must"][0]["nested"]["query"]["script_score"]["script"]
    assert script["params"]["field"] == "windows.exact"
    assert script["params"]["query_value"] == unit(1).tolist()
    [found] = query["filter"]
    near = found["knn"]["vector"] if layout == "paper" else found["nested"]["query"]["knn"]["windows.vector"]
    assert all(isinstance(each, int) for each in near["vector"])
    assert near["k"] > 100
    assert near["filter"]["bool"]["filter"] == [OF_2001]


@pytest.mark.parametrize("layout", ["byte", "paper"])
def test_given_papers_are_all_scored_and_no_graph_is_asked(layout):
    query = asked(layout, within=frozenset({"7"}))["bool"]
    assert "knn" not in str(query["filter"])
    assert query["filter"] == [OF_2001, {"terms": {"pmid": [7]}}, {"range": {"pmid": {"gte": 7, "lte": 7}}}]
