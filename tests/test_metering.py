"""What calls are charged for, who is refused, and what is said of it."""

import logging
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from bio_mcp.adapters.embedded.side_files import SqliteBudgets
from bio_mcp.adapters.language_models import INSTRUCTIONS, MOST_TOKENS
from bio_mcp.adapters.metered import MeteredEmbeddings, MeteredLanguageModel, MeteredReranker, MeteredTurns
from bio_mcp.answering.writing import write
from bio_mcp.call import call, read
from bio_mcp.callers import ANONYMOUS, Caller
from bio_mcp.deadline import NEVER
from bio_mcp.errors import CITELOOM, PUBMED, TTM, BudgetSpent, Misconfigured, UpstreamFailed, code_for
from bio_mcp.ports.models import Generated
from bio_mcp.scope import DAY, Limits, Meter
from bio_mcp.settings import Settings
from bio_mcp.wiring.services import limits
from tests.adapters.clocks import Clock
from tests.doors import sample
from tests.support.corpus import HashedWords, Over
from tests.support.scopes import metered

ADA, BOB = Caller("ada", tenant="lab"), Caller("bob", tenant="lab")
QUESTION = "Does ginger help?"


@pytest.fixture
def clock():
    return Clock(10 * DAY + 60.25)


@pytest.fixture
def budgets(tmp_path, clock, closed):
    return closed(SqliteBudgets(tmp_path, clock))


def over(budgets, callers=None, tenants=None, addresses=None):
    return Limits(budgets, callers or {}, tenants or {}, addresses or {})


def asked(caller, limited):
    """A call of a tool for `caller`, where `limited` are the limits."""
    return call(sample.echo, {"text": "x"}, cast(Any, Over(None, limits=limited)), caller=caller)


def meter(caller, limited):
    return Meter(caller, lambda: limited)


def test_a_call_beyond_the_budget_is_refused_until_the_next_second(budgets, clock):
    limited = over(budgets, {"calls": 2})
    outcomes = [asked(ADA, limited) for _ in range(3)]
    assert [each.failed for each in outcomes] == [False, False, True]
    error = outcomes[2].body["error"]
    assert error["code"] == "RATE_LIMIT"
    assert error["message"] == "your budget of 2 calls a second is used up; try again in 1 s"
    assert error["details"] == {"retryable": True, "unit": "calls", "budget": 2, "left": 0, "retry_after_s": 0.75}
    clock.now += error["details"]["retry_after_s"]
    assert not asked(ADA, limited).failed


@pytest.mark.parametrize(
    ("dialect", "code"), [(PUBMED, "NCBI_RATE_LIMIT_WARNING"), (CITELOOM, "UPSTREAM"), (TTM, "UPSTREAM")]
)
def test_every_family_of_tools_has_a_code_for_a_budget_that_is_spent(dialect, code):
    assert code_for(BudgetSpent(""), dialect) == code


def test_an_answer_says_what_is_left_of_the_budget_of_which_least_is(budgets):
    limited = over(budgets, {"calls": 5})
    assert asked(ADA, limited).budgets == {"calls": {"left": 4, "of": 5, "resets_s": 0.75}}
    assert asked(ADA, limited).budgets["calls"]["left"] == 3
    assert asked(ADA, over(budgets, {"calls": 9}, {"calls": 4})).budgets["calls"]["of"] == 4


def test_callers_have_budgets_of_their_own_and_share_that_of_their_tenant(budgets):
    limited = over(budgets, {"calls": 2}, {"calls": 3})
    assert [asked(ADA, limited).failed for _ in range(3)] == [False, False, True]
    assert not asked(BOB, limited).failed
    refused = asked(BOB, limited)
    assert refused.body["error"]["message"].startswith("this tenant's budget of 3 calls a second is used up")
    assert not asked(Caller("ada", tenant="other"), limited).failed


def test_nobody_passes_for_a_caller_of_another_tenant(budgets):
    limited = over(budgets, {"calls": 1})
    assert not any(asked(each, limited).failed for each in (Caller("b/c", tenant="a"), Caller("c", tenant="a/b")))


def test_one_caller_or_tenant_may_have_another_budget_by_name(budgets):
    limited = over(budgets, {"calls": 1, "ada:calls": 3}, {"calls": 9, "lab:calls": 2})
    assert [asked(ADA, limited).failed for _ in range(3)] == [False, False, True]
    assert asked(Caller("bob", tenant="elsewhere"), limited).budgets["calls"]["of"] == 1


def test_whoever_comes_without_a_token_has_the_budget_of_an_address(budgets):
    limited = over(budgets, {"calls": 9}, {"public:calls": 3}, {"calls": 2})
    here, there = (Caller(ANONYMOUS.subject, ANONYMOUS.scopes, ANONYMOUS.tenant, address) for address in ("1", "2"))
    assert [asked(here, limited).failed for _ in range(3)] == [False, False, True]
    assert not asked(there, limited).failed
    assert asked(there, limited).failed  # all of them together may call three times
    assert not asked(ADA, limited).failed


def test_without_a_caller_nothing_is_limited_and_a_queued_call_is_none_a_second(budgets):
    limited = over(budgets, {"calls": 0})
    assert (asked(None, limited).failed, asked(None, limited).budgets) == (False, {})
    backends = cast(Any, Over(None, limits=limited))
    assert not call(sample.echo, {"text": "x"}, backends, caller=ADA, unattended=True).failed


def test_reading_a_resource_counts_as_a_call(budgets):
    backends = cast(Any, Over(None, limits=over(budgets, {"calls": 1})))
    outcomes = [read(sample.paper, {"pmid": "1"}, backends, caller=ADA) for _ in range(2)]
    assert [each.failed for each in outcomes] == [False, True]
    assert outcomes[0].budgets["calls"]["left"] == 0


def test_a_store_of_budgets_that_fails_refuses_nobody(budgets, tmp_path, caplog):
    (tmp_path / SqliteBudgets.file).mkdir()
    with caplog.at_level(logging.WARNING, "bio_mcp.budgets"):
        assert not asked(ADA, over(budgets, {"calls": 0})).failed
    assert "budgets cannot be charged" in caplog.text
    assert str(tmp_path) not in caplog.text


def test_a_request_to_ncbi_counts_and_is_of_the_callers_share(budgets):
    shares = []
    limited = MeteredTurns(SimpleNamespace(wait=lambda _deadline, share: shares.append(share)))
    with metered(meter(ADA, over(budgets, {"ncbi": 1}))):
        limited.wait(NEVER)
        with pytest.raises(BudgetSpent, match="requests to NCBI a day"):
            limited.wait(NEVER)
    limited.wait(NEVER)
    assert shares == ["caller:lab/ada", ""]  # the refused one took no turn


def test_each_embedded_text_counts(budgets):
    model = HashedWords()
    limited = MeteredEmbeddings(model)
    of_ada = meter(ADA, over(budgets, {"embeddings": 5}))
    with metered(of_ada):
        assert np.array_equal(limited.embed(["a", "b", "c"]), model.embed(["a", "b", "c"]))
        with pytest.raises(BudgetSpent):
            limited.embed_questions(["a", "b", "c"])
        with pytest.raises(BudgetSpent) as refused:
            limited.embed(["a", "b", "c"])
    assert of_ada.left["embeddings"].left == 2
    assert refused.value.retry_after_s == pytest.approx(DAY - 60.25)
    assert model.embedded == 6


def test_each_passage_that_a_reranker_reads_counts_as_an_embedded_text(budgets):
    reranker = MeteredReranker(SimpleNamespace(scores=lambda _question, passages, _deadline: [*map(len, passages)]))
    with metered(meter(ADA, over(budgets, {"embeddings": 5}))):
        assert reranker.scores("?", ["a", "bb", "ccc"], NEVER) == [1, 2, 3]
        with pytest.raises(BudgetSpent):
            reranker.scores("?", ["a", "bb", "ccc"], NEVER)
        with pytest.raises(BudgetSpent) as refused:  # more than a whole budget is never worth trying again
            MeteredEmbeddings(HashedWords()).embed(["a"] * 6)
    assert (refused.value.retryable, refused.value.retry_after_s) == (False, None)


class Model:
    """A language model that says what it used, or fails."""

    fingerprint = "model"

    def __init__(self, answer: Generated | UpstreamFailed) -> None:
        self.answer = answer

    def generate(self, *_: object) -> Generated:
        if isinstance(self.answer, UpstreamFailed):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "used"),
    [
        (Generated("Yes [1].", 70, 30), 100),
        (Generated("Yes, it does [1].", None, None), (len(INSTRUCTIONS) + len(QUESTION) + 5) // 4 + 17 // 4),
        (UpstreamFailed("down"), 0),
    ],
    ids=["counted", "uncounted", "failed"],
)
def test_tokens_of_the_language_model_count_as_far_as_they_were_used(budgets, answer, used):
    of_ada = meter(ADA, over(budgets, {"model_tokens": 10_000}))
    with metered(of_ada):
        written = write(QUESTION, ["quote"], model_over(answer), NEVER)
    assert of_ada.left["model_tokens"].left == 10_000 - used
    assert written.mode == "extractive"  # nothing that these write passes the check


def model_over(answer):
    return cast(Any, Over(None, language_model=MeteredLanguageModel(Model(answer)), embeddings=HashedWords()))


def test_without_tokens_left_the_answer_is_the_extract_and_says_why(budgets):
    of_ada = meter(ADA, over(budgets, {"model_tokens": MOST_TOKENS + 2_000}))
    with metered(of_ada):
        first = write(QUESTION, ["quote"], model_over(Generated("", 2_000, 500)), NEVER)
        second = write(QUESTION, ["quote"], model_over(Generated("", 1, 1)), NEVER)
    assert "found no answer" in first.warnings[0]
    assert "tokens of the language model a day is used up; try again in" in second.warnings[0]


def test_budgets_are_read_from_the_settings(budgets):
    read_from = limits(Settings(caller_budgets=("calls=7", "ada:x@lab:ncbi=0"), tenant_budgets=("none",)), budgets)
    assert read_from.callers == {"calls": 7, "ada:x@lab:ncbi": 0}
    assert read_from.tenants == {}
    assert read_from.addresses["model_tokens"] == 0


@pytest.mark.parametrize("entry", ["calls", "calls=", "calls=-1", "calls=1.5", "pages=3", ":calls=3", "none"])
def test_a_budget_that_is_none_is_named_with_its_variable(budgets, entry):
    with pytest.raises(Misconfigured, match="BIO_MCP_CALLER_BUDGETS"):
        limits(Settings(caller_budgets=("ncbi=1", entry)), budgets)


def test_a_budget_that_cannot_be_read_refuses_the_calls_that_it_is_for():
    class Wrong:
        @property
        def limits(self) -> Limits:
            raise Misconfigured("BIO_MCP_CALLER_BUDGETS holds 'x'")

    wrong = cast(Any, Wrong())
    assert call(sample.echo, {"text": "x"}, wrong, caller=ADA).body["error"]["message"].startswith("BIO_MCP_CALLER")
    assert not call(sample.echo, {"text": "x"}, wrong).failed
