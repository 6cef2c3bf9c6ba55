"""How long ago something was, in words."""

from datetime import datetime

UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def ago(iso: str, now: datetime) -> str:
    """How long before `now` an ISO 8601 time is, in its largest unit, as "3 hours ago"."""
    seconds = int((now - datetime.fromisoformat(iso)).total_seconds())
    for name, size in UNITS:
        if (count := seconds // size) > 0:
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def shown(iso: str) -> str:
    """An ISO 8601 time in UTC for people, to the minute."""
    return f"{iso[:10]} {iso[11:16]} UTC"
