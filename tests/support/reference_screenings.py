"""The port `Screenings` in its plainest form: dictionaries."""

from collections import defaultdict
from dataclasses import replace

from bio_mcp.ports.stores import ReviewRecord, ScreeningLabel


class ReferenceScreenings:
    """Reviews by name."""

    def __init__(self):
        self._records, self._labels, self._searches = (defaultdict(dict) for _ in range(3))
        self._writes = 0

    def put(self, review, things):
        for each in things:
            self._writes += 1
            if not isinstance(each, ReviewRecord):
                each = replace(each, number=self._writes)
            if isinstance(each, ReviewRecord):
                self._records[review][each.record_id] = each
            elif isinstance(each, ScreeningLabel):
                self._labels[review][each.record_id, each.stage] = each
            else:
                self._searches[review][each.search_id] = each

    def records(self, review):
        return [each for _, each in sorted(self._records[review].items())]

    def remove_labels(self, review, stage, record_ids):
        for record_id in record_ids:
            self._labels[review].pop((record_id, stage), None)

    def labels(self, review):
        return sorted(self._labels[review].values(), key=lambda each: each.number)

    def searches(self, review):
        return sorted(self._searches[review].values(), key=lambda each: each.number)

    def drop(self, review):
        for things in (self._records, self._labels, self._searches):
            things.pop(review, None)
