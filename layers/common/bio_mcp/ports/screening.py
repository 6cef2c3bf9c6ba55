"""Reviews of literature: the records that are screened, how each was decided, and the searches that found them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

Decision = Literal["include", "exclude", "maybe"]
Stage = Literal["abstract", "full_text"]


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """A record as it was when it came into the review.

    `record_id` is a PMID, or `doi:10.1000/x`, or `title:` and a hash where there is neither.
    """

    record_id: str
    title: str
    abstract: str = ""
    year: int | None = None
    doi: str | None = None


@dataclass(frozen=True, slots=True)
class ScreeningLabel:
    """How a record was decided at a stage, by whom and when."""

    record_id: str
    stage: Stage
    decision: Decision
    at: datetime
    reason: str | None = None
    caller: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewSearch:
    """A search that brought records into a review. Equal searches have one `search_id`.

    `database` is what was searched, as "PubMed"; `method` is "database", or "other" for records that no query found.
    `found` counts what the search returned, before duplicates were removed; `record_ids` are those of the review.
    """

    search_id: str
    at: datetime
    database: str
    term: str | None
    found: int
    record_ids: tuple[str, ...]
    method: Literal["database", "other"] = "database"


def review_of_project(project_id: str) -> str:
    """The name of a project's review."""
    return f"project:{project_id}"


def review_of_query(query_key: str) -> str:
    """The name of the review of what a query key finds."""
    return f"query:{query_key}"


class Screenings(Protocol):
    """Reviews, by name; each begins with its first record. Every method may raise `StoreFailed`.

    A call that was killed may have written a part of what it was given; repeated, it writes the rest.
    """

    def put_records(self, review: str, records: Sequence[ReviewRecord]) -> None:
        """Add the records, or replace those of their ids. No two of a call may have one id."""
        ...

    def records(self, review: str) -> list[ReviewRecord]:
        """Return every record of the review, by id."""
        ...

    def put_labels(self, review: str, labels: Sequence[ScreeningLabel]) -> None:
        """Store the labels, each in place of its record's other one of the stage. No two of a call may be of one."""
        ...

    def remove_labels(self, review: str, stage: Stage, record_ids: Sequence[str]) -> None:
        """Take back the labels of the stage; records without one change nothing."""
        ...

    def labels(self, review: str) -> list[ScreeningLabel]:
        """Return every label of the review, the oldest first; of one moment, by id of the record, then by stage."""
        ...

    def put_search(self, review: str, search: ReviewSearch) -> None:
        """Store the search, in place of the one of its id."""
        ...

    def searches(self, review: str) -> list[ReviewSearch]:
        """Return the searches, the oldest first, then by id."""
        ...

    def drop(self, review: str) -> None:
        """Delete all that the review has."""
        ...
