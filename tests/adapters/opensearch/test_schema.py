from bio_mcp.adapters.opensearch.schema import DOMAIN, SERVERLESS, Layout
from tests.adapters.entries import DIM


def test_the_index_is_what_is_documented():
    body = Layout(DOMAIN, 1.2, 0.5, shards=2, replicas=1).body("model-a", DIM, "BM25")
    assert body["settings"]["index"]["similarity"]["terms"] == {"type": "BM25", "k1": 1.2, "b": 0.5}
    assert body["settings"]["index"]["number_of_shards"] == 2
    assert body["mappings"]["properties"]["terms"]["analyzer"] == "whitespace"
    assert body["mappings"]["_meta"] == {"fingerprint": "model-a", "dim": DIM, "vectors": "float"}
    serverless = Layout(SERVERLESS, 1.2, 0.5).body("model-a", DIM, "BM25")
    assert serverless["settings"]["index"].keys() == {"knn", "similarity"}
    assert serverless["mappings"]["properties"]["windows"]["properties"]["vector"]["method"]["engine"] == "faiss"


def test_one_model_has_one_index_and_others_have_others():
    first, second = Layout(DOMAIN, 1.2, 0.5), Layout(DOMAIN, 1.2, 0.5, generation=2)
    names = {first.index_name("corpus", *model) for model in (("model-a", 8), ("model-b", 8), ("model-a", 9))}
    assert len(names | {second.index_name("corpus", "model-a", 8)}) == 4
    assert first.index_name("corpus", "model-a", 8) == first.index_name("corpus", "model-a", 8)
