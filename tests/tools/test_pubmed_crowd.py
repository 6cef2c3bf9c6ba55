"""Fifty callers at once: NCBI's rate holds, and each has an answer or an error within the time of a call."""

import json
import threading
from collections import Counter
from itertools import pairwise
from urllib.parse import parse_qs

import httpx
import pytest

from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.transport import HttpTransport
from bio_mcp.adapters.rate_limit import GAP_S, GAP_WITH_KEY_S, LocalRateLimiter
from bio_mcp.adapters.retry import Backoff
from bio_mcp.call import call
from bio_mcp.deadline import Deadline
from bio_mcp.tools.pubmed import TIMEOUT_S, fetch_details, relate, search_pubmed
from tests.adapters.clocks import SharedClock
from tests.adapters.entrez.scripted import article_set, found, message

CALLERS = 50
FRONT_END_S = 29


class Ncbi:
    """Answers everything, each `stumbles`-th time with an error, and writes down when it was asked (played time)."""

    def __init__(self, clock, stumbles):
        self.clock, self.stumbles = clock, stumbles
        self.starts = []
        self.lock = threading.Lock()

    def __call__(self, request):
        with self.lock:
            self.starts.append(self.clock.now)
            number = len(self.starts)
        if self.stumbles and number % self.stumbles == 0:
            return message("<html>Bad Gateway</html>", 502)
        return self.answer(request.url.path.rpartition("/")[2], parse_qs(request.content.decode()))

    def answer(self, utility, form):
        if utility == "esearch.fcgi":
            return found(3, 2, 1, webenv="MCID_1", querykey="1")
        if utility == "efetch.fcgi":
            return message(article_set(*map(int, form["id"][0].split(","))))
        if utility == "elink.fcgi":
            links = [{"id": "1", "score": 9}, {"id": "2", "score": 3}]
            listed = {"dbto": "pubmed", "linkname": "pubmed_pubmed", "links": links}
            return message({"linksets": [{"ids": form["id"], "linksetdbs": [listed]}]})
        ids = form["id"][0].split(",") if "id" in form else ["3", "2", "1"]
        return message({"result": {"uids": ids, **{pmid: {"uid": pmid, "title": "T"} for pmid in ids}}})


class Backends:
    def __init__(self, clock, gap, stumbles):
        self.ncbi = Ncbi(clock, stumbles)
        wire = HttpTransport("https://ncbi.test/", identity={"tool": "t"}, transport=httpx.MockTransport(self.ncbi))
        backoff = Backoff(rng=lambda: 0.5, sleep=clock.sleep)
        self.pubmed = Eutils(wire, pacer=LocalRateLimiter(gap, clock, clock.sleep), backoff=backoff)


CALLS = (
    (search_pubmed, {"queryTerm": "asthma", "fetchBriefSummaries": 3}),
    (fetch_details, {"pmids": ["1", "2"]}),
    (relate, {"sourcePmid": "1"}),
)


def crowd(gap, stumbles):
    """(start times, [(answer, when it came)])."""
    clock = SharedClock(CALLERS)
    backends = Backends(clock, gap, stumbles)
    ended = []

    def ask(number):
        tool, arguments = CALLS[number % len(CALLS)]
        outcome = call(tool, arguments, backends, deadline=Deadline(TIMEOUT_S, clock))
        ended.append((outcome.body, clock.now))
        clock.leave()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return backends.ncbi.starts, ended


@pytest.mark.parametrize("stumbles", [0, 7])
@pytest.mark.parametrize("gap", [GAP_S, GAP_WITH_KEY_S], ids=["without a key", "with a key"])
def test_fifty_callers_never_break_the_rate_and_all_end_in_time(gap, stumbles):
    starts, ended = crowd(gap, stumbles)
    assert len(ended) == CALLERS
    assert all(later - earlier >= gap - 1e-9 for earlier, later in pairwise(starts))
    assert max(when for _, when in ended) <= TIMEOUT_S < FRONT_END_S
    kinds = Counter(kind(body) for body, _ in ended)
    assert kinds["complete"] > 0
    assert set(kinds) <= {"complete", "partial", "TIMEOUT", "NCBI_API_ERROR"}
    if gap == GAP_WITH_KEY_S and not stumbles:
        assert kinds == {"complete": CALLERS}


def kind(body):
    """What became of a call; nobody is told that there is nothing."""
    if "error" in body:
        assert body["error"]["details"]["retryable"] is True
        assert body["error"]["details"]["status"] in ("throttled", "upstream_failed")
        return body["error"]["code"]
    assert body.get("pmids") or body.get("articles") or body.get("relatedArticles"), json.dumps(body)
    return body["status"]
