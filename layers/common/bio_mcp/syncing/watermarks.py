"""Watermarks of a query: read them, name their term, and draw back those that a fast clock left in the future."""

from datetime import date, timedelta
from typing import Any

from bio_mcp.literature.clock import eastern_day
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Checkpoint, Job
from bio_mcp.syncing.windows import FIELDS

SLACK_DAYS = 2  # PubMed's entry date may be a day later than the day on which a record came


def watermarks(checkpoint: Checkpoint) -> dict[str, date | None]:
    """Map each date field to the day up to which its records have been read; None where none were."""
    shared = eastern_day(checkpoint.last_edat) if checkpoint.last_edat else None
    return {
        field: date.fromisoformat(checkpoint.windows[field]) if field in checkpoint.windows else shared
        for field in FIELDS
    }


def future_watermark(checkpoint: Checkpoint, today: date) -> date | None:
    """The latest watermark, if it is after `today`; else None."""
    latest = max((day for day in watermarks(checkpoint).values() if day), default=today)
    return latest if latest > today else None


def future_warning(checkpoint: Checkpoint, today: date) -> str | None:
    """The warning for a watermark after `today`; None when there is none."""
    if (ahead := future_watermark(checkpoint, today)) is None:
        return None
    return f"its watermark is in the future, at {ahead}; the next sync draws it back and reads again"


def draw_back(request: dict[str, Any], backends: Backends, today: date) -> str | None:
    """Draw a watermark after `today` back to the newest entry date seen. Returns the warning, None if unchanged.

    Records after that date may never have been read. Without such a date the query is read from the first day.
    """
    key, term = request["query_key"], request["term"]
    checkpoint = backends.checkpoints.get(key, term)
    ahead = future_watermark(checkpoint, today)
    if ahead is None:
        return None
    seen = eastern_day(checkpoint.last_edat) if checkpoint.last_edat else None
    if seen is None or seen > today:
        backends.checkpoints.set(key, None, {}, term)
        back = "the first day"
    else:
        back = str(seen - timedelta(days=SLACK_DAYS))
        backends.checkpoints.set(key, checkpoint.last_edat, dict.fromkeys(FIELDS, back), term)
    return (
        f"the watermark of {key!r} was in the future, at {ahead}, left there by a fast clock; it was "
        f"drawn back to {back}"
    )


def name_term(query_key: str, last: Job | None, backends: Backends) -> None:
    """Give a watermark without a term, as older versions stored it, the term of the key's job `last`."""
    checkpoint = backends.checkpoints.get(query_key)
    if last and checkpoint.term is None and checkpoint.windows:
        backends.checkpoints.advance(query_key, last.request["term"])
