"""The deployed stack as people see it, as a client outside does, and as one that has used up its budget."""

import httpx
import pytest
from starlette.responses import Response

from bio_mcp.adapters.aws.accounts import DynamoAuthorizations
from bio_mcp.callers import Caller
from bio_mcp.doors.auth.sessions import Sessions
from tests.all.emulated.conftest import SOME
from tests.doors.console.pages import Page
from tests.emulated.stack import ANSWER_S, until

pytestmark = pytest.mark.timeout(240)
PAGES = ["/", "/topics", "/library", "/graph", "/admin/corpora", "/admin/syncs", "/admin/evaluation", "/admin/connect"]


@pytest.fixture(scope="module")
def signed_in(up):
    """The cookie of somebody who has signed in."""
    store = DynamoAuthorizations(up.stack.client("dynamodb"), up.stack.table("AuthorizationsTable"))

    def cookie_of(subject, *scopes):
        answer = Response()
        Sessions(lambda: store, https=True).begin(Caller(subject, frozenset(scopes)), answer)
        return answer.headers["set-cookie"].partition(";")[0]

    return cookie_of


@pytest.fixture(scope="module")
def cookie(signed_in):
    return signed_in("ann", "read")


def page(up, path, **headers):
    return httpx.get(up.stack.mcp_url.removesuffix("/mcp") + path, headers=headers, timeout=ANSWER_S)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_shown_to_who_is_signed_in_and_nobody_else(up, cookie, path):
    assert page(up, path).status_code == 303
    shown = page(up, path, cookie=cookie)
    assert shown.status_code == 200, up.stack.log("console")[-3:]
    assert "<main" in shown.text


def test_a_search_on_the_page_is_made_by_the_function_that_searches(up, cookie):
    before = len(up.stack.log("search"))
    assert page(up, "/?q=depression", cookie=cookie).status_code == 200
    assert "ann" in {line.get("subject") for line in up.stack.log("search")[before:]}


def test_a_topic_is_followed_synced_and_read_and_is_followed_no_more(up, signed_in, papers):
    ben, ann = (signed_in(each, "read", "live", "sync", "admin") for each in ("ben", "ann"))
    topic = {"topic": papers.key}

    def sent(path, **fields):
        url, headers = up.stack.mcp_url.removesuffix("/mcp") + path, {"cookie": ben, "sec-fetch-site": "same-origin"}
        answer = httpx.post(url, data=fields, headers=headers, timeout=ANSWER_S)
        assert answer.status_code == 303, (answer.text, up.stack.log("console")[-3:])

    def shown(cookie):
        return Page(page(up, f"/topics?topic={papers.key}", cookie=cookie))

    def unread(cookie):
        return len(shown(cookie).all("h4"))

    sent("/topics", term=papers.event["arguments"]["term"], name=papers.key)
    papers.until_synced()
    assert (unread(ben), unread(ann)) == (SOME, SOME)
    sent("/topics/read", **topic, position=shown(ben).all("input", name="position")[0][1]["value"])
    assert (unread(ben), unread(ann)) == (0, SOME)
    until(lambda: "Sync now" in shown(ben).texts("button"), 60, "end of the sync")
    sent("/topics/remove", **topic)
    assert papers.checkpoint() == []
    assert shown(ben).status == 404


def test_a_token_of_the_command_opens_the_endpoint_until_an_administrator_ends_it_on_their_page(up, signed_in):
    token = up.stack.command("token", "--subject", "nightly-job", "--scopes", "read")["token"]
    boss, people = signed_in("boss", "read", "admin"), "/admin/people?subject=nightly-job"

    def status():
        headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        return httpx.post(up.stack.mcp_url, json=asked, headers=headers, timeout=ANSWER_S).status_code

    assert status() == 200
    [listed] = [each[1]["value"] for each in Page(page(up, people, cookie=boss)).all("input", name="id")]
    form = {"do": "end", "subject": "nightly-job", "id": listed}
    url, headers = up.stack.mcp_url.removesuffix("/mcp") + people, {"cookie": boss, "sec-fetch-site": "same-origin"}
    assert httpx.post(url, data=form, headers=headers, timeout=ANSWER_S).status_code == 303
    assert status() == 401


def test_a_report_that_is_gone_is_no_page(up, cookie):
    assert page(up, f"/admin/evaluation/reports/{'0' * 64}.html", cookie=cookie).status_code == 404


def test_the_pages_make_no_errors(up):
    assert up.stack.errors("console") == []


def test_a_client_outside_searches_with_a_token_of_its_own(up):
    functions, name = up.stack.client("lambda"), f"{up.stack.name}-heartbeat"
    variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    variables["BIO_MCP_HEARTBEAT_URL"] = up.stack.mcp_url
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": variables})
    answer = up.stack.invoke("heartbeat", {})
    assert answer["status"] == "ok"
    assert any("Heartbeats" in line for line in up.stack.log("heartbeat"))
    assert any(line.get("subject") == "heartbeat" for line in up.stack.log("search"))


def test_what_a_caller_has_used_is_counted_for_all_functions_together_and_more_is_refused(up):
    def search(subject):
        arguments = {"query": f"depression {subject}"}
        caller = {"subject": subject, "scopes": ["read"]}
        return up.stack.invoke("search", {"tool": "rag.search", "arguments": arguments, "caller": caller})

    answers = [search("thrifty") for _ in range(4)]
    [code] = {each["error"]["code"] for each in answers if "error" in each}
    assert code == "RATE_LIMIT"
    assert "error" not in search("somebody-else")
    refused = [line for line in up.stack.log("search") if line.get("failure") == "BudgetSpent"]
    assert refused
    assert any("thrifty" in item["name"]["S"] for item in up.stack.items("BudgetsTable"))
