"""Records, labels and searches of reviews as JSON rows."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from bio_mcp.literature.clock import sortable
from bio_mcp.ports.screening import ReviewRecord, ReviewSearch, ScreeningLabel


def label_row(label: ScreeningLabel) -> dict[str, Any]:
    """The label as JSON."""
    return {**asdict(label), "at": sortable(label.at)}


def label_of(row: dict[str, Any]) -> ScreeningLabel:
    """The label that `label_row` wrote."""
    return ScreeningLabel(**{**row, "at": datetime.fromisoformat(row["at"])})


def search_row(search: ReviewSearch) -> dict[str, Any]:
    """The search as JSON."""
    return {**asdict(search), "at": sortable(search.at)}


def search_of(row: dict[str, Any]) -> ReviewSearch:
    """The search that `search_row` wrote."""
    moment = datetime.fromisoformat(row["at"])
    return ReviewSearch(**{**row, "at": moment, "record_ids": tuple(row["record_ids"])})


def record_of(row: dict[str, Any]) -> ReviewRecord:
    """The record of `asdict`."""
    return ReviewRecord(**row)


def by_time(labels: list[ScreeningLabel]) -> list[ScreeningLabel]:
    """The labels in the order that the port promises."""
    return sorted(labels, key=lambda each: (each.at, each.record_id, each.stage))
