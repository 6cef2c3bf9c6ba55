"""Invoking a function over real HTTP: what is sent once, what twice, and what Lambda's answers come to."""

import socket
import time
from contextlib import closing
from types import SimpleNamespace

import pytest
from botocore.config import Config

from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.adapters.aws.messages import LARGEST, LambdaFunctions
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, FunctionBroke, InvalidInput, UpstreamFailed
from tests.adapters.json_endpoint import JsonEndpoint
from tests.support.aws_ports import NOBODY

pytestmark = pytest.mark.usefixtures("nobody")
EVENT = {"tool": "sample.echo", "arguments": {"text": "β"}, "correlation_id": "c"}


class Lambda(JsonEndpoint):
    """Lambda's Invoke, as far as it matters: answers in turn what it was told to, and keeps the requests."""

    def answer(self, body, status=200, **headers):
        self.script.append((status, headers, body))

    def refuse(self, status, kind):
        self.answer({"message": "arn:aws:lambda:secret"}, status, **{"x-amzn-ErrorType": kind})

    def break_off(self, kind, message="KeyError: /var/task/secret"):
        body = {"errorType": kind, "errorMessage": message, "stackTrace": ["/var/task/app.py"]}
        self.answer(body, **{"X-Amz-Function-Error": "Unhandled"})


def hang_up(_event):
    """The function ran, and nobody hears of it."""
    raise ConnectionAbortedError


def functions_at(url):
    patience = Config(connect_timeout=0.3, read_timeout=0.3, retries={"total_max_attempts": 1})
    made = Clients().make("lambda", patience, url)
    return LambdaFunctions(lambda _config: made)


@pytest.fixture(scope="module")
def standing():
    service = Lambda({"body": {}, "audit": {}})
    with pytest.MonkeyPatch.context() as environment, closing(service):
        for name, value in NOBODY.items():
            environment.setenv(name, value)
        yield service, functions_at(service.base_url.removesuffix("/v1"))


@pytest.fixture
def service(standing):
    for kept in (standing[0].requests, standing[0].paths, standing[0].script):
        kept.clear()
    return standing[0]


@pytest.fixture
def invoke(service, standing):
    def call(event=EVENT, repeatable=False, seconds=5):
        return standing[1].invoke("search", event, Deadline(seconds), repeatable=repeatable)

    return call


def test_the_answer_is_the_functions(service, invoke):
    service.answer({"body": {"x": "ü"}, "audit": {}})
    assert invoke() == {"body": {"x": "ü"}, "audit": {}}
    assert (service.requests, service.paths) == ([EVENT], ["/2015-03-31/functions/search/invocations"])


@pytest.mark.parametrize(
    ("status", "kind", "retryable", "says"),
    [
        (429, "TooManyRequestsException", True, "too many calls"),
        (500, "ServiceException", True, "could not be called"),
        (502, "EC2ThrottledException", True, "could not be called"),
        (403, "AccessDeniedException", False, "policy of its role"),
        (404, "ResourceNotFoundException", False, "BIO_MCP_FUNCTIONS"),
    ],
)
def test_a_refusal_is_a_failure_that_helps_and_is_not_tried_again(service, invoke, status, kind, retryable, says):
    service.refuse(status, kind)
    with pytest.raises(UpstreamFailed, match=says) as caught:
        invoke(repeatable=True)
    assert caught.value.retryable is retryable
    assert "secret" not in str(caught.value)
    assert len(service.requests) == 1


def test_arguments_that_lambda_does_not_take_are_the_callers(service, invoke):
    with pytest.raises(InvalidInput, match="at most 6 MB"):
        invoke({**EVENT, "arguments": {"text": "x" * LARGEST}})
    assert service.requests == []
    for kind in ("RequestTooLargeException", "InvalidRequestContentException"):
        service.refuse(413, kind)
        with pytest.raises(InvalidInput):
            invoke()


@pytest.mark.parametrize(
    ("kind", "message"),
    [("Sandbox.Timedout", ""), ("Runtime.ExitError", "2026-11-21T00:00:00Z 6b1b Task timed out after 15.00 seconds")],
)
def test_a_function_that_ran_out_of_time_is_a_deadline(service, invoke, kind, message):
    service.break_off(kind, message)
    with pytest.raises(DeadlineExceeded, match="safe to repeat"):
        invoke()


def test_an_answer_too_long_says_to_ask_for_less_and_a_function_that_broke_says_nothing_of_itself(service, invoke):
    service.break_off("Function.ResponseSizeTooLarge")
    with pytest.raises(InvalidInput, match="ask for less"):
        invoke()
    service.break_off("KeyError")
    service.answer(b"no JSON", **{"X-Amz-Function-Error": "Unhandled"})
    for said in ("KeyError", "unknown"):
        with pytest.raises(FunctionBroke, match=f"^{said}$"):
            invoke()


def test_an_answer_that_does_not_come_is_a_deadline_and_the_event_is_sent_once(service, invoke):
    service.answer(lambda _event: time.sleep(0.6))
    with pytest.raises(DeadlineExceeded, match="did not come in time"):
        invoke(repeatable=True)
    assert len(service.requests) == 1


def test_over_a_connection_that_broke_a_read_is_sent_again_and_a_write_is_not(service, invoke):
    service.answer(hang_up)
    assert invoke(repeatable=True) == {"body": {}, "audit": {}}
    service.answer(hang_up)
    with pytest.raises(UpstreamFailed, match="safe to repeat"):
        invoke(repeatable=False)
    assert len(service.requests) == 2 + 1


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def test_nobody_there_is_a_failure_to_try_again():
    functions = functions_at(f"http://127.0.0.1:{closed_port()}")
    with pytest.raises(UpstreamFailed, match="could not be reached") as caught:
        functions.invoke("search", EVENT, Deadline(5), repeatable=False)
    assert caught.value.retryable


def test_a_call_that_was_never_sent_is_made_again_even_if_it_writes(service):
    once, url = Config(retries={"total_max_attempts": 1}), service.base_url.removesuffix("/v1")
    left = [Clients().make("lambda", once, each) for each in (url, f"http://127.0.0.1:{closed_port()}")]
    moving = SimpleNamespace(invoke=lambda **given: left.pop().invoke(**given))
    functions = LambdaFunctions(lambda _config: moving)
    assert functions.invoke("sync_delta", EVENT, Deadline(5), repeatable=False) == {"body": {}, "audit": {}}
    assert len(service.requests) == 1


def test_there_is_a_client_for_each_patience_and_no_more():
    asked = []
    functions = LambdaFunctions(lambda config: asked.append(config.read_timeout))
    for seconds in (5, 8, 5, 8, 27, float("inf")):
        functions.prepare(seconds)
    assert asked == [7, 10, 28]  # the front door itself has 29
