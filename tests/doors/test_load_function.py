"""The steps of bulk loads as a function that a state machine calls."""

import json

import pytest
from pydantic import ValidationError

from bio_mcp.doors.aws.load_function import Unloadable, load_handler
from bio_mcp.errors import NcbiUnreadable, StoreFailed
from bio_mcp.syncing.loading.steps import Loading
from tests.doors.lambda_bridge import context
from tests.folder_files import FolderFiles

ITEM = {"name": "pubmed26n0001.xml.gz", "tag": "t", "has_md5": False}


@pytest.fixture
def files(tmp_path):
    return FolderFiles(tmp_path)


@pytest.fixture
def handler(files):
    return load_handler(lambda deadline: Loading(files, None, None, deadline))


def failing(failure):
    def loading(_deadline):
        raise failure

    return load_handler(loading)


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


def test_what_may_pass_is_tried_again_by_its_own_name_and_what_does_not_is_unloadable():
    with pytest.raises(StoreFailed):
        call(failing(StoreFailed("busy")), "list", item=ITEM)
    with pytest.raises(Unloadable, match="cut short"):
        call(failing(NcbiUnreadable("cut short", retryable=False)), "list", item=ITEM)


def noted(handler, files, failure):
    call(handler, "note", stage="list", item=ITEM, failure=failure)
    return json.loads(files.get(f"runs/r1/failed/{ITEM['name']}"))


def test_a_note_has_our_sentence(handler, files):
    cause = json.dumps({"errorType": "Unloadable", "errorMessage": "It is cut short.", "stackTrace": ["/var/task"]})
    found = noted(handler, files, {"Error": "Unloadable", "Cause": cause})
    assert found == {"file": ITEM["name"], "stage": "list", "reason": "It is cut short."}


@pytest.mark.parametrize("cause", [None, "", "[]", "not JSON", '{"errorMessage": "/var/task/secret"}'])
def test_a_note_has_the_kind_of_any_other_end_and_nothing_of_what_the_function_said(handler, files, cause):
    found = noted(handler, files, {"Error": "Sandbox.Timedout", "Cause": cause})
    assert found["reason"] == "the function ended (Sandbox.Timedout), also when it was tried again"


@pytest.mark.parametrize("cause", [None, "", "[]", "not JSON", "{}"])
def test_a_note_without_our_sentence_has_the_kind(handler, files, cause):
    assert noted(handler, files, {"Error": "Unloadable", "Cause": cause})["reason"] == "Unloadable"


@pytest.mark.parametrize("event", [{}, {"step": "drop", "run": "r1"}, {"step": "plan", "run": "../x"}])
def test_an_event_that_is_no_step_is_refused(handler, event):
    with pytest.raises(ValidationError):
        handler(event, context())
