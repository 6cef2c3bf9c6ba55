"""Calls that are wrong in form alone are answered as the strict ones beside them; those that could mean two things, or
harm, are refused. `data/sloppy_calls` has both, over all tools."""

import json
from pathlib import Path

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.errors import InvalidInput
from tests.support.sample_corpus import corpus

CALLS = Path(__file__).parent / "data/sloppy_calls"
ONE_FORM = {"checkNotices", "jobs.cancel", "markRead", "stopFollowing"}  # whose arguments are names alone
OF_ONE_CALL = {"audit", "duration_seconds", "ended", "expires_at", "file", "job_id", "log_uri", "report_uri"}


def calls(name):
    return [json.loads(line) for line in (CALLS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


CLEAR, REFUSED = calls("clear"), calls("refused")


def named(each):
    return f"{each['tool']} {json.dumps(each['sent'])[:60]}"


def ask(tool, arguments):
    return call(TOOLS[tool], arguments, corpus())


def lasting(value, *but):
    """The answer without what differs from call to call."""
    if isinstance(value, dict):
        return {name: lasting(each) for name, each in value.items() if name not in OF_ONE_CALL.union(but)}
    return [lasting(each) for each in value] if isinstance(value, list) else value


def test_there_are_enough_of_them_over_all_tools():
    assert len(CLEAR) >= 120
    assert len(REFUSED) >= 30
    assert {each["tool"] for each in CLEAR} == TOOLS.keys() - ONE_FORM


@pytest.mark.parametrize("each", CLEAR, ids=named)
def test_a_clear_call_has_the_answer_of_the_strict_one_and_says_what_was_read(each):
    if not TOOLS[each["tool"]].read_only:
        ask(each["tool"], each["strict"])  # so that nothing is left to do
    strict, sent = ask(each["tool"], each["strict"]).body, ask(each["tool"], each["sent"]).body
    assert "error" not in strict
    assert lasting(sent, "warnings") == lasting(strict, "warnings")
    read, known = sent["warnings"], strict.get("warnings", [])
    assert read[len(read) - len(known) :] == known
    assert all("was read as" in sentence for sentence in read[: len(read) - len(known)])
    assert len(read) > len(known)


@pytest.mark.parametrize("each", REFUSED, ids=named)
def test_a_call_that_could_mean_two_things_or_do_harm_is_refused(each):
    assert isinstance(ask(each["tool"], each["sent"]).failure, InvalidInput)
