"""The watermarks of a query: read, named, and drawn back where a clock that was ahead left them in the future."""

from datetime import date, timedelta
from typing import Any

from bio_mcp.literature.clock import eastern_day
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Checkpoint, Job
from bio_mcp.syncing.windows import FIELDS

SLACK_DAYS = 2  # PubMed's entry date may be a day later than the day on which a record came


def watermarks(checkpoint: Checkpoint) -> dict[str, date | None]:
    """By date field: the day until which the records have been read."""
    shared = eastern_day(checkpoint.last_edat) if checkpoint.last_edat else None
    return {
        field: date.fromisoformat(checkpoint.windows[field]) if field in checkpoint.windows else shared
        for field in FIELDS
    }


def in_the_future(checkpoint: Checkpoint, today: date) -> date | None:
    """The latest watermark, where it stands after `today`."""
    latest = max((day for day in watermarks(checkpoint).values() if day), default=today)
    return latest if latest > today else None


def doubt(checkpoint: Checkpoint, today: date) -> str | None:
    """What is wrong with a watermark that stands after `today`; None when it does not."""
    if (ahead := in_the_future(checkpoint, today)) is None:
        return None
    return f"its watermark stands in the future, at {ahead}; the next sync draws it back and reads again"


def draw_back(request: dict[str, Any], backends: Backends, today: date) -> str | None:
    """Draw a watermark that stands after `today` back to the newest entry date that was seen; tells it, if it did.

    Records that came after that one were never surely read. Without such a date the query is read anew.
    """
    key, term = request["query_key"], request["term"]
    stands = backends.checkpoints.get(key, term)
    ahead = in_the_future(stands, today)
    if ahead is None:
        return None
    seen = eastern_day(stands.last_edat) if stands.last_edat else None
    if seen is None or seen > today:
        backends.checkpoints.set(key, None, {}, term)
        back = "the first day"
    else:
        back = str(seen - timedelta(days=SLACK_DAYS))
        backends.checkpoints.set(key, stands.last_edat, dict.fromkeys(FIELDS, back), term)
    return (
        f"the watermark of {key!r} stood in the future, at {ahead}, where a clock that was ahead had left it; it was "
        f"drawn back to {back}"
    )


def name_term(query_key: str, last: Job | None, backends: Backends) -> None:
    """Give a watermark without a term, as older versions stored it, to the term that the key was synced by `last`."""
    stands = backends.checkpoints.get(query_key)
    if last and stands.term is None and stands.windows:
        backends.checkpoints.advance(query_key, last.request["term"])
