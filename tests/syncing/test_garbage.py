import gc

import pytest

from bio_mcp.syncing.importing import ALLOCATIONS, gc_paused, import_records
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


def failing():
    with gc_paused():
        assert gc.get_threshold()[0] == ALLOCATIONS
    assert gc.get_threshold()[0] == ALLOCATIONS
    raise ZeroDivisionError


def test_a_block_within_another_and_one_that_fails_leave_the_setting_as_it_was():
    usual = gc.get_threshold()
    with pytest.raises(ZeroDivisionError):
        gc_paused()(failing)()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, 0)
