"""Long work as tasks (SEP-2663), over HTTP, in a real corpus and the local NCBI."""

from datetime import date

import pytest

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.mcp.tasks import EXTENSION, WAIT_S
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.doors.running import in_process
from bio_mcp.jobs.runner import stall
from bio_mcp.settings import Settings
from tests.doors.auth.minting import SECRET, hs256
from tests.doors.serving import running
from tests.doors.wire import post
from tests.support.corpus import Corpus

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
DECLARED = {"_meta": {CAPABILITIES: {"extensions": {EXTENSION: {}}}}}
DAY = '"2021/06/06"[crdt] : "2021/06/06"[crdt]'
SYNC = {"name": "pubmed_sync_delta", "arguments": {"query_key": "k", "term": DAY, "confirm": True}}


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as made:
        yield made


class Served:
    """The endpoint over a corpus. `seconds`: what a sync has left when it begins; `deadlines`: what each call had."""

    def __init__(self, corpus, seconds=0.0):
        self.invoke, self.seconds, self.deadlines = in_process(corpus), seconds, []

    def __call__(self, what, arguments, context):
        self.deadlines.append((what.name, context.deadline.remaining))
        if what.name == SYNC["name"].replace("_", ".", 1) and "job_id" not in arguments:
            object.__setattr__(context, "deadline", Deadline(self.seconds))
        return self.invoke(what, arguments, context)


@pytest.fixture
def served(corpus):
    made = Served(corpus)
    app = mcp_http.serving(mcp_server.server(TOOLS.values(), RESOURCES.values(), made))
    with running(app) as base:
        made.url = f"{base}/mcp"
        yield made


def asked(served, method, version="2026-07-28", **params):
    return post(served.url, method, {**DECLARED, **params}, version).json()


def begun(served):
    return asked(served, "tools/call", **SYNC)["result"]


def task(served, task_id):
    return asked(served, "tasks/get", taskId=task_id)["result"]


def test_a_call_that_goes_on_is_a_task_which_ends_with_the_result_of_the_tool(served, corpus, ncbi):
    made = begun(served)
    assert (made["resultType"], made["status"]) == ("task", "working")
    assert made["pollIntervalMs"] < made["ttlMs"]
    assert task(served, made["taskId"])["status"] == "working"
    while work_once(corpus.continuations, TOOLS, corpus):
        pass
    ended = task(served, made["taskId"])
    body, wanted = ended["result"]["structuredContent"], len(ncbi.control.pmids("crdt", "2021/06/06", "2021/06/06"))
    assert (ended["resultType"], ended["status"], body["state"]) == ("complete", "completed", "complete")
    assert body["inserted"] == wanted > 0
    assert ended["statusMessage"] == f"{wanted} of {wanted}"
    assert task(served, made["taskId"])["result"]["structuredContent"] == body


def test_a_result_that_a_task_gave_is_not_given_to_the_next_call_again(served, corpus):
    made = begun(served)
    while work_once(corpus.continuations, TOOLS, corpus):
        pass
    task(served, made["taskId"])
    assert begun(served)["taskId"] != made["taskId"]


def test_the_result_of_a_task_can_be_had_while_the_next_sync_runs(served, corpus):
    made = begun(served)
    while work_once(corpus.continuations, TOOLS, corpus):
        pass
    assert corpus.leases.acquire("sync:k", "another run", 60)
    assert task(served, made["taskId"])["result"]["structuredContent"]["state"] == "complete"


def test_a_client_without_tasks_is_told_that_the_sync_goes_on(served):
    answer = post(served.url, "tools/call", SYNC).json()["result"]
    assert answer["resultType"] == "complete"
    assert answer["structuredContent"]["state"] == "continues"


def test_a_client_with_tasks_waits_for_seconds_and_others_as_long_as_the_tool_may_take(served):
    begun(served)
    post(served.url, "tools/call", SYNC)
    first, second = (left for name, left in served.deadlines if name == "pubmed.sync_delta")
    assert first <= WAIT_S < second


def test_a_call_that_ends_at_once_is_no_task(served):
    served.seconds = 60.0
    answer = begun(served)
    assert (answer["resultType"], answer["structuredContent"]["state"]) == ("complete", "complete")
    state = asked(served, "tools/call", name="corpus_checkpoint_get", arguments={"query_key": "k"})["result"]
    assert state["structuredContent"]["term"] == DAY


def test_a_task_that_is_cancelled_ends_and_its_continuation_does_nothing(served, corpus):
    made = begun(served)
    assert asked(served, "tasks/cancel", taskId=made["taskId"])["result"]["resultType"] == "complete"
    assert task(served, made["taskId"])["status"] == "cancelled"
    while work_once(corpus.continuations, TOOLS, corpus):
        pass
    assert task(served, made["taskId"])["status"] == "cancelled"
    assert corpus.documents.count() == 0
    assert "result" in asked(served, "tasks/cancel", taskId=made["taskId"]), "once more changes nothing"


def test_a_task_that_nothing_continues_says_why_and_what_to_do(served, corpus):
    made = begun(served)
    stall(made["taskId"], "NCBI was down for a day", corpus)
    ended = task(served, made["taskId"])
    assert (ended["status"], ended["result"]["isError"]) == ("completed", True)
    assert "NCBI was down for a day. Call pubmed.sync_delta again" in ended["result"]["content"][0]["text"]


def test_an_update_of_a_task_is_acknowledged_and_changes_nothing(served):
    made = begun(served)
    assert asked(served, "tasks/update", taskId=made["taskId"], inputResponses={})["result"]["resultType"] == "complete"
    assert task(served, made["taskId"])["status"] == "working"


def test_to_end_a_task_takes_the_scope_that_ending_a_job_takes(corpus):
    settings = Settings(auth_secret=SECRET)
    app = mcp_http.application(settings, in_process(corpus), access(settings), public=True)
    with running(app) as base:

        def cancelled_by(scope):
            token = f"Bearer {hs256(scope=scope)}"
            return post(f"{base}/mcp", "tasks/cancel", {**DECLARED, "taskId": "sync_nothing"}, authorization=token)

        assert cancelled_by("read sync").status_code == 403
        assert 'scope="admin"' in cancelled_by("read sync").headers["www-authenticate"]
        assert cancelled_by("read admin").json()["error"]["code"] == -32602, "there is no such task"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_an_unknown_task_is_refused(served, method):
    for unknown in ("sync_nothing", "../jobs", "x" * 201):
        assert asked(served, method, taskId=unknown, inputResponses={})["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_client_that_did_not_declare_the_extension_is_told_to(served, method):
    answer = post(served.url, method, {"taskId": "x", "inputResponses": {}}).json()["error"]
    assert answer["code"] == -32021
    assert answer["data"] == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}


def test_the_header_that_names_a_task_must_be_there_and_fit(served):
    params = {**DECLARED, "taskId": begun(served)["taskId"]}
    assert post(served.url, "tasks/get", params, **{"mcp-name": "another"}).json()["error"]["code"] == -32020


def test_older_revisions_have_no_such_tasks(served):
    answer = asked(served, "tasks/get", version="2025-11-25", taskId="x")
    assert answer["error"]["code"] == -32601


def test_the_extension_is_offered_by_servers_with_jobs_alone(served):
    assert asked(served, "server/discover")["result"]["capabilities"]["extensions"][EXTENSION] == {}
    with running(mcp_http.serving(mcp_server.server([], [], served))) as base:
        found = post(f"{base}/mcp", "server/discover").json()["result"]["capabilities"]
    assert EXTENSION not in found["extensions"]


def test_a_client_that_can_ask_its_user_is_asked_before_there_is_a_task(served):
    served.seconds = 60.0
    able = {"_meta": {CAPABILITIES: {"extensions": {EXTENSION: {}}, "elicitation": {}}}}
    typed = {"name": SYNC["name"], "arguments": {"query_key": "k", "term": "cancer OR zzyzzyva"}}
    question = asked(served, "tools/call", **able, **typed)["result"]
    assert question["resultType"] == "input_required"
    [form] = question["inputRequests"].values()
    assert form["params"]["message"] == "PubMed does not know 'zzyzzyva'"
    said = {"confirm": {"action": "accept", "content": {"yes": True}}}
    answer = {"inputResponses": said, "requestState": question["requestState"]}
    done = asked(served, "tools/call", **able, **typed, **answer)["result"]
    assert done["structuredContent"]["state"] == "complete"
