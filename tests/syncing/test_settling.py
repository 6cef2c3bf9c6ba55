import pytest

from bio_mcp.call import call
from bio_mcp.literature.records import Deletion
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tools.search import rag_search
from tests.support.corpus import Corpus, Over
from tests.support.hooked import Hooked, at, raising
from tests.support.memory_corpus import article


class Killed(Exception):
    """The process ends here."""


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path) as made:
        apply_records(
            [article(str(pmid), f"Statins {'statins ' * (9 - pmid)}", "On statins.") for pmid in range(1, 6)], made
        )
        yield made


def best(corpus):
    found = call(rag_search, {"query": "statins", "top_k": 1}, corpus).body
    return [hit["doc_id"] for hit in found["results"]]


@pytest.mark.parametrize("port", ["passages", "documents"])
@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_deletion_that_is_killed_takes_no_place_among_hits_and_is_done_by_its_repetition(corpus, port, dies):
    [first] = best(corpus)
    pmid = first.removeprefix("pmid:")
    deleting = Hooked(getattr(corpus, port), "delete", **{dies: raising(Killed)})
    with pytest.raises(Killed):
        apply_records([Deletion(pmid)], Over(corpus, **{port: deleting}))
    assert len(best(corpus)) == 1
    apply_records([Deletion(pmid)], corpus)
    assert best(corpus) not in ([], [first])
    assert corpus.documents.count() == corpus.passages.count()[0] == 4


def slow(corpus, *deaths):
    """A corpus that is costly to refresh, which ends the process at these times; and what notes each time."""
    refreshed, die = [], at(deaths, raising(Killed))

    def refreshing(*model):
        refreshed.append(model)
        die()

    return Over(corpus, passages=Hooked(corpus.passages, "refresh", before=refreshing, refresh_after=1_000)), refreshed


SEVENTY = [article(str(pmid), f"Title {pmid}.", "Some text.") for pmid in range(1, 71)]


def marked(corpus):
    heads = corpus.documents.heads([each.pmid for each in SEVENTY])
    return sum(head.indexed_version == head.version for head in heads.values())


def test_an_index_that_is_slow_to_refresh_is_refreshed_once_and_nothing_is_reported_before(tmp_path):
    with Corpus(tmp_path) as corpus:
        over, refreshed = slow(corpus, 1)
        with pytest.raises(Killed):
            apply_records(SEVENTY, over)
        assert (marked(corpus), corpus.heard.all) == (0, [])
        assert corpus.passages.count()[0] == 70
        embedded = corpus.model.embedded
        apply_records(SEVENTY, over)
        assert (marked(corpus), len(corpus.heard.all), len(refreshed)) == (70, 70, 2)
        assert corpus.model.embedded == embedded


def test_what_was_written_when_the_time_ended_is_found_announced_and_marked(tmp_path):
    with Corpus(tmp_path) as corpus:
        (over, refreshed), turns = slow(corpus), iter([True, False])
        settled = apply_records(SEVENTY, over, before_slice=lambda _: next(turns))
        assert (len(settled.changes), marked(corpus), len(corpus.heard.all)) == (32, 32, 32)
        assert len(refreshed) == 1
