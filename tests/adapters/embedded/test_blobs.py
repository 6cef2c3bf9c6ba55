"""Files in a directory: what is deleted, and when."""

import pytest

from bio_mcp.adapters.embedded.blobs import DirectoryBlobs
from bio_mcp.errors import NotFound
from bio_mcp.ports.stores import EXPIRING_DAYS
from tests.adapters.clocks import Clock

DAY = 86_400.0


@pytest.fixture
def clock():
    return Clock(1_000_000_000.0)


@pytest.fixture
def blobs(tmp_path, clock):
    return DirectoryBlobs(tmp_path / "blobs", clock)


def test_an_export_is_deleted_once_its_days_are_over_and_no_other_file_is(blobs, clock):
    old, report = blobs.put("exports/0123abc", b"old"), blobs.put("evaluations", b"old")
    clock.now += EXPIRING_DAYS["exports"] * DAY - 1
    assert blobs.link(old, "papers.ris", 60) is None  # nobody else reaches this disk
    new = blobs.join([blobs.put("exports", b"new")])
    assert blobs.exists(old)
    clock.now += 2
    blobs.join([blobs.put("exports", b"newer")])
    assert (blobs.exists(old), blobs.exists(new), blobs.exists(report)) == (False, True, True)
    with pytest.raises(NotFound):
        blobs.get(old)


def test_a_file_that_is_put_again_has_its_days_again(blobs, clock):
    key = blobs.put("exports", b"same")
    clock.now += EXPIRING_DAYS["exports"] * DAY - 1
    blobs.put("exports", b"same")
    clock.now += 2
    blobs.join([blobs.put("exports", b"other")])
    assert blobs.exists(key)
