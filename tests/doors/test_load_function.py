"""The steps of bulk loads as a function that a state machine calls."""

import json

import pytest
from pydantic import ValidationError

from bio_mcp.doors.aws.load_function import load_handler
from bio_mcp.errors import NcbiUnreadable, StoreFailed
from bio_mcp.syncing.bulk_load import Loading
from tests.doors.lambda_bridge import context
from tests.support.folder_files import FolderFiles

ITEM = {"name": "pubmed26n0001.xml.gz", "tag": "t", "has_md5": False}


@pytest.fixture
def files(tmp_path):
    return FolderFiles(tmp_path)


@pytest.fixture
def handler(files):
    return load_handler(lambda deadline: Loading(files, None, None, deadline))


class Failing:
    def __init__(self, failure):
        self._failure = failure

    def __getattr__(self, _step):
        raise self._failure


def failing(failure):
    return load_handler(lambda _deadline: Failing(failure))


def call(handler, step, **event):
    return handler({"step": step, "run": "r1", **event}, context(900_000))


def test_a_run_without_files_is_over_at_once(handler):
    given = {"fetch": False, "again": False}
    assert call(handler, "begin", given=given) == {"count": 0, "key": "load/runs/r1/fetch"}
    assert call(handler, "survey") == {"count": 0, "key": "load/runs/r1/list"}
    assert call(handler, "plan", given=given) == {"count": 0, "key": "load/runs/r1/load"}
    assert call(handler, "report") == {"files": 0, "loaded": 0, "failed": 0}


def test_a_step_has_until_shortly_before_lambda_ends_it():
    seen = []

    def loading(deadline):
        seen.append(deadline.remaining)
        raise StoreFailed("busy")

    with pytest.raises(StoreFailed):
        load_handler(loading)({"step": "survey", "run": "r1"}, context(900_000))
    assert 898 < seen[0] < 899


def test_a_failure_that_may_pass_is_raised_and_one_of_a_file_that_does_not_is_its_end():
    with pytest.raises(StoreFailed):
        call(failing(StoreFailed("busy")), "list", item=ITEM)
    answer = call(failing(NcbiUnreadable("It is cut short.", retryable=False)), "list", item=ITEM)
    assert answer == {"run": "r1", "item": ITEM, "wait_s": 0, "state": "failed", "reason": "It is cut short."}
    with pytest.raises(NcbiUnreadable):
        call(failing(NcbiUnreadable("It is cut short.", retryable=False)), "plan")


def noted(handler, files, end):
    call(handler, "note", stage="list", item=ITEM, end=end)
    return json.loads(files.get(f"runs/r1/failed/{ITEM['name']}"))


def test_a_note_has_our_sentence(handler, files):
    found = noted(handler, files, {"state": "failed", "reason": "It is cut short."})
    assert found == {"file": ITEM["name"], "stage": "list", "reason": "It is cut short."}


@pytest.mark.parametrize("end", [{}, {"state": "more"}, {"failure": {}}, {"failure": {"Cause": "/var/task/secret"}}])
def test_a_note_of_an_unknown_end_has_nothing_of_the_functions_own_message(handler, files, end):
    assert noted(handler, files, end)["reason"] == "the function ended (unknown), also when it was tried again"


def test_a_note_of_any_other_end_has_its_kind(handler, files):
    end = {"state": "more", "failure": {"Error": "Sandbox.Timedout", "Cause": "/var/task/secret"}}
    assert noted(handler, files, end)["reason"] == "the function ended (Sandbox.Timedout), also when it was tried again"


@pytest.mark.parametrize("event", [{}, {"step": "drop", "run": "r1"}, {"step": "plan", "run": "../x"}])
def test_an_event_that_is_no_step_is_refused(handler, event):
    with pytest.raises(ValidationError):
        handler(event, context())
