import json
from hashlib import sha256

from bio_mcp.adapters.opensearch.schema import DOMAIN, PAPERS, SERVERLESS, Layout
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.chunking import TITLE_WEIGHT
from tests.adapters.entries import DIM

SENTENCE = "Naïve IL-6-driven tumours: TNF-α and the BRCA1/TP53 genes in 1,024 women, treated or not."


def test_the_index_is_what_is_documented():
    body = Layout(DOMAIN, shards=2, replicas=1).body("model-a", DIM, "BM25")
    assert body["settings"]["index"]["similarity"]["terms"] == {"type": "BM25", "k1": 1.2, "b": 0.5}
    assert body["settings"]["index"]["number_of_shards"] == 2
    assert body["mappings"]["properties"]["terms"]["analyzer"] == "whitespace"
    assert body["mappings"]["_meta"] == {"fingerprint": "model-a", "dim": DIM, "vectors": "float", "version": 2}
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
    written = json.dumps([bodies, analyse(SENTENCE), TITLE_WEIGHT], sort_keys=True)
    assert sha256(written.encode()).hexdigest()[:12] == "59f9a1c8ec62"


def test_the_settings_of_an_index_are_described_and_left_out_where_they_are_not_ours():
    assert Layout(DOMAIN, shards=2, contents=PAPERS["byte"]).wanted == "2 shards, byte, mapping 3"
    assert Layout(DOMAIN).wanted == "1 shard, float, mapping 2"
    assert Layout(SERVERLESS).wanted == "float, mapping 2"
