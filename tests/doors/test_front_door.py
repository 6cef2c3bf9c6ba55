"""The front door over functions of their own, and the pages for people: what they call, and what they do themselves."""

import base64
import io
import json
import logging
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import jwt
import pytest
from starlette.responses import Response

from bio_mcp.adapters.embedded.side_files import SqliteAuthorizations
from bio_mcp.call import call
from bio_mcp.callers import Caller
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.auth import server as site
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.sessions import People, Sessions
from bio_mcp.doors.aws.authorize_function import authorize_handler
from bio_mcp.doors.aws.console_function import console_handler
from bio_mcp.doors.console import people
from bio_mcp.doors.console.library import PART, address_of, keep_file, keep_part
from bio_mcp.doors.console.reviews import VIEWS
from bio_mcp.doors.console.search import answer_page
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.ingesting.added import Upload
from bio_mcp.ingesting.files import FILES, STORED_PDF, stored_pdf_key
from bio_mcp.literature.citing import cite
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.stores import StoredAnswer
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tools.ingest import ingest_from_source
from scripts.template.functions import declared
from tests.doors.auth.handlers import bearer, door
from tests.doors.auth.minting import RESOURCE, SECRET, hs256
from tests.doors.console.busy import add_everything
from tests.doors.console.pages import Page, browser
from tests.doors.lambda_bridge import context
from tests.support.aws_template import of
from tests.support.sample_corpus import articles
from tests.support.sample_graph import add_graph
from tests.support.sample_job import QUERY
from tests.support.sample_project import PROJECT
from tests.support.touched_ports import Recorder, small_corpus

MODULES = sorted({each.lambda_module for each in (*TOOLS.values(), *RESOURCES.values())})
NAMED = ",".join(f"{module}=arn:aws:lambda:us-east-1:000000000000:function:bio-{module}" for module in MODULES)
PDF = (Path(__file__).parents[1] / "data/pdf/demarchis2016.pdf").read_bytes()
UNCHECKED = {"verify_signature": False}
LOCKED = {"MCP_AUTH_SECRET_KEY": SECRET, "MCP_AUTH_AUDIENCE": "bio-mcp"}
FOUND = {
    "results": [],
    "total": 0,
    "interpreted": {"kind": "question", "text": "heart"},
    "status": "complete",
    "reasons": [],
    "warnings": [],
}
BODY = {"queries": [{"query_key": "statins"}], "left_out": 0, **FOUND}


class Functions:
    """Answers every event alike, and keeps them."""

    def __init__(self):
        self.invoked, self.prepared = [], []

    def invoke(self, function, event, _deadline, *, repeatable):
        self.invoked.append((function, event, repeatable))
        return {"body": BODY, "audit": {"status": "ok", "correlation_id": event["correlation_id"]}}

    def prepare(self, patience_s):
        self.prepared.append(patience_s)


def no_backends():
    raise AssertionError("the front door has no data of its own")


@pytest.fixture(scope="module")
def functions():
    return Functions()


@pytest.fixture(scope="module")
def opened(functions):
    with door(no_backends, lambda: functions, BIO_MCP_FUNCTIONS=NAMED, **LOCKED) as made:
        yield made


def posted(opened, method, **params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return opened(bearer(hs256()), body=body).json["result"]


def test_a_tool_is_called_in_the_function_of_its_module(opened, functions):
    functions.invoked.clear()
    result = posted(opened, "tools/call", name="rag_search", arguments={"query": "migraine"})
    assert result["structuredContent"] == json.loads(result["content"][0]["text"]) == BODY
    [(function, event, repeatable)] = functions.invoked
    assert function == "arn:aws:lambda:us-east-1:000000000000:function:bio-search"
    assert (event["tool"], event["arguments"], event["outcome"]) == ("rag.search", {"query": "migraine"}, True)
    assert repeatable
    assert result["_meta"]["io.github.bio-mcp/audit"]["correlation_id"] == event["correlation_id"]


def test_the_function_is_told_for_whom_it_works(opened, functions):
    functions.invoked.clear()
    posted(opened, "tools/call", name="rag_search", arguments={"query": "migraine"})
    posted(opened, "resources/read", uri="resource://pubmed/paper/7")
    assert [event["caller"]["subject"] for _, event, _ in functions.invoked] == [
        jwt.decode(hs256(), options=UNCHECKED)["sub"]
    ] * 2


def test_a_line_of_the_log_has_the_access_logs_request_id_and_a_time_that_lambda_reads(opened):
    written = io.StringIO()
    handlers = [each for each in logging.getLogger("bio_mcp").handlers if isinstance(each, logging.StreamHandler)]
    before = [(each, each.setStream(written)) for each in handlers]
    posted(opened, "tools/call", name="rag_search", arguments={"query": "migraine"})
    for handler, stream in before:
        handler.setStream(stream)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    [line] = [each for each in lines if each["message"] == "invoked"]
    assert (line["gateway_request_id"], line["function_request_id"]) == ("bridge", context().aws_request_id)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", line["timestamp"])


def test_a_resource_is_read_in_the_function_of_its_module(opened, functions):
    functions.invoked.clear()
    result = posted(opened, "resources/read", uri="resource://pubmed/paper/7")
    assert json.loads(result["contents"][0]["text"]) == BODY
    [(function, event, _)] = functions.invoked
    assert function.endswith(":bio-get_doc")
    assert event["resource"] == "resource://pubmed/paper/7"


def test_an_argument_is_completed_by_the_function_of_the_tool_that_lists_its_values(opened, functions):
    functions.invoked.clear()
    asked = {"name": "query_key", "value": "stat"}
    params = {"ref": {"type": "ref/prompt", "name": "what_is_new"}, "argument": asked}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "completion/complete", "params": params}).encode()
    answer = opened(bearer(hs256()), body=body).json
    [(function, event, repeatable)] = functions.invoked
    assert function.endswith(":bio-checkpoint")
    assert (event["tool"], event["arguments"], repeatable) == ("corpus.queries", {"starts_with": "stat"}, True)
    assert event["caller"]["subject"] == jwt.decode(hs256(), options=UNCHECKED)["sub"]
    assert answer["result"]["completion"] == {"values": ["statins"], "hasMore": False}


def test_lists_prompts_and_skills_are_had_without_a_function(opened, functions):
    functions.invoked.clear()
    assert len(posted(opened, "tools/list")["tools"]) == len([each for each in TOOLS.values() if each.in_default_list])
    assert posted(opened, "prompts/list")["prompts"]
    assert posted(opened, "prompts/get", name="what_is_new", arguments={"query_key": "x"})["messages"]
    [*_, skill] = posted(opened, "skills/list")["skills"]
    assert posted(opened, "resources/read", uri=skill["uri"])["contents"][0]["text"].startswith("---\nname: ")
    assert functions.invoked == []


def test_nobody_without_a_token_reaches_a_function(opened, functions):
    functions.invoked.clear()
    assert opened().status == 401
    assert functions.invoked == []


def test_a_snapshot_is_made_with_clients_and_without_a_call():
    made = Functions()
    start = {"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start", "BIO_MCP_FUNCTIONS": NAMED}
    with door(no_backends, lambda: made, **start, **LOCKED):
        assert made.prepared
        assert made.invoked == []


@pytest.mark.parametrize("name", ["console", "authorize"])
def test_a_snapshot_of_the_pages_is_made_with_clients_and_nothing_is_called_or_read(name):
    made, reached = Functions(), []

    def stores():
        reached.append("client")
        return SimpleNamespace(authorizations=object())  # of which nothing can be read

    make = {"console": console_handler, "authorize": authorizing}[name]
    start = {"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start", "BIO_MCP_FUNCTIONS": NAMED}
    with door(stores, lambda: made, make, **start, **LOCKED):
        assert reached == ["client"]
        assert bool(made.prepared) == (name == "console")
        assert made.invoked == []


OWN = {"MCP_AUTH_SECRET_KEY": SECRET, "MCP_AUTH_AUDIENCE": "bio-mcp", "BIO_MCP_FUNCTIONS": "search=the-search"}


class Backends:
    def __init__(self, corpus, authorizations):
        self.corpus, self.authorizations = corpus, authorizations

    def __getattr__(self, name):
        return getattr(self.corpus, name)


@pytest.fixture(scope="module")
def busy():
    with small_corpus() as made:
        add_everything(made)
        yield made


@pytest.fixture(scope="module")
def backends(busy, tmp_path_factory):
    authorizations = SqliteAuthorizations(tmp_path_factory.mktemp("signed-in"))
    yield Backends(busy, authorizations)
    authorizations.close()


@pytest.fixture(scope="module")
def console(backends, functions):
    with door(lambda: backends, lambda: functions, console_handler, **OWN) as made:
        yield made


@pytest.fixture(scope="module")
def cookie(backends):
    answer = Response()
    Sessions(lambda: backends.authorizations, https=True).begin(Caller("ann", frozenset({"read"})), answer)
    return answer.headers["set-cookie"].partition(";")[0]


def test_who_is_not_signed_in_is_sent_to_the_sign_in_page(console):
    answer = console(method="GET", path="/admin/corpora")
    assert answer.status == 303
    assert answer.headers["location"] == "/sign-in?next=/admin/corpora"


def test_who_is_signed_in_sees_what_the_function_reads_itself(console, functions, cookie):
    functions.invoked.clear()
    answer = console(method="GET", path="/admin/corpora", cookie=cookie)
    assert answer.status == 200
    assert "<h1>Corpora</h1>" in answer.text
    assert functions.invoked == []


def test_a_search_is_a_call_of_the_function_that_searches_for_whoever_is_signed_in(console, functions, cookie):
    functions.invoked.clear()
    assert console(method="GET", path="/", query="q=heart", cookie=cookie).status == 200
    [(function, event, repeatable)] = functions.invoked
    called = function, event["tool"], event["caller"]["subject"], repeatable
    assert called == ("the-search", "rag.search", "ann", True)


def test_a_token_shows_the_pages_too_if_it_may_read(console):
    assert console(bearer(hs256()), method="GET", path="/admin/corpora").status == 200
    assert console(bearer("forged"), method="GET", path="/admin/corpora").status == 401


def test_a_feed_is_read_by_a_token_as_the_password_and_by_no_other(console):
    password = base64.b64encode(f"reader:{hs256(scope='read')}".encode()).decode()
    asked = {"method": "GET", "path": "/news.atom", "query": "query_key=newborns"}
    answer = console(f"Basic {password}", **asked)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/atom+xml")
    assert "<title>News of newborns</title>" in base64.b64decode(answer.text).decode()
    assert console(**asked).status == 401


def test_without_access_tokens_no_page_is_shown_to_anybody(backends, functions):
    with door(lambda: backends, lambda: functions, console_handler) as unlocked:
        answers = [unlocked(method="GET", path=path) for path in ("/", "/admin/corpora", "/admin/syncs")]
    assert [each.status for each in answers] == [503] * 3


def test_the_function_is_given_what_the_pages_read_and_nothing_else(busy):
    """The pages, and the files that are sent; what else is changed is changed by other functions."""
    [changed, *_] = articles()
    apply_records([replace(changed, title="Another title.", pmid_version=9)], busy)
    add_graph(busy)
    busy.checkpoints.advance(QUERY, "a term", None, {"edat": "2026-01-01"})
    busy.answers.put(StoredAnswer("given", "Why?", "So.", (), 0.9, busy.now()))
    laptop, recorder = browser(busy), Recorder(busy)
    laptop.post("/reviews", data={"name": "wort", "screeners": "1", "criteria": "wort"})
    exported = "".join(cite(each, "ris") for each in articles()).encode()
    laptop.post("/reviews/wort/import", files={"file": ("all.ris", exported)})
    for decision in ("include", "exclude"):  # by which the others are ranked
        [paper, *_] = Page(laptop.get("/reviews/wort/screen")).all("input", name="paper")
        decided = {"stage": "abstract", "paper": paper[1]["value"], "decision": decision}
        laptop.post("/reviews/wort/decide", data=decided)
    key = call(keep_part, {"project": PROJECT, "content": base64.b64encode(PDF).decode()}, recorder).body["key"]
    key = call(keep_file, {"name": "a.pdf", "parts": [key]}, recorder).body["key"]
    call(ingest_from_source, {"project": PROJECT, "source": Upload(key, "a.pdf").source}, busy)
    while work_once(busy.continuations, TOOLS, busy):
        pass
    [sent] = [each.doc_id for each in busy.project_documents.all(PROJECT) if stored_pdf_key(each)]
    large = {STORED_PDF: busy.blobs.put(FILES, b"%PDF-" + bytes(PART), ".pdf")}  # all of it has an address of its own
    busy.project_documents.put(PROJECT, ProjectDocument(Work("doc:large"), frozenset({"doc:large"}), origin=large))
    client = browser(recorder)
    [sync, *_] = busy.jobs.newest("sync", 1)
    pages = ["/", f"/topics?topic={QUERY}", f"/papers/{changed.pmid}", "/library", address_of(PROJECT)]
    pages += [
        address_of(PROJECT, sent),
        address_of(PROJECT, "doc:large", "files"),
        "/graph?q=Testwort",
        "/graph?q=Testwrot",
    ]
    pages += ["/reviews", *(f"/reviews/wort/{each}".rstrip("/") for each in VIEWS)]
    pages += [*(f"/admin/{each}" for each in ("corpora", "syncs", f"syncs/{sync.job_id}", "evaluation"))]
    answers = {path: client.get(path) for path in pages}
    reports = [each for each in Page(answers["/admin/evaluation"]).links if "/reports/" in each]
    assert {path: each.status_code for path, each in answers.items()} == dict.fromkeys(pages, 200)
    assert client.get(reports[0]).status_code == 200
    assert not call(answer_page, {"answer_id": "given"}, recorder).failed  # its page searches too, as a function does
    given = {each.partition(" ")[0] for each in declared("console")["uses"]}  # some say which folder
    assert recorder.touched | {"authorizations.get", "budgets.spend"} == given


AUTHORIZATION_SERVER = "/.well-known/oauth-authorization-server"


def authorizing(backends, _functions):
    return authorize_handler(backends)


def test_who_signs_in_and_gets_tokens_does_so_at_a_function_that_holds_no_data(backends, functions):
    with door(lambda: backends, lambda: functions, authorizing, MCP_AUTH_SECRET_KEY=SECRET) as authorize:
        told = authorize(method="GET", path=AUTHORIZATION_SERVER).json
        assert told["token_endpoint"] == "https://mcp.example.org/token"
        assert authorize(method="GET", path="/sign-in").status == 200
        assert authorize(method="GET", path="/admin/corpora").status == 404
        unknown = b"grant_type=refresh_token&refresh_token=x&client_id=y"
        refused = authorize(path="/token", body=unknown, **{"content-type": "application/x-www-form-urlencoded"})
        assert refused.status in (400, 401)


def test_the_page_people_is_served_where_people_sign_in(backends, functions, cookie):
    with door(lambda: backends, lambda: functions, authorizing, MCP_AUTH_SECRET_KEY=SECRET) as authorize:
        page = authorize(method="GET", path="/admin/people", cookie=cookie)
        assert (page.status, "requests to NCBI" in page.text) == (200, True)
        assert authorize(bearer(hs256()), method="GET", path="/admin/people").status == 303


def test_a_listed_token_opens_the_endpoint_until_it_is_ended(backends, functions):
    ann, store = Caller("ann", frozenset({"read"})), People(lambda: backends.authorizations)
    given = Settings(auth_secret=SECRET, auth_audience="bio-mcp")
    token, _ = store.give_token(access(given), ann, "script", timedelta(days=1))
    with door(lambda: backends, lambda: functions, **LOCKED, BIO_MCP_FUNCTIONS=NAMED) as endpoint:
        assert endpoint(bearer(token)).status == 200
        [listed] = store.open_for(ann)["token"]
        store.end(ann, listed.key)
        assert endpoint(bearer(token)).status == 401


def test_without_access_tokens_there_is_nothing_to_sign_in_to(backends, functions):
    with door(lambda: backends, lambda: functions, authorizing) as unlocked:
        assert unlocked(method="GET", path="/sign-in").status == 404


def test_api_gateway_sends_each_path_of_the_authorization_server_to_its_function():
    configured = access(Settings(auth_secret=SECRET, resource_url=RESOURCE))
    sessions = Sessions(lambda: None, https=True)
    pages = site.routes(configured, sessions, lambda: None, lambda _: b"")
    pages += people.routes(configured, sessions, lambda: None, lambda: None)
    to = {each["RouteKey"]: each["Target"]["Fn::Sub"] for each in of("AWS::ApiGatewayV2::Route").values()}
    here = {key.removeprefix("ANY ") for key, target in to.items() if target == "integrations/${ApiToAuthorize}"}
    paths = {each.path.replace(AUTHORIZATION_SERVER + "/mcp", AUTHORIZATION_SERVER + "/{proxy+}") for each in pages}
    assert here == paths
