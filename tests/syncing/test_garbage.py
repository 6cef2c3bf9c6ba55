import gc

from bio_mcp.syncing.importing import ALLOCATIONS, import_records
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article


def test_garbage_is_looked_for_rarely_during_an_import_and_as_before_after_it(tmp_path):
    usual, seen = gc.get_threshold(), []
    with Corpus(tmp_path) as corpus:
        import_records(
            [article("1")], corpus, lambda *_: seen.append((gc.get_threshold()[0], gc.get_freeze_count() > 0))
        )
    assert set(seen) == {(ALLOCATIONS, True)}
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, 0)
