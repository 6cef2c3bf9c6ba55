import pytest

from bio_mcp.call import call
from bio_mcp.literature.records import Deletion
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tools.search import rag_search
from tests.support.corpus import Corpus, Over
from tests.support.memory_corpus import article


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
        apply_records(
            [article(str(pmid), f"Statins {'statins ' * (9 - pmid)}", "On statins.") for pmid in range(1, 6)], made
        )
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
        apply_records([Deletion(pmid)], corpus)
    corpus.at = ""
    assert len(best(corpus)) == 1
    apply_records([Deletion(pmid)], corpus)
    assert best(corpus) not in ([], [first])
    assert corpus.documents.count() == corpus.passages.count()[0] == 4


class Slow:
    """Passages that are costly to refresh, and at the `dies`-th refresh the process ends."""

    refresh_after = 1_000

    def __init__(self, port, dies=None):
        self.port, self.dies, self.refreshed = port, dies, 0

    def __getattr__(self, name):
        return getattr(self.port, name)

    def refresh(self, *model):
        self.refreshed += 1
        if self.refreshed == self.dies:
            raise Killed
        self.port.refresh(*model)


SEVENTY = [article(str(pmid), f"Title {pmid}.", "Some text.") for pmid in range(1, 71)]


def marked(corpus):
    heads = corpus.documents.heads([each.pmid for each in SEVENTY])
    return sum(head.indexed_version == head.version for head in heads.values())


def test_an_index_that_is_slow_to_refresh_is_refreshed_once_and_nothing_is_reported_before(tmp_path):
    with Corpus(tmp_path) as corpus:
        passages = Slow(corpus.passages, dies=1)
        with pytest.raises(Killed):
            apply_records(SEVENTY, Over(corpus, passages=passages))
        assert (marked(corpus), corpus.heard.all) == (0, [])
        assert corpus.passages.count()[0] == 70
        embedded = corpus.model.embedded
        apply_records(SEVENTY, Over(corpus, passages=passages))
        assert (marked(corpus), len(corpus.heard.all), passages.refreshed) == (70, 70, 2)
        assert corpus.model.embedded == embedded


def test_what_was_written_when_the_time_ended_is_found_announced_and_marked(tmp_path):
    with Corpus(tmp_path) as corpus:
        passages, turns = Slow(corpus.passages), iter([True, False])
        settled = apply_records(SEVENTY, Over(corpus, passages=passages), before_slice=lambda _: next(turns))
        assert (len(settled.changes), marked(corpus), len(corpus.heard.all)) == (32, 32, 32)
        assert passages.refreshed == 1
