"""The port `Screenings` in its plainest form: dictionaries."""

from collections import defaultdict
from dataclasses import replace

from bio_mcp.ports.stores import ReviewMerge, ReviewRecord, ReviewSearch, ScreeningLabel


def _id_of(thing):
    match thing:
        case ReviewRecord():
            return thing.record_id
        case ScreeningLabel():
            return thing.record_id, thing.stage, thing.whose
        case ReviewMerge():
            return thing.merge_id
    return thing.search_id


class ReferenceScreenings:
    """Reviews by name."""

    def __init__(self):
        self._plans, self._things, self._writes = {}, defaultdict(dict), 0

    def plan(self, review):
        return self._plans.get(review)

    def put_plan(self, review, plan):
        self._plans[review] = plan

    def reviews(self):
        return dict(sorted(self._plans.items()))

    def put(self, review, things):
        for each in things:
            self._writes += 1
            if isinstance(each, ScreeningLabel | ReviewSearch):
                each = replace(each, number=self._writes)
            self._things[review][type(each), _id_of(each)] = each

    def records(self, review):
        return sorted(self._of(review, ReviewRecord), key=lambda each: each.record_id)

    def remove_labels(self, review, labels):
        for each in labels:
            self._things[review].pop((ScreeningLabel, _id_of(each)), None)

    def labels(self, review):
        return sorted(self._of(review, ScreeningLabel), key=lambda each: each.number)

    def searches(self, review):
        return sorted(self._of(review, ReviewSearch), key=lambda each: each.number)

    def merges(self, review):
        return sorted(self._of(review, ReviewMerge), key=lambda each: each.merge_id)

    def remove_merge(self, review, merge_id):
        self._things[review].pop((ReviewMerge, merge_id), None)

    def drop(self, review):
        self._things.pop(review, None)
        self._plans.pop(review, None)

    def _of(self, review, kind):
        return [each for each in self._things[review].values() if isinstance(each, kind)]
