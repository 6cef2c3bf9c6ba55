"""Both engines rank the chunks of a project alike, by words, by meaning and fused: sentences of the bundled sample."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.retrieval import MODEL
from bio_mcp.adapters.embedded.collections import SqliteCollections
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.chunking import abstract_text, sentence_spans
from bio_mcp.retrieval.project_chunks import ChunkFilters, ChunkQuery, ProjectChunk, Work
from bio_mcp.retrieval.ranking import reciprocal_ranks
from tests.all.test_opensearch_ranking import sample
from tests.support.opensearch_node.collections import collections_at

ONE = "proj-sample"
TOP, AT_LEAST, REWRITTEN = 10, 0.98, 0.95  # OpenSearch's BM25 still counts words of chunks that were replaced
CHUNKS = 2_500


def chunks_of(article):
    """A chunk for each sentence of the abstract, with the title before it."""
    text, journal = abstract_text(article), article.journal and article.journal.title
    work = Work(
        article.pmid,
        article.title,
        year=article.publication_date and article.publication_date.year,
        tags=(journal or "none",),
    )
    return [
        ProjectChunk(f"{article.pmid}-{n:03}", work, text[slice(*span)], n, context=f"{article.title}")
        for n, span in enumerate(sentence_spans(text))
    ]


@pytest.fixture(scope="module")
def embed():
    return OnnxEmbeddings(MODEL, threads=2).embed


@pytest.fixture(scope="module")
def papers():
    found, count = [], 0
    for article in sample():
        if count < CHUNKS and (chunks := chunks_of(article)):
            found.append(chunks)
            count += len(chunks)
    return found


@pytest.fixture(scope="module")
def vectors(papers, embed):
    every = [chunk for chunks in papers for chunk in chunks]
    made = embed([each.text for each in every])  # of the sentence: the title would make a paper's all alike
    return {chunk.chunk_id: vector for chunk, vector in zip(every, made, strict=True)}


@pytest.fixture
def engines(tmp_path, opensearch):
    with_file = Database(tmp_path)
    made = [SqliteCollections(with_file), collections_at(opensearch.url)]
    for each in made:
        each.create(ONE, "model", 384)
    yield made
    with_file.close()


def tops(collections, query):
    """The best chunks by words, by meaning, and fused."""
    matches = collections.search(ONE, query)
    legs = [
        [id_ for _, id_ in sorted((-getattr(each, leg), each.chunk.chunk_id) for each in matches if scored(each, leg))]
        for leg in ("bm25", "sim")
    ]
    fused = reciprocal_ranks(legs)
    return [legs[0][:TOP], legs[1][:TOP], sorted(fused, key=lambda each: (-fused[each], each))[:TOP]]


def scored(match, leg):
    return getattr(match, leg) is not None


def overlaps(engines, queries):
    """The mean share of the best chunks that both engines return, by words, by meaning, and fused."""
    shares = []
    for query in queries:
        ours, theirs = (tops(each, query) for each in engines)
        shares.append([len({*mine} & {*other}) / max(1, len(mine)) for mine, other in zip(ours, theirs, strict=True)])
    return np.mean(shares, axis=0)


@pytest.mark.timeout(900)
def test_chunks_are_ranked_alike_also_filtered_and_after_a_third_was_written_again(engines, papers, vectors, embed):
    for collections in engines:
        for chunks in papers:
            collections.replace(ONE, chunks[0].work.doc_id, chunks, vectors)
    count = sum(map(len, papers))
    assert [each.count(ONE) for each in engines] == [count, count]
    assert count >= 2_000
    titles = [chunks[0].context for chunks in papers[::4]]
    queries = [ChunkQuery(query_terms(text), vector) for text, vector in zip(titles, embed(titles), strict=True)]
    recent = [replace(each, filters=ChunkFilters(year_from=2015)) for each in queries]
    for asked in (queries, recent):
        shares = overlaps(engines, asked)
        assert min(shares) >= AT_LEAST, shares
    for collections in engines:
        for chunks in papers[::3]:
            tagged = [replace(each, work=replace(each.work, tags=("read",))) for each in chunks]
            collections.replace(ONE, chunks[0].work.doc_id, tagged, {})
    shares = overlaps(engines, queries)
    assert shares[1] >= AT_LEAST
    assert min(shares) >= REWRITTEN, shares
