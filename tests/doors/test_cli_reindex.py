"""`bio-mcp reindex`."""


def test_an_index_that_lost_papers_is_completed(cli):
    cli.fill(20)
    corpus = cli.corpus()
    corpus.passages.delete(list(corpus.documents.pmids())[:15])
    corpus.close()
    assert cli("reindex").out.startswith("The index is complete: 20 papers, ")
    again = cli("reindex", "--json")
    assert (again.code, again.json["documents"], again.json["indexed"]) == (0, 20, 20)
    assert again.json["another_model"] is False


def test_an_empty_corpus_has_an_empty_index(cli):
    assert cli("reindex", "--json").json["indexed"] == 0
