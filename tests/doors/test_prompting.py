"""Prompts by the official client, and completions over a corpus with tenants and the tokens of their callers."""

import pytest
from mcp import MCPError
from mcp.client import Client
from mcp_types import PromptReference, ResourceTemplateReference

from bio_mcp.callers import Caller
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.mcp.prompts import LONGEST, LONGEST_FILLED_IN, MOST, PROMPTS, SKILLS
from bio_mcp.doors.running import in_process
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.settings import Settings
from bio_mcp.skills import NAMES, skill
from bio_mcp.tenants import CallBackends
from tests.doors.auth.minting import SECRET, hs256
from tests.doors.serving import running
from tests.doors.wire import post
from tests.support.corpus import Corpus, Over

pytestmark = pytest.mark.anyio
in_both_eras = pytest.mark.parametrize("era", ["2026-07-28", "legacy"])


@in_both_eras
async def test_prompts_are_listed_with_their_arguments(url, era):
    async with Client(url, mode=era) as client:
        listed = (await client.list_prompts()).prompts
    assert [each.name for each in listed] == ["clinical_question", "systematic_search", "what_is_new"]
    assert SKILLS.keys() == PROMPTS.keys()
    assert set(SKILLS.values()) <= set(NAMES)
    required = {each.name: [(argument.name, argument.required) for argument in each.arguments] for each in listed}
    assert required["what_is_new"] == [("query_key", True), ("since", False)]
    assert all(each.description and argument.description for each in listed for argument in each.arguments)


@in_both_eras
async def test_a_prompt_has_what_was_filled_in_as_a_reader_sees_it_and_then_the_whole_skill(url, era):
    given = {"question": "Does ginger\u202e help?", "project": " "}
    async with Client(url, mode=era) as client:
        got = await client.get_prompt("clinical_question", given)
    [message] = got.messages
    assert message.role == "user"
    assert message.content.text.startswith("Question: Does ginger\N{REPLACEMENT CHARACTER} help?\n\nProceed")
    assert message.content.text.endswith(skill("answer-clinical-question").text)
    assert "license:" not in message.content.text


@in_both_eras
@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("clinical_question", {}, "clinical_question needs question: the question, in one sentence"),
        ("clinical_question", {"question": "  "}, "clinical_question needs question"),
        ("clinical_question", {"question": "x" * (LONGEST_FILLED_IN + 1)}, "question is longer than 4,000 characters"),
        ("systematic_search", {"topic": "x", "subject": "y"}, "has no argument 'subject'; it takes topic"),
        ("nothing", {}, "Unknown prompt: nothing. Available prompts: clinical_question, systematic_search"),
    ],
)
async def test_what_does_not_fit_is_an_error_that_says_what_does(url, era, name, given, problem):
    async with Client(url, mode=era) as client:
        with pytest.raises(MCPError, match=problem) as raised:
            await client.get_prompt(name, given)
    assert raised.value.error.code == -32602


NEWS = PromptReference(name="what_is_new")
QUESTION = PromptReference(name="clinical_question")
SEARCH = PromptReference(name="systematic_search")
QUERIES = [f"statins-{number:03}" for number in range(130)]


class Cut:
    """NCBI's other services, which nobody may ask."""

    def mesh(self, *_asked, **_more):
        raise AssertionError("NCBI was asked")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, ncbi_process):
    with Corpus(tmp_path_factory.mktemp("completing"), ncbi_process.base_url) as made:
        for key in (*QUERIES[::-1], "ginger"):
            made.checkpoints.advance(key, "term")
        for tenant, project in (("north", "north/lab"), ("south", "south/lab"), ("", "own/lab")):
            create_project(project, Options(), CallBackends(made, Caller("x", tenant=tenant)))
        yield made


def served(backends):
    return mcp_server.server(TOOLS.values(), RESOURCES.values(), in_process(backends))


@pytest.fixture
async def client(corpus, ncbi):
    async with Client(served(corpus)) as connected:
        yield connected


async def completed(client, ref, name, value):
    return (await client.complete(ref, {"name": name, "value": value})).completion


async def test_query_keys_are_completed_in_their_order(client):
    found = await completed(client, NEWS, "query_key", "STATINS-01")
    assert found.values == QUERIES[10:20]
    assert found.has_more is False


async def test_no_more_than_a_hundred_are_given_and_that_there_are_more_is_reported(client):
    found = await completed(client, NEWS, "query_key", "")
    assert found.values == ["ginger", *QUERIES[: MOST - 1]]
    assert found.has_more is True


async def test_headings_are_completed_by_the_beginnings_of_their_words(client):
    found = await completed(client, SEARCH, "mesh_heading", "protein  d")
    assert found.values == ["Protein Domains"]


@pytest.mark.parametrize("typed", ["", "di", '"*[]', " d i "])
async def test_ncbi_is_not_asked_before_three_letters(corpus, typed):
    async with Client(served(Over(corpus, lookup=Cut()))) as client:
        assert (await completed(client, SEARCH, "mesh_heading", typed)).values == []


async def test_an_outage_is_an_error_and_no_empty_list(client, ncbi):
    ncbi.control.fault(endpoint="esearch", status=503, times=100)
    with pytest.raises(MCPError):
        await completed(client, SEARCH, "mesh_heading", "neoplasm")


@pytest.mark.parametrize(
    ("ref", "name", "problem"),
    [
        (PromptReference(name="nothing"), "x", "Unknown prompt: nothing"),
        (NEWS, "project", "no argument project; there are query_key, since"),
        (ResourceTemplateReference(uri="file:///{x}"), "x", "Unknown resource"),
        (ResourceTemplateReference(uri="job://{job_id}"), "x", "no argument x; there are job_id"),
    ],
)
async def test_what_is_not_there_is_not_completed(client, ref, name, problem):
    with pytest.raises(MCPError, match=problem) as raised:
        await completed(client, ref, name, "")
    assert raised.value.error.code == -32602


async def test_what_is_typed_is_bounded(client):
    with pytest.raises(MCPError, match="longer than 200 characters"):
        await completed(client, NEWS, "query_key", "x" * (LONGEST + 1))


@pytest.fixture(scope="module")
def locked(corpus):
    app = mcp_http.serving(served(corpus), access=access(Settings(auth_secret=SECRET)), public=True)
    with running(app) as base:
        yield f"{base}/mcp"


def asked(locked, argument, value, **claims):
    params = {"ref": {"type": "ref/prompt", "name": argument[0]}, "argument": {"name": argument[1], "value": value}}
    return post(locked, "completion/complete", params, authorization=f"Bearer {hs256(**claims)}").json()


@pytest.mark.parametrize("tenant", ["north", "south", ""])
def test_a_tenant_is_told_of_its_own_projects_alone(locked, tenant):
    claims = {"tenant": tenant} if tenant else {}
    answer = asked(locked, ("clinical_question", "project"), "", scope="read", **claims)
    assert answer["result"]["completion"]["values"] == [f"{tenant or 'own'}/lab"]


def test_a_token_without_the_scope_of_the_tool_completes_nothing(locked):
    error = asked(locked, ("systematic_search", "mesh_heading"), "neoplasm", scope="read")["error"]
    assert "lookupMeshTerms needs the scope live" in error["message"]
    assert error["data"]["error"]["details"]["scope"] == "live"
