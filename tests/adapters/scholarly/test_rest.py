"""How any service is asked: at its pace, again where it may help, never beyond a call's time, and never silently."""

import json
import socket
from types import SimpleNamespace

import pytest

from bio_mcp.adapters.embedded.side_files import SqliteBudgets
from bio_mcp.adapters.scholarly import Crossref, Icite, Unpaywall
from bio_mcp.callers import Caller
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import BudgetSpent, DeadlineExceeded, InvalidInput, Misconfigured, UpstreamFailed
from bio_mcp.scope import Limits, Meter
from tests.support.scholarly_server.server import Fault
from tests.support.scopes import metered


@pytest.fixture
def icite(service):
    return service("NIH iCite", "icite/api")


def ask(service, pmids="1", deadline=NEVER):
    return service.json("pubs", {"pmids": pmids}, deadline=deadline)


def test_a_failure_that_passes_is_tried_again(icite, server, clock):
    server.faults += [Fault(status=503), Fault(status=200, body=b"<html>maintenance</html>")]
    assert ask(icite)["data"] == []
    assert clock.pauses == [1.0, 2.0]


def test_a_failure_that_stays_is_reported_with_the_service_and_no_address(icite, server):
    server.faults += [Fault(status=502)] * 3
    with pytest.raises(UpstreamFailed, match="NIH iCite is having trouble \\(HTTP 502\\)") as raised:
        ask(icite)
    assert raised.value.details == {"service": "NIH iCite", "http_status": 502, "tries": 3}
    assert raised.value.retryable
    assert "127.0.0.1" not in str(raised.value)


@pytest.mark.parametrize("status", [301, 403])
def test_what_will_fail_again_is_asked_once(icite, server, status):
    server.faults += [Fault(status=status, headers={"Location": "https://elsewhere.example"})]
    with pytest.raises(UpstreamFailed, match="refused the request") as raised:
        ask(icite)
    assert not raised.value.retryable
    assert len(server.requests) == 1


def test_a_service_that_is_asked_too_fast_is_left_alone_for_as_long_as_it_says(icite, server, clock):
    server.faults += [Fault(status=429, headers={"Retry-After": "7"})]
    assert ask(icite)["data"] == []
    assert clock.now == 7
    server.faults += [Fault(status=429)]
    with pytest.raises(UpstreamFailed, match="HTTP 429"):
        ask(icite, deadline=Deadline(3, clock))
    with pytest.raises(UpstreamFailed, match="NIH iCite asked us to slow down") as raised:
        ask(icite, deadline=Deadline(3, clock))
    assert raised.value.retry_after_s == 5


def test_no_service_stops_us_for_good(icite, server):
    server.faults += [Fault(status=429, headers={"Retry-After": "inf"})]
    with pytest.raises(UpstreamFailed) as raised:
        ask(icite)
    assert raised.value.retry_after_s == 600


def test_requests_keep_their_distance_and_who_cannot_wait_is_told(service, clock):
    paced = service("Crossref", "icite/api", gap_s=1.1)
    ask(paced)
    ask(paced)
    assert clock.now == pytest.approx(1.1)
    with pytest.raises(DeadlineExceeded, match="requests to Crossref are waiting"):
        ask(paced, deadline=Deadline(1, clock))


def test_each_request_is_charged_to_its_caller(icite):
    charged = []
    budgets = SimpleNamespace(spend=lambda charges: charged.extend(charges) or [])
    with metered(Meter(Caller("ada"), lambda: Limits(budgets, {"sources": 1}, {}, {}))):
        ask(icite)
    assert [(each.account, each.unit, each.amount) for each in charged] == [("caller:/ada", "sources", 1)]


def test_a_spent_budget_asks_nobody(icite, server, tmp_path, closed):
    budgets = closed(SqliteBudgets(tmp_path))
    with metered(Meter(Caller("ada"), lambda: Limits(budgets, {"sources": 1}, {}, {}))):
        ask(icite)
        with pytest.raises(BudgetSpent, match="1 requests to other literature services a day is used up"):
            ask(icite)
    assert len(server.requests) == 1


def test_a_silent_service_is_given_up_with_the_calls_time(icite, server):
    server.faults += [Fault(status=200, pause_s=0.3)]
    with pytest.raises(DeadlineExceeded, match="out of time"):
        ask(icite, deadline=Deadline(0.05))


def test_a_service_that_is_away_is_named(service, clock):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    away = service("NIH iCite", "", url=f"http://127.0.0.1:{port}")
    with pytest.raises(UpstreamFailed, match="NIH iCite could not be reached \\(ConnectError\\)"):
        ask(away)
    assert len(clock.pauses) == 2


def test_an_address_that_is_none_is_a_wrong_setting(service):
    with pytest.raises(Misconfigured, match="A_SETTING is not an http address"):
        ask(service("NIH iCite", "", url="icite"))


def test_text_that_cannot_be_sent_is_the_callers_mistake(icite, server):
    with pytest.raises(InvalidInput, match="surrogate"):
        ask(icite, "\ud800")
    assert server.requests == []


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b'{"a": ' + b"9" * 5_000 + b"}", b"\xff\xfe\x00"])
def test_json_that_cannot_be_read_is_a_failure_of_the_service(icite, server, body):
    server.faults += [Fault(status=200, body=body)] * 3
    with pytest.raises(UpstreamFailed, match="something else than an answer"):
        ask(icite)


ASKED = {
    "icite": lambda service: Icite(service).of(["1"], deadline=NEVER),
    "crossref": lambda service: Crossref(service, "10.1/control").of(["10.1021/am300292v"], deadline=NEVER),
    "unpaywall": lambda service: Unpaywall(service).copies("10.1000/a", deadline=NEVER),
}
OTHERWISE = {
    "icite": ({}, {"data": None}, {"data": [{"title": "no PMID"}]}),
    "crossref": ({}, {"message": {}}, {"message": {"items": [{"title": ["no DOI"]}]}}),
    "unpaywall": ({"error": False},),
}


@pytest.mark.parametrize(("name", "answer"), [(name, each) for name, them in OTHERWISE.items() for each in them])
def test_an_answer_of_another_form_is_a_failure_and_not_empty(service, server, name, answer):
    server.faults += [Fault(status=200, body=json.dumps(answer).encode())] * 3
    with pytest.raises(UpstreamFailed, match="something else than an answer"):
        ASKED[name](service(name, name))


def test_an_answer_that_is_too_long_is_not_asked_for_again(service, server, clock):
    with pytest.raises(UpstreamFailed, match="ask for less at once"):
        ask(service("NIH iCite", "icite/api", max_bytes=10))
    assert (len(server.requests), clock.pauses) == (1, [])


def test_a_failure_tells_no_one_the_e_mail_that_went_along(service, server):
    named = service("Crossref", "icite/api", always={"mailto": "ada@example.org"})
    server.faults += [Fault(status=403), *[Fault(status=500)] * 3]
    for _ in range(2):
        with pytest.raises(UpstreamFailed) as raised:
            ask(named)
        assert "ada" not in f"{raised.value} {raised.value.details}"
        assert raised.value.__cause__ is None
