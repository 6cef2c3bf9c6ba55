"""What callers and tenants may still use, by whichever store."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from bio_mcp.ports.state import Charge

DAY = 86_400


def calls(account="caller ann", amount=1, most=3, seconds=1):
    return Charge(account, "calls", amount, most, seconds)


def tokens(account="tenant lab", amount=400, most=1_000, seconds=DAY):
    return Charge(account, "model_tokens", amount, most, seconds)


def spent(budgets, *charges):
    """Whether they were granted, and what each leaves."""
    allowances = budgets.spend(charges)
    assert [each.charge for each in allowances] == list(charges)
    [granted] = {each.granted for each in allowances}
    return granted, [each.left for each in allowances]


def test_each_charge_leaves_less_until_nothing_is_left(budgets):
    assert budgets.spend([]) == []
    assert [spent(budgets, calls()) for _ in range(4)] == [(True, [2]), (True, [1]), (True, [0]), (False, [0])]


def test_a_period_ends_and_the_next_begins_anew(budgets, clock):
    spent(budgets, tokens(amount=1_000))
    clock.now += DAY - clock.now % DAY - 1
    [allowance] = budgets.spend([tokens()])
    assert not allowance.granted
    assert allowance.resets_s == pytest.approx(1)
    clock.now += 1
    [allowance] = budgets.spend([tokens()])
    assert (allowance.granted, allowance.left) == (True, 600)
    assert allowance.resets_s == pytest.approx(DAY)


def test_accounts_units_and_periods_have_budgets_of_their_own(budgets):
    spent(budgets, calls(amount=3))
    assert spent(budgets, calls()) == (False, [0])
    assert spent(budgets, calls("caller bob")) == (True, [2])
    assert spent(budgets, calls(seconds=DAY)) == (True, [2])
    assert spent(budgets, Charge("caller ann", "ncbi", 1, 3, 1)) == (True, [2])


@pytest.mark.parametrize("refused", [0, 1, 2])
def test_all_charges_of_a_call_are_made_or_none_is(budgets, refused):
    charges = [calls(), calls("tenant lab"), tokens()]
    charges[refused] = replace(charges[refused], amount=7, most=6)
    assert spent(budgets, *charges) == (False, [each.most for each in charges])
    assert spent(budgets, calls(), calls("tenant lab"), tokens()) == (True, [2, 2, 600])


def test_what_was_not_used_is_given_back_whatever_is_left(budgets):
    spent(budgets, tokens(amount=1_000))
    assert spent(budgets, tokens(amount=-700)) == (True, [700])
    assert spent(budgets, tokens(amount=-100, most=200)) == (True, [0])  # the budget was lowered meanwhile
    assert spent(budgets, tokens(amount=800)) == (True, [0])


def test_of_many_at_once_no_more_is_granted_than_there_is(budgets):
    with ThreadPoolExecutor(8) as threads:
        granted = list(threads.map(lambda _: spent(budgets, calls(), calls("tenant lab", most=5))[0], range(12)))
    assert granted.count(True) == 3
