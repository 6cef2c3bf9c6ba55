"""NCBI's clock: PubMed stamps records in US Eastern time, the product speaks ISO 8601 UTC."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from bio_mcp.errors import InvalidInput

EASTERN = ZoneInfo("America/New_York")


def utc(eastern: str) -> str:
    """`YYYY-MM-DD` or `YYYY-MM-DDTHH:MM` US Eastern -> `YYYY-MM-DDTHH:MM:SSZ`; a day is its first minute."""
    return instant(datetime.fromisoformat(eastern).replace(tzinfo=EASTERN))


def instant(moment: datetime) -> str:
    """An aware moment -> `YYYY-MM-DDTHH:MM:SSZ`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(iso: str) -> datetime:
    """ISO 8601 -> an aware moment; without a zone it is UTC. Raises `InvalidInput`."""
    try:
        found: datetime | None = datetime.fromisoformat(iso)
    except ValueError:
        found = None
    if found is None or not 1 < found.year < 9999:  # the first and the last year may end in another zone's calendar
        raise InvalidInput(f"{iso!r} is not an ISO 8601 time; write it as 2025-08-17T15:59:02Z")
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def eastern_day(iso: str) -> date:
    """The day it was at NCBI at this ISO 8601 moment. Raises `InvalidInput`."""
    return moment(iso).astimezone(EASTERN).date()


def earlier(one: str | None, other: str | None) -> str | None:
    """The earlier of two ISO 8601 times or days, in its own spelling; none at all is earlier than any."""
    if one is None or other is None:
        return None
    return other if moment(other) < moment(one) else one


def later(one: str | None, other: str | None) -> str | None:
    """The later of two ISO 8601 times or days, in its own spelling; `one` when they are the same moment."""
    if one is None or other is None:
        return one if other is None else other
    return other if moment(other) > moment(one) else one
