"""The page of what the corpus holds: size, watermarks, age, what each day brought, and papers by year and design."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

from bio_mcp.doors.console.pages import CONSOLE, Page
from bio_mcp.doors.console.reading import Reading
from bio_mcp.doors.console.years import YearShown
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import StoredDay
from bio_mcp.retrieval.passages import YearCount
from bio_mcp.syncing.queries import FollowedQuery, list_queries, state_of
from bio_mcp.tool import Response, resource

DAYS = 90  # that are shown
MOST_QUERIES = 100


class DayShown(Response):
    """Papers that a day (UTC) brought."""

    day: str
    added: int
    revised: int


class QueryShown(Response):
    """A followed query. All that it matches is here up to the day `settled_to`, which is `age_days` before today."""

    query_key: str
    term: str | None
    settled_to: str | None
    age_days: int | None
    state: str | None
    job_id: str | None
    synced_at: str | None


class CorpusPage(Response):
    """All that the page shows; None where a store does not answer, which `problems` tell of.

    `days` are those from the first on which papers were stored, of the last `DAYS`, to today, without a gap.
    """

    papers: int | None
    passages: int | None
    queries: list[QueryShown] | None
    left_out: int
    days: list[DayShown] | None
    years: list[YearShown] | None
    problems: list[str]


@resource("console://corpora", name="corpora page", family=CONSOLE, scope="read", timeout=10)
def corpora_page(backends: Backends) -> CorpusPage:
    """What the corpus holds, and how fresh it is."""
    reading = Reading()
    followed = reading.of(lambda: list_queries(None, MOST_QUERIES, backends))
    counted = reading.of(lambda: backends.passages.count())
    stored = reading.of(lambda: backends.documents.stored_by_day(DAYS))
    years = reading.of(lambda: backends.passages.by_year())
    today, now = backends.today(), backends.now()
    return CorpusPage(
        papers=reading.of(lambda: backends.documents.count()),
        passages=counted and counted[1],
        queries=followed and [_query(each, today, now) for each in followed[0]],
        left_out=followed[1] if followed else 0,
        days=None if stored is None else _days(stored, now.astimezone(UTC).date()),
        years=None if years is None else [_year(each) for each in years],
        problems=reading.problems,
    )


def _query(query: FollowedQuery, today: date, now: datetime) -> QueryShown:
    settled = query.settled_to
    return QueryShown(
        query_key=query.checkpoint.query_key,
        term=query.checkpoint.term,
        settled_to=settled,
        age_days=(today - date.fromisoformat(settled)).days if settled else None,
        state=state_of(query.job, now) if query.job else None,
        job_id=query.job.job_id if query.job else None,
        synced_at=instant(query.job.updated) if query.job else None,
    )


def _year(count: YearCount) -> YearShown:
    return YearShown(year=count.year, design=count.design, documents=count.documents)


def _days(stored: Sequence[StoredDay], today: date) -> list[DayShown]:
    """Every day from the first one to today."""
    if not stored:
        return []
    by_day = {each.day: each for each in stored}
    every = map(date.fromordinal, range(stored[0].day.toordinal(), today.toordinal() + 1))
    known = (by_day.get(day, StoredDay(day)) for day in every)
    return [DayShown(day=each.day.isoformat(), added=each.added, revised=each.revised) for each in known]


PAGE = Page("/corpora", "corpora.html", corpora_page, "Corpora")
