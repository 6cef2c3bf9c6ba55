import numpy as np
import pytest

from bio_mcp.adapters.opensearch.index import Index
from bio_mcp.adapters.opensearch.passages import semantic_body
from bio_mcp.adapters.opensearch.schema import DOMAIN, PAPERS, VECTOR_LAYOUTS, Layout, indexed, mapping
from bio_mcp.retrieval.passages import Filters, PassageQuery
from tests.adapters.entries import DIM, unit

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
        assert set(made["_source"]["excludes"]) >= {"terms", "windows", "vector"}


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
