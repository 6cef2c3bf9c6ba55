"""One call: what it checks, what it accounts for, and what never gets out."""

import hashlib
import logging
from typing import cast

import pytest

from bio_mcp.call import call, read
from bio_mcp.callers import Caller
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, Forbidden, NcbiRateLimited, NotFound
from bio_mcp.ports import Backends
from bio_mcp.scope import bounded_by, call_deadline, current
from bio_mcp.tool import Context, Request, Response, resource, tool
from tests.adapters.clocks import Clock
from tests.doors import sample
from tests.doors.sample import AUDITED, PLAIN

NO_BACKENDS = cast(Backends, object())


def ask(named, arguments, **options):
    return call(named, arguments, NO_BACKENDS, **options)


def test_the_hash_of_the_input_is_over_canonical_json():
    ordered = ask(sample.echo, {"times": 2, "text": "m²"}).audit["in_hash"]
    assert ordered == hashlib.sha256('{"text":"m²","times":2}'.encode()).hexdigest()
    assert ordered == ask(sample.echo, {"text": "m²", "times": 2}).audit["in_hash"]


def test_the_seed_is_the_first_eight_bytes_of_the_hash():
    audit = ask(sample.echo, {"text": "x"}).audit
    assert audit["seed"] == int.from_bytes(bytes.fromhex(audit["in_hash"])[:8])
    assert audit["seed_text"] == str(audit["seed"])


def test_the_same_answer_has_the_same_hash_and_another_has_another():
    first, again, other = (ask(sample.echo, {"text": text}).audit["out_hash"] for text in ("x", "x", "y"))
    assert first == again != other


def test_an_audited_body_carries_its_record_and_the_hash_is_over_the_rest():
    outcome = ask(sample.kept, {"text": "x"})
    assert outcome.body["audit"] == {
        key: outcome.audit[key] for key in ("in_hash", "out_hash", "latency_ms", "seed", "status")
    }
    assert outcome.audit["out_hash"] == ask(sample.echo, {"text": "x"}).audit["out_hash"]


def test_an_audited_failure_carries_its_record_too():
    body = ask(sample.kept, {"text": ""}).body
    assert body["audit"]["status"] == "error"
    assert body["error"]["code"] == "VALIDATION"


def test_a_resource_of_an_audited_family_has_the_contracts_payload_alone():
    @resource("sample://kept/{id}", name="kept", family=AUDITED, scope="read", timeout=1)
    def kept(backends: Backends, id: str) -> sample.Stepped:
        """One."""
        return sample.Stepped(steps=1)

    assert read(kept, {"id": "1"}, NO_BACKENDS).body == {"steps": 1}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, 'text: This is required. Give a text, such as "acupuncture for migraine".'),
        ({"text": ""}, 'text: Give a text that is not empty, such as "acupuncture for migraine".'),
        ({"text": "x", "times": 0}, "times: Give a whole number from 1 to 3, such as 1."),
        ({"text": "x", "times": "two"}, "times: Give a whole number from 1 to 3, such as 1."),
        ({"text": "x", "times": None}, "times: Give a whole number from 1 to 3, such as 1, or leave it out."),
        ({"text": "x", "n": 1}, "n: This is not a parameter of sample_echo. It takes text, times."),
        ({"text": "x", "time": 1}, "time: This is not a parameter of sample_echo. Did you mean times? It takes"),
        ({"n": 1, "m": 2}, 'migraine". n: This is not a parameter'),
    ],
)
def test_bad_arguments_are_named_one_by_one(arguments, says):
    error = ask(sample.echo, arguments).body["error"]
    assert error["code"] == "VALIDATION"
    assert says in error["message"]
    assert error["details"]["problems"][0]["loc"]


def test_what_a_caller_sent_is_not_repeated_to_it():
    assert "sk-secret" not in ask(sample.echo, {"text": "x", "times": "sk-secret"}).text


def nested(depth):
    made = {}
    for _ in range(depth):
        made = {"a": made}
    return made


@pytest.mark.parametrize(
    "odd",
    [nested(50_000), 2**60, -(2**80), 1e308, float("nan"), float("inf"), "\ud800", "\x00", [[]] * 1000, {"\ud800": 1}],
)
def test_any_argument_is_answered(odd):
    outcome = ask(sample.echo, {"text": odd})
    assert len(outcome.audit["in_hash"]) == 64
    assert len(outcome.audit["out_hash"]) == 64


def test_however_many_problems_there_are_ten_are_named_and_the_rest_counted():
    outcome = ask(sample.echo, {"text": "x"} | {f"k{number}": 1 for number in range(40)})
    error = outcome.body["error"]
    assert error["message"].count("not a parameter") == len(error["details"]["problems"]) == 10
    assert error["message"].endswith("And 30 more.")


@pytest.mark.parametrize(
    "arguments",
    [
        {f"key number {number}": number for number in range(100_000)},
        {"text": "x" * 4_000_000},
        {"x" * 4_000_000: 1},
        {"text": ["x" * 100] * 40_000},
        {"text": {str(number): 1 for number in range(40_000)}},
    ],
    ids=["unknown keys", "a text", "a key", "a list", "an object"],
)
def test_the_answer_to_bad_input_is_short_however_long_the_input_is(arguments):
    outcome = ask(sample.echo, arguments)
    assert outcome.failed
    assert len(outcome.text) < 2_000


def test_a_failure_never_carries_a_long_text_along():
    @tool("sample.long", family=sample.PLAIN, scope="read", timeout=1)
    def fails(request: sample.Steps, backends: Backends) -> sample.Stepped:
        """Fail at length."""
        raise NotFound("there is no " + "x" * 10_000, term="y" * 10_000)

    error = ask(fails, {}).body["error"]
    assert len(error["message"]) < 3_100
    assert len(error["details"]["term"]) < 300


def test_a_failure_carries_what_helps_a_program():
    @tool("sample.slow_ncbi", family=PLAIN, scope="read", timeout=1)
    def slow_ncbi(request: sample.Wait, backends: Backends) -> Response:
        """Fail as NCBI does."""
        raise NcbiRateLimited("NCBI asks us to wait; try again in 3 s", retry_after_s=3, query_key="k")

    assert ask(slow_ncbi, {}).body == {
        "error": {
            "code": "RATE_LIMIT",
            "message": "NCBI asks us to wait; try again in 3 s",
            "details": {"retryable": True, "query_key": "k", "retry_after_s": 3},
        }
    }


def test_a_bug_says_where_to_look_and_nothing_else(caplog):
    with caplog.at_level(logging.INFO, "bio_mcp"):
        outcome = ask(sample.fail, {"how": "bug"}, correlation_id="c-1")
    assert outcome.body == {
        "error": {
            "code": "UNKNOWN",
            "message": "internal error; the log has it under correlation id c-1",
            "details": {"retryable": False},
        }
    }
    assert "/secret/path" in caplog.text


def test_an_interrupt_is_not_swallowed():
    @tool("sample.interrupted", family=PLAIN, scope="read", timeout=1)
    def interrupted(request: sample.Wait, backends: Backends) -> Response:
        """Be interrupted."""
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(interrupted, {})


def test_each_call_is_one_line_of_log(caplog):
    with caplog.at_level(logging.INFO, "bio_mcp"):
        outcome = ask(sample.fail, {}, correlation_id="c-2")
    [record] = caplog.records
    assert record.message == "call"
    assert record.tool == "sample.fail"
    assert record.code == "STORE"
    assert {key: getattr(record, key) for key in outcome.audit} == outcome.audit


def test_a_correlation_id_is_made_where_none_is_given():
    assert ask(sample.echo, {"text": "x"}, correlation_id="c-3").audit["correlation_id"] == "c-3"
    assert len({ask(sample.echo, {"text": "x"}).audit["correlation_id"] for _ in range(3)}) == 3


def test_the_deadline_is_the_tools_unless_one_is_given():
    seen = []

    @tool("sample.watch", family=PLAIN, scope="read", timeout=7)
    def watch(request: sample.Wait, backends: Backends, context: Context) -> Response:
        """Look at the clock."""
        seen.append(context.deadline)
        return Response()

    given = Deadline(3)
    ask(watch, {})
    ask(watch, {}, deadline=given)
    assert 0 < seen[0].remaining <= 7
    assert seen[1] is given


def test_a_deadline_that_has_passed_is_a_failure_to_be_tried_again():
    error = ask(sample.wait, {}, deadline=Deadline(0)).body["error"]
    assert error["details"]["retryable"] is True
    assert "out of time" in error["message"]


def test_a_calls_deadline_reaches_what_no_deadline_is_handed_to():
    class Deadlines(Response):
        same: bool

    @tool("sample.deadline", family=PLAIN, scope="read", timeout=1)
    def deadlines(request: sample.Wait, backends: Backends, context: Context) -> Deadlines:
        """Compare the two."""
        return Deadlines(same=call_deadline() is context.deadline)

    assert ask(deadlines, {}).body == {"same": True}


def test_an_unset_optional_field_is_absent_and_a_null_is_kept():
    class Partly(Response):
        given: str | None
        absent: str | None = None

    @tool("sample.partly", family=PLAIN, scope="read", timeout=1)
    def partly(request: sample.Wait, backends: Backends) -> Partly:
        """Leave something out."""
        return Partly(given=None)

    assert ask(partly, {}).body == {"given": None}


def test_a_resource_is_accounted_for_as_a_tool_is(caplog):
    with caplog.at_level(logging.INFO, "bio_mcp"):
        outcome = read(sample.paper, {"pmid": "404"}, NO_BACKENDS)
    assert outcome.failed
    assert outcome.body["error"]["code"] == "NOT_FOUND"
    assert caplog.records[0].tool == "paper"


class Anything(Request):
    pass


def test_details_that_are_not_json_do_not_break_the_answer():
    @tool("sample.odd", family=PLAIN, scope="read", timeout=1)
    def odd(request: Anything, backends: Backends) -> Response:
        """Fail with details."""
        raise NotFound("there is no such thing here", choices=("a", "b"))

    assert ask(odd, {}).text.endswith('"details":{"retryable":false,"choices":["a","b"]}}}')


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        (
            "rag.search",
            {"query": "x", "filters": {"tag": 1}},
            "filters.tag: This is not a parameter of rag_search. It takes year_from",
        ),
        (
            "rag.get",
            {"doc_id": "the first hit"},
            'doc_id: Give the PMID, PMCID or DOI of a paper, such as "pmid:34093119".',
        ),
        (
            "fetchArticleDetails",
            {"pmids": [True]},
            'pmids.0: Give the PMID, PMCID or DOI of a paper, such as "34093119".',
        ),
        (
            "searchPubMedArticles",
            {"queryTerm": "cancer", "dateRange": {"minDate": "01/02/2020"}},
            'dateRange.minDate: Give a day, such as "2026/01/31".',
        ),
        (
            "searchPubMedArticles",
            {"queryTerm": "cancer", "dateRange": {"dateType": "crdt"}},
            'dateRange.dateType: Give "pdat", "mdat" or "edat" (pdat: published; edat: entered; mdat: changed).',
        ),
        (
            "labelPapers",
            {"labels": [{"paper": "1", "decision": "perhaps"}]},
            'labels.0.decision: Give "include", "exclude", "maybe" or "none" (none takes it back).',
        ),
        (
            "matchCitations",
            {"citations": ["Doe J. On tests. 2021."]},
            'citations.0: Give an object, such as {"journal": "Lancet"}.',
        ),
        ("corpus.checkpoint.get", {"query_key": "x" * 201}, "query_key: Give a text of at most 200 characters, such"),
    ],
)
def test_a_refusal_says_what_to_give_instead(name, arguments, says):
    assert says in ask(TOOLS[name], arguments).body["error"]["message"]


def test_a_caller_without_the_scope_is_refused_before_the_tool_runs():
    outcome = ask(sample.echo, {"text": "x"}, caller=Caller("ada", frozenset({"live"})))
    assert isinstance(outcome.failure, Forbidden)
    assert outcome.body["error"]["details"]["scope"] == "read"
    read_ = read(sample.paper, {"pmid": "1"}, NO_BACKENDS, caller=Caller("ada", frozenset({"live"})))
    assert isinstance(read_.failure, Forbidden)


def test_a_tool_runs_on_behalf_of_its_caller():
    seen = []

    @tool("sample.notes", family=PLAIN, scope="read", timeout=5)
    def notes(request: Anything, backends: Backends) -> Response:
        """Note the caller."""
        seen.append(current().caller)
        return Response()

    ada = Caller("ada")
    ask(notes, {}, caller=ada)
    assert (seen, current().caller) == ([ada], None)


def test_an_address_with_half_a_character_is_refused_before_any_store_is_asked():
    outcome = read(sample.paper, {"pmid": "\ud800"}, NO_BACKENDS)
    assert outcome.body["error"]["code"] == "VALIDATION"
    assert "half a character" in outcome.body["error"]["message"]


def test_a_share_ends_before_the_whole_and_never_outlasts_it():
    clock = Clock()
    whole = Deadline(20, clock)
    share = whole.share(8)
    clock.now = 5
    assert (share.remaining, whole.remaining, whole.share(30).remaining) == (3, 15, 15)
    clock.now = 9
    assert (share.remaining, whole.remaining) == (0, 11)
    share = whole.share(4)
    whole.expire()
    assert share.remaining == 0
    with pytest.raises(DeadlineExceeded, match="before asking"):
        share.check("asking")


def test_a_share_of_unending_time_ends():
    assert 0 < NEVER.share(8).remaining <= 8


def test_the_innermost_call_bounds_what_runs_in_it():
    outer, inner = Deadline(20), Deadline(10)
    with bounded_by(outer):
        with bounded_by(inner):
            assert call_deadline() is inner
        assert call_deadline() is outer
    assert call_deadline() is NEVER
