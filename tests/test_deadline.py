import pytest

from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded
from bio_mcp.scope import bounded_by, call_deadline
from tests.adapters.clocks import Clock


def test_a_share_ends_before_the_whole_and_never_outlasts_it():
    clock = Clock()
    whole = Deadline(20, clock)
    share = whole.share(8)
    clock.now = 5
    assert (share.remaining, whole.remaining, whole.share(30).remaining) == (3, 15, 15)
    clock.now = 9
    assert (share.remaining, whole.remaining) == (0, 11)
    share = whole.share(4)
    whole.expire()
    assert share.remaining == 0
    with pytest.raises(DeadlineExceeded, match="before asking"):
        share.check("asking")


def test_a_share_of_unending_time_ends():
    assert 0 < NEVER.share(8).remaining <= 8


def test_the_innermost_call_bounds_what_runs_in_it():
    outer, inner = Deadline(20), Deadline(10)
    with bounded_by(outer):
        with bounded_by(inner):
            assert call_deadline() is inner
        assert call_deadline() is outer
    assert call_deadline() is NEVER
