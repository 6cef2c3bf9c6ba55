import pytest

from bio_mcp.adapters.opensearch.client import Busy, IndexRefused
from bio_mcp.deadline import Deadline
from bio_mcp.scope import bounded_by
from tests.adapters.opensearch.fake import Scripted

REJECTED = (429, {"error": {"type": "circuit_breaking_exception"}, "status": 429})


UNREADABLE = [(200, b'{"took"'), (200, b""), (200, b"[]"), (200, b"<html>", "text/html"), (302, b"<html>", "text/html")]


@pytest.mark.parametrize(
    "fault", [REJECTED, (503, b"[]"), (502, b""), (504, b"<html>", "text/html"), *UNREADABLE, None]
)
def test_what_passes_is_tried_again_after_growing_pauses(fault):
    server = Scripted(fault, fault, (200, {"took": 1}))
    assert server.transport().ask("GET", "/x") == {"took": 1}
    assert server.pauses == [1, 2]


def test_what_does_not_pass_is_raised_in_the_end():
    server = Scripted(*[REJECTED] * 3)
    with pytest.raises(Busy, match="429") as raised:
        server.transport().ask("GET", "/x")
    assert raised.value.retryable
    assert raised.value.details["tries"] == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_a_refusal_is_reported_by_status_and_kind_and_not_tried_again(status):
    server = Scripted((status, {"error": {"type": "security_exception", "reason": "no permissions for [secret]"}}))
    with pytest.raises(IndexRefused, match=f"{status} security_exception") as raised:
        server.transport().ask("GET", "/x")
    assert raised.value.retryable == (status == 500)
    assert "secret" not in str(raised.value)
    assert not server.pauses


@pytest.mark.parametrize("answer", [{"message": "Forbidden"}, [], "Forbidden"])
def test_a_refusal_by_something_else_than_opensearch_is_reported_by_its_status(answer):
    with pytest.raises(IndexRefused, match="403 unknown_error"):
        Scripted((403, answer)).transport().ask("GET", "/x")


def test_a_request_has_the_time_that_is_left_and_three_seconds_of_it_to_connect():
    server = Scripted((200, {}), (200, {}))
    server.transport(read_s=7).ask("GET", "/x", {"size": 0})
    server.transport(read_s=0.5).ask("GET", "/x", {"size": 0})
    [patient, hasty] = [timeout for _, timeout in server.sent]
    assert (patient.connect_timeout, hasty.connect_timeout) == (3.0, hasty.read_timeout)
    assert 6 < patient.read_timeout <= 7
    assert 0.1 <= hasty.read_timeout <= 0.5
    assert [method for method, *_ in server.asked] == ["GET", "GET"]  # all that a reader's policy allows


def test_a_call_with_little_time_left_waits_no_longer_for_opensearch():
    server = Scripted((200, {}))
    with bounded_by(Deadline(0.4)):
        server.transport(read_s=7).ask("GET", "/x")
    [(_, timeout)] = server.sent
    assert 0.1 <= timeout.read_timeout <= 0.4


def test_no_pause_outlasts_the_time_there_is():
    server = Scripted(*[REJECTED] * 3)
    with pytest.raises(Busy):
        server.transport(read_s=0.5).ask("GET", "/x")
    assert len(server.asked) == 1
