"""What waits for somebody's yes, over MCP, by the official client."""

from datetime import date

import mcp_types as types
import pytest
from mcp.client import Client

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import in_process
from tests.support.corpus import Corpus

TYPED = {"query_key": "topic", "term": "cancer OR zzyzzyva"}
YES = types.ElicitResult(action="accept", content={"yes": True})
each_era = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as made:
        yield made


async def asked(corpus, mode, answer=None, **more):
    """The answer to a sync, and the questions that the person was asked."""
    questions = []

    async def ask(_context, params):
        questions.append(params.message)
        return answer

    server = mcp_server.server(TOOLS.values(), RESOURCES.values(), in_process(corpus))
    async with Client(server, mode=mode, elicitation_callback=ask if answer else None) as client:
        result = await client.call_tool("pubmed_sync_delta", {**TYPED, **more})
    return result.structured_content, questions


@each_era
@pytest.mark.anyio
async def test_a_client_that_can_ask_puts_the_question_to_its_user_and_goes_on_after_a_yes(corpus, mode):
    body, questions = await asked(corpus, mode, YES)
    assert questions == ["PubMed does not know 'zzyzzyva'"]
    assert body["state"] == "complete"


@each_era
@pytest.mark.anyio
@pytest.mark.parametrize(
    "answer",
    [
        types.ElicitResult(action="decline"),
        types.ElicitResult(action="cancel"),
        types.ElicitResult(action="accept", content={"yes": False}),
    ],
    ids=["declined", "cancelled", "no"],
)
async def test_without_a_yes_nothing_is_followed_and_nobody_is_asked_twice(corpus, mode, answer):
    body, questions = await asked(corpus, mode, answer)
    assert len(questions) == 1
    assert "confirm: true" in body["error"]["message"]
    assert corpus.checkpoints.all() == []


@each_era
@pytest.mark.anyio
async def test_a_client_that_cannot_ask_reads_what_to_give(corpus, mode):
    body, _ = await asked(corpus, mode)
    assert body["error"]["details"]["confirm"] == {"confirm": True}
    body, _ = await asked(corpus, mode, confirm=True)
    assert body["state"] == "complete"


@each_era
@pytest.mark.anyio
async def test_two_questions_are_asked_one_after_the_other(corpus, mode):
    body, questions = await asked(corpus, mode, YES, max_records=1)
    assert [each.partition(" has ")[0] for each in questions] == ["PubMed does not know 'zzyzzyva'", "PubMed"]
    assert body["state"] == "complete"


@pytest.mark.anyio
@pytest.mark.parametrize("state", ["", "[]", "no JSON", '{"confirm": "maybe"}', '{"nonsense": 1}', "x" * 2_000])
async def test_what_a_client_makes_up_as_agreed_is_checked_as_any_argument(corpus, state):
    server = mcp_server.server(TOOLS.values(), RESOURCES.values(), in_process(corpus))
    async with Client(server) as client:
        made_up = await client.session.call_tool(
            "pubmed_sync_delta", TYPED, input_responses={"confirm": YES}, request_state=state
        )
    assert made_up.is_error
    assert corpus.checkpoints.all() == []
