"""The port `Answers` in its plainest form: a dictionary."""

from dataclasses import replace

from bio_mcp.errors import NotFound


class ReferenceAnswers:
    """Answers by id."""

    def __init__(self):
        self._by_id = {}

    def put(self, answer):
        flagged = _ordered({span.pmid for span in answer.spans} & set(answer.flagged))
        self._by_id.setdefault(answer.answer_id, replace(answer, flagged=flagged))

    def get(self, answer_id):
        if answer_id not in self._by_id:
            raise NotFound(f"There is no answer {answer_id!r}; answers are stored for two years")
        return self._by_id[answer_id]

    def citing(self, pmid):
        found = [each for each in self._by_id.values() if pmid in {span.pmid for span in each.spans}]
        return sorted(found, key=lambda each: each.answer_id)

    def flag(self, pmid):
        for each in self.citing(pmid):
            self._by_id[each.answer_id] = replace(each, flagged=_ordered({*each.flagged, pmid}))

    def flagged(self, limit):
        found = [each for each in self._by_id.values() if each.flagged]
        return found[::-1][:limit]


def _ordered(pmids):
    return tuple(sorted(pmids, key=int))
