import pytest

from bio_mcp.call import call
from bio_mcp.literature.records import Deletion
from bio_mcp.syncing.settling import settle
from bio_mcp.tools.search import rag_search
from tests.corpus import Corpus
from tests.memory_corpus import article


class Killed(Exception):
    """The process ends here."""


class Dying:
    """Any port whose `delete` is never reached, or never returns."""

    def __init__(self, port, dies):
        self.port, self.dies = port, dies

    def __getattr__(self, name):
        return getattr(self.port, name)

    def delete(self, pmids):
        if self.dies == "after":
            self.port.delete(pmids)
        raise Killed


class Fragile(Corpus):
    """A corpus in which deleting from one of the stores is the last that happens."""

    at, dies = "", ""

    @property
    def documents(self):
        return Dying(super().documents, self.dies) if self.at == "documents" else super().documents

    @property
    def passages(self):
        return Dying(super().passages, self.dies) if self.at == "passages" else super().passages


@pytest.fixture
def corpus(tmp_path):
    with Fragile(tmp_path) as made:
        settle([article(str(pmid), f"Statins {'statins ' * (9 - pmid)}", "On statins.") for pmid in range(1, 6)], made)
        yield made


def best(corpus):
    found = call(rag_search, {"query": "statins", "top_k": 1}, corpus).body
    return [hit["doc_id"] for hit in found["results"]]


@pytest.mark.parametrize("at", ["passages", "documents"])
@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_deletion_that_is_killed_takes_no_place_among_hits_and_is_done_by_its_repetition(corpus, at, dies):
    [first] = best(corpus)
    pmid = first.removeprefix("pmid:")
    corpus.at, corpus.dies = at, dies
    with pytest.raises(Killed):
        settle([Deletion(pmid)], corpus)
    corpus.at = ""
    assert len(best(corpus)) == 1
    settle([Deletion(pmid)], corpus)
    assert best(corpus) not in ([], [first])
    assert corpus.documents.count() == corpus.passages.count()[0] == 4
