"""What of a document is indexed."""

import numpy as np

from bio_mcp.literature.records import Article, Document, RetractionStatus
from bio_mcp.retrieval.chunking import chunks_of, entry_of, search_terms
from bio_mcp.retrieval.passages import StaticQuality
from tests.support.memory_corpus import WordVectors, article


def test_a_word_of_the_title_counts_twice_and_comes_first():
    assert search_terms(article(title="Statins", text="Statins help.")) == ["statin", "statin", "statin", "help"]


def test_a_record_without_any_text_is_found_by_its_pmid():
    assert search_terms(Article(pmid="384001")) == ["384001"]


def test_mesh_is_not_searched():
    assert "human" not in search_terms(article(mesh=[("D006801", "Humans")]))


def test_an_entry_holds_what_filters_and_ranking_ask_for():
    paper = article("7", types=[("D016449", "Randomized Controlled Trial")], mesh=[("D006801", "Humans")])
    chunks = chunks_of(paper, WordVectors().count_tokens, 256)
    entry = entry_of(Document(paper, "hash", version=3), chunks, {"w0": np.zeros(64, np.float32)}, projects=["p"])
    assert (entry.pmid, entry.version, entry.year, entry.projects) == ("7", 3, 2024, ("p",))
    assert (entry.journal, entry.journal_nlm_id, entry.publication_types) == ("A journal", "0000000", ("D016449",))
    assert entry.quality == StaticQuality(design=2, journal=0, human=2)
    assert entry.retraction is RetractionStatus.CLEAR
    assert [chunk.chunk_id for chunk in entry.chunks] == list(entry.vectors) == ["w0"]
