"""What a call uses, charged to the budgets of its caller and its tenant while it runs."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import quote

from bio_mcp.callers import Caller, is_anonymous
from bio_mcp.errors import BudgetSpent, StoreFailed
from bio_mcp.ports.budgets import Allowance, Budgets, Charge

log = logging.getLogger("bio_mcp.budgets")

Unit = Literal["calls", "ncbi", "sources", "embeddings", "model_tokens"]
SECOND, DAY = 1, 86_400
PERIOD_S: Mapping[Unit, int] = MappingProxyType(
    {"calls": SECOND, "ncbi": DAY, "sources": DAY, "embeddings": DAY, "model_tokens": DAY}
)
WORDS: Mapping[str, str] = MappingProxyType(
    {
        "calls": "calls a second",
        "ncbi": "requests to NCBI a day",
        "sources": "requests to other literature services a day",
        "embeddings": "embedded texts a day",
        "model_tokens": "tokens of the language model a day",
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What `callers`, `tenants` and `addresses` may use, in `budgets`.

    A key is a unit, or `NAME:unit` for one caller or tenant by its name, which counts first. A unit without a key is
    not limited. `addresses` are those of callers without a token.
    """

    budgets: Budgets
    callers: Mapping[str, int]
    tenants: Mapping[str, int]
    addresses: Mapping[str, int]

    def charges(self, caller: Caller, unit: Unit, amount: int) -> list[Charge]:
        """The charges of an `amount`, for each account that has a budget of the unit."""
        own = self.addresses if is_anonymous(caller) else self.callers
        accounts = [(account_of(caller), own.get(f"{caller.subject}:{unit}", own.get(unit)))]
        if caller.tenant:
            most = self.tenants.get(f"{caller.tenant}:{unit}", self.tenants.get(unit))
            accounts.append((f"tenant:{caller.tenant}", most))
        return [Charge(account, unit, amount, most, PERIOD_S[unit]) for account, most in accounts if most is not None]


def account_of(caller: Caller) -> str:
    """The account of a caller, which no caller of another tenant has; without a token that of its address."""
    if is_anonymous(caller):
        return f"address:{caller.client}"
    return f"caller:{quote(caller.tenant, safe='')}/{caller.subject}"


class Meter:
    """Charges what one call uses. `left` has, by unit, the allowance of which least is left.

    A store of budgets that fails refuses nobody: it is logged, and what is used then is not charged.
    """

    def __init__(self, caller: Caller, limits: Callable[[], Limits | None]) -> None:
        """`limits` is called at the first charge; None: nothing is limited."""
        self._caller, self._limits = caller, limits
        self.account = account_of(caller)
        self.left: dict[str, Allowance] = {}

    def spend(self, unit: Unit, amount: int) -> None:
        """Charge `amount`. Raises `BudgetSpent`, with nothing charged, where that is more than what is left."""
        if (limits := self._limits()) is None:
            return
        charges = limits.charges(self._caller, unit, amount)
        if not (allowances := _spent(limits.budgets, charges)):
            return
        self.left[unit] = least = min(allowances, key=lambda each: each.left)
        if not least.granted:
            raise _refusal(least)

    @property
    def summary(self) -> dict[str, Any]:
        """What is left, by unit, as JSON: `left` of `of`, until the period ends in `resets_s` seconds."""
        return {
            unit: {"left": each.left, "of": each.charge.most, "resets_s": round(each.resets_s, 3)}
            for unit, each in self.left.items()
        }


def _spent(budgets: Budgets, charges: list[Charge]) -> list[Allowance]:
    try:
        return budgets.spend(charges) if charges else []
    except StoreFailed as failure:
        log.warning("budgets cannot be charged: %s", failure)
        return []


def _refusal(spent: Allowance) -> BudgetSpent:
    """The failure for a charge that was not granted; one larger than the whole budget never will be."""
    charge, wait_s = spent.charge, round(spent.resets_s, 3)
    whose = "this tenant's" if charge.account.startswith("tenant:") else "your"
    budget = f"{whose} budget of {charge.most:,} {WORDS[charge.unit]}"
    named: dict[str, Any] = {"unit": charge.unit, "budget": charge.most, "left": spent.left}
    if charge.amount > charge.most:
        message = f"this takes {charge.amount:,} of {budget}; ask for less, or ask whoever runs this server for more"
        return BudgetSpent(message, retryable=False, **named)
    return BudgetSpent(f"{budget} is used up; try again in {ceil(wait_s):,} s", retry_after_s=wait_s, **named)


_OF_THIS_CALL: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(meter: Meter | None) -> Iterator[None]:
    """Charge what the block uses to `meter`; None: to nobody."""
    token = _OF_THIS_CALL.set(meter)
    try:
        yield
    finally:
        _OF_THIS_CALL.reset(token)


def spend(unit: Unit, amount: int = 1) -> None:
    """Charge the caller of the call that runs in this thread, if any. Raises `BudgetSpent`."""
    if (meter := _OF_THIS_CALL.get()) is not None:
        meter.spend(unit, amount)


def account_of_call() -> str:
    """The account of the call that runs in this thread; "" for the user of this machine and the installation's own."""
    meter = _OF_THIS_CALL.get()
    return meter.account if meter else ""
