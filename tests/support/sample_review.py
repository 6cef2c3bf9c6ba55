"""A review of the sample corpus: its papers, some of them decided."""

from datetime import UTC, datetime, timedelta

from bio_mcp.ports.stores import ReviewSearch, ScreeningLabel, review_of_query
from bio_mcp.screening.collecting import record_of

QUERY_KEY = "sample-review"
AT = datetime(2026, 1, 1, tzinfo=UTC)


def add_review(corpus):
    """The first half of the papers by one search, all by another; every second of the first six is included."""
    name, screenings = review_of_query(QUERY_KEY), corpus.screenings
    records = [record_of(each) for each in corpus.articles]
    names = tuple(each.record_id for each in records)
    half = names[: len(names) // 2]
    first = ReviewSearch("a", AT, "PubMed", "sample[ti]", len(half), half)
    second = ReviewSearch("b", AT + timedelta(days=1), "Scopus", "sample", len(names), names)
    labels = [
        ScreeningLabel(each, "abstract", "exclude" if at % 2 else "include", AT + timedelta(days=2, minutes=at))
        for at, each in enumerate(names[:6])
    ]
    screenings.put(name, [*records, first, second, *labels])
