import os
import time

import pytest

from bio_mcp.adapters.embedders.installed import read_manifest
from bio_mcp.adapters.embedders.under_construction import STALE_S, announced, how_far, notes_of
from bio_mcp.errors import EmbeddingFailed


def test_who_needs_a_model_meanwhile_learns_how_far_it_is_and_may_try_again(tmp_path):
    with announced(tmp_path / "models/minilm") as report:
        report(42, 84, "42 of 84 MB fetched")
        with pytest.raises(EmbeddingFailed, match=r"being built \(42 of 84 MB fetched\)") as failed:
            read_manifest(tmp_path / "models/minilm")
    assert failed.value.retryable
    assert failed.value.retry_after_s
    with pytest.raises(EmbeddingFailed, match="not on this machine") as failed:
        read_manifest(tmp_path / "models/minilm")
    assert not failed.value.retryable


def test_of_two_processes_one_builds(tmp_path):
    with announced(tmp_path / "minilm"):
        with pytest.raises(EmbeddingFailed, match="being built"), announced(tmp_path / "minilm"):
            pass
        assert how_far(tmp_path / "minilm") == "begun"


def test_a_build_that_was_killed_is_forgotten(tmp_path):
    notes = notes_of(tmp_path / "minilm")
    notes.write_text("42 of 84 MB fetched")
    os.utime(notes, (time.time() - STALE_S - 1,) * 2)
    with announced(tmp_path / "minilm"):
        assert how_far(tmp_path / "minilm") == "begun"
    assert how_far(tmp_path / "minilm") is None
    assert list(tmp_path.iterdir()) == []
