"""Papers are embedded a slice at a time, and written together while that is quick."""

import pytest

from bio_mcp.errors import Conflict, EmbeddingFailed
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.reindexing import begin
from tests.support.corpus import Corpus, HashedWords, Over, SlowCorpus
from tests.support.hooked import Hooked, at, raising
from tests.support.memory_corpus import article

SEVENTY = [article(str(pmid), f"Title {pmid}.", "Some text.") for pmid in range(1, 71)]


def settled(corpus, refused=0):
    """How many papers each write has that is not refused."""
    written, refuse = [], at(range(1, refused + 1), raising(Conflict, "Another writer was quicker."))
    passages = Hooked(
        corpus.passages, "upsert_chunks", before=refuse, after=lambda entries, **_: written.append(len(entries))
    )
    assert len(apply_records(SEVENTY, Over(corpus, passages=passages)).changes) == 70
    heads = corpus.documents.heads([each.pmid for each in SEVENTY])
    assert {(head.version, head.indexed_version) for head in heads.values()} == {(1, 1)}
    assert corpus.passages.count()[0] == 70
    return written


@pytest.mark.parametrize(("kind", "written"), [(Corpus, [70]), (SlowCorpus, [32, 32, 6])])
def test_slices_that_are_embedded_quickly_are_written_together(tmp_path, kind, written):
    with kind(tmp_path) as corpus:
        assert settled(corpus) == written


def test_papers_whose_stored_vectors_went_away_meanwhile_are_embedded_again(tmp_path):
    with Corpus(tmp_path) as corpus:
        assert settled(corpus, refused=1) == [32, 32, 6]


def test_a_corpus_with_two_indexes_is_written_slice_by_slice(tmp_path):
    with Corpus(tmp_path) as corpus:
        apply_records(SEVENTY[:1], corpus)
        corpus.other_models = [HashedWords("-2")]
        begin(corpus.other_models[0], corpus)
        assert settled(corpus) == [32, 32, 5]
        assert [each.passages.count()[0] for each in corpus.indexes.all()] == [70, 69]  # one is older than the second


class Breaking(HashedWords):
    """Fails at its third call."""

    calls = 0

    def embed(self, texts):
        self.calls += 1
        if self.calls == 3:
            raise EmbeddingFailed("out of order")
        return super().embed(texts)


def test_what_was_embedded_before_a_failure_is_completed_by_the_next_run(tmp_path):
    with Corpus(tmp_path) as corpus:
        corpus.model = Breaking()
        with pytest.raises(EmbeddingFailed):
            apply_records(SEVENTY, corpus)
        assert settled(corpus) == [70]
