"""Prompts by the official client, in both protocol eras."""

import pytest
from mcp import MCPError
from mcp.client import Client

from bio_mcp.doors.mcp.prompts import LONGEST_FILLED_IN, PROMPTS
from bio_mcp.skills import NAMES, skill

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("era", ["2026-07-28", "legacy"])]


async def test_prompts_are_listed_with_their_arguments(url, era):
    async with Client(url, mode=era) as client:
        listed = (await client.list_prompts()).prompts
    assert [each.name for each in listed] == ["clinical_question", "systematic_search", "what_is_new"]
    assert {each.skill for each in PROMPTS.values()} <= set(NAMES)
    required = {each.name: [(argument.name, argument.required) for argument in each.arguments] for each in listed}
    assert required["what_is_new"] == [("query_key", True), ("since", False)]
    assert all(each.description and argument.description for each in listed for argument in each.arguments)


async def test_a_prompt_has_what_was_filled_in_as_a_reader_sees_it_and_then_the_whole_skill(url, era):
    given = {"question": "Does ginger\u202e help?", "project": " "}
    async with Client(url, mode=era) as client:
        got = await client.get_prompt("clinical_question", given)
    [message] = got.messages
    assert message.role == "user"
    assert message.content.text.startswith("Question: Does ginger\N{REPLACEMENT CHARACTER} help?\n\nProceed")
    assert message.content.text.endswith(skill("answer-clinical-question").text)
    assert "license:" not in message.content.text


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
