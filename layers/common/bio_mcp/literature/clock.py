"""Times. PubMed stamps records in US Eastern time; the product speaks ISO 8601 in UTC."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from bio_mcp.errors import InvalidInput

EASTERN = ZoneInfo("America/New_York")


def utc(eastern: str) -> str:
    """Convert US Eastern `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM` to `YYYY-MM-DDTHH:MM:SSZ`.

    A bare day means its first minute in Eastern time, so its UTC form is 04:00 or 05:00 of the same day.
    """
    return instant(datetime.fromisoformat(eastern).replace(tzinfo=EASTERN))


def utc_now() -> datetime:
    return datetime.now(UTC)


def sortable(moment: datetime) -> str:
    """The moment in UTC as ISO 8601, always with microseconds, so that text order is time order.

    A moment without a zone is UTC.
    """
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="microseconds")


def instant(moment: datetime) -> str:
    """Format an aware datetime as `YYYY-MM-DDTHH:MM:SSZ`; fractions of a second are dropped."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(iso: str) -> datetime:
    """Parse ISO 8601 into an aware datetime; text without a zone is UTC.

    Raises `InvalidInput` for anything else, and for the years 1 and 9999, which a change of zone can push out of the
    calendar.
    """
    try:
        parsed = datetime.fromisoformat(iso)
    except ValueError:
        parsed = datetime.min
    if not 1 < parsed.year < 9999:  # the first and the last year may end in another zone's calendar
        raise InvalidInput(f"{iso!r} is not an ISO 8601 time; write it as 2025-08-17T15:59:02Z")
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def eastern_day(iso: str) -> date:
    """The calendar day at NCBI (US Eastern) at an ISO 8601 moment. Raises `InvalidInput`."""
    return moment(iso).astimezone(EASTERN).date()


def earlier(one: str | None, other: str | None) -> str | None:
    """The earlier of two ISO 8601 times or days, in its own spelling. None counts as earlier than any time."""
    if one is None or other is None:
        return None
    return min(one, other, key=moment)


def later(one: str | None, other: str | None) -> str | None:
    """The later of two ISO 8601 times or days, in its own spelling. None counts as earlier than any time.

    Returns `one` when both are the same moment, so a watermark is not rewritten in another spelling.
    """
    if one is None or other is None:
        return one if other is None else other
    return max(one, other, key=moment)
