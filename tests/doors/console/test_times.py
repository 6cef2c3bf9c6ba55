from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.doors.console.times import ago, shown

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (3_599, "59 minutes ago"),
        (7_200, "2 hours ago"),
        (86_400, "1 day ago"),
        (86_400 * 400, "400 days ago"),
    ],
)
def test_a_time_is_reported_by_how_long_ago_it_is(seconds, words):
    assert ago((NOW - timedelta(seconds=seconds)).isoformat(), NOW) == words


def test_a_time_is_shown_to_the_minute_in_utc():
    assert shown("2026-05-01T12:34:56Z") == "2026-05-01 12:34 UTC"
