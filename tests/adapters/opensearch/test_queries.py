import pytest

from bio_mcp.adapters.opensearch.index import Index, cosine
from bio_mcp.adapters.opensearch.passages import lexical_body, semantic_body
from bio_mcp.retrieval.passages import Filters, PassageQuery
from tests.adapters.entries import unit


def test_every_filter_is_in_both_legs():
    filters = Filters(2000, 2010, frozenset({"cell"}), frozenset({"D1", "D2"}), frozenset({"a", "b"}), "p")
    query = PassageQuery((("x", 1.0),), unit(1), filters, within=frozenset({"7", "12"}))
    wanted = [
        {"range": {"year": {"gte": 2000, "lte": 2010}}},
        {"terms": {"journals": ["cell"]}},
        {"terms": {"publication_types": ["D1", "D2"]}},
        {"term": {"tags": "a"}},
        {"term": {"tags": "b"}},
        {"term": {"projects": "p"}},
        {"terms": {"pmid": [7, 12]}},
        {"range": {"pmid": {"gte": 7, "lte": 12}}},
    ]
    knn, of_all = (
        semantic_body(each, unit(1), Index("corpus-1", "model-a", 8))["query"]["nested"]["query"]["knn"][
            "windows.vector"
        ]
        for each in (query, PassageQuery((), unit(1)))
    )
    assert knn["filter"]["bool"]["filter"] == wanted
    assert lexical_body(query)["query"]["bool"]["filter"] == wanted
    assert "filter" not in of_all


@pytest.mark.parametrize("product", [1.0, 0.5, 0.0, -0.25, -1.0])
def test_a_score_gives_back_the_cosine(product):
    score = 1 + product if product >= 0 else 1 / (1 - product)
    assert cosine(score) == pytest.approx(product)
