"""What a call carries: its time, its caller, what it may still use, and what it has looked up.

A tool is handed it as `context`. What no context is handed to (stores, rate limiters, log lines) reaches that of the
call which runs in its thread by the functions below; a thread that a call starts has it only if it runs in a copy of
the call's context.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from math import ceil
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args
from urllib.parse import quote

from bio_mcp.callers import Caller, is_anonymous
from bio_mcp.deadline import NEVER, Deadline, Progress, silent
from bio_mcp.errors import BudgetSpent, StoreFailed, TakenOver
from bio_mcp.ports.state import Allowance, Budgets, Charge, Hold

T = TypeVar("T")

log = logging.getLogger("bio_mcp.budgets")

Unit = Literal["calls", "ncbi", "sources", "embeddings", "model_tokens"]
SECOND, DAY = 1, 86_400
UNITS: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        "calls": (SECOND, "calls a second"),
        "ncbi": (DAY, "requests to NCBI a day"),
        "sources": (DAY, "requests to other literature services a day"),
        "embeddings": (DAY, "embedded texts a day"),
        "model_tokens": (DAY, "tokens of the language model a day"),
    }
)
"""The seconds of a unit's period, and what a refusal calls it."""


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
        return [Charge(account, unit, amount, most, UNITS[unit][0]) for account, most in accounts if most is not None]

    def today(self, caller: Caller) -> list[Allowance]:
        """What is left of the budgets of a day, the caller's and its tenant's. Raises `StoreFailed`."""
        units = [unit for unit in get_args(Unit) if UNITS[unit][0] == DAY]
        charges = [each for unit in units for each in self.charges(caller, unit, 0)]
        return self.budgets.spend(charges) if charges else []


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
        try:
            allowances = limits.budgets.spend(charges) if charges else []
        except StoreFailed as failure:
            log.warning("budgets cannot be charged: %s", failure)
            return
        if not allowances:
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


def _refusal(spent: Allowance) -> BudgetSpent:
    """The failure for a charge that was not granted; one larger than the whole budget never will be."""
    charge, wait_s = spent.charge, round(spent.resets_s, 3)
    whose = "this tenant's" if charge.account.startswith("tenant:") else "your"
    budget = f"{whose} budget of {charge.most:,} {UNITS[charge.unit][1]}"
    named: dict[str, Any] = {"unit": charge.unit, "budget": charge.most, "left": spent.left}
    if charge.amount > charge.most:
        message = f"this takes {charge.amount:,} of {budget}; ask for less, or ask whoever runs this server for more"
        return BudgetSpent(message, retryable=False, **named)
    return BudgetSpent(f"{budget} is used up; try again in {ceil(wait_s):,} s", retry_after_s=wait_s, **named)


@dataclass(slots=True)
class CacheUse:
    """How much of a call's answer came from a cache: hits, misses, and the age in seconds of the oldest piece.

    `index_as_of`: when the last change was made (ISO 8601) to the copy of an index that it searched; None where there
    are no copies.
    """

    hits: int = 0
    misses: int = 0
    oldest_s: float = 0.0
    index_as_of: str | None = None

    @property
    def summary(self) -> dict[str, Any]:
        """As JSON, empty where neither a cache nor a copy was asked. `status` is hit, miss or mixed; `age_s` (seconds)
        comes with a hit."""
        found: dict[str, Any] = {}
        if self.hits + self.misses:
            status = "miss" if not self.hits else "mixed" if self.misses else "hit"
            age = {"age_s": int(self.oldest_s)} if self.hits else {}
            found["cache"] = {"status": status, "hits": self.hits, "misses": self.misses, **age}
        if self.index_as_of:
            found["index"] = {"as_of": self.index_as_of}
        return found


@dataclass(frozen=True, slots=True)
class Context:
    """The circumstances of a running call.

    `progress(done, total, message)` reports to the waiting caller. `unattended`: nobody reads the answer, as for a
    queued call. `caller` is whom the access token names, None without one. `local`: the user of this machine calls,
    by standard input or the command line, and may name its files. `meter` charges what is used, `cache_use` counts
    lookups; None: nobody is charged, nothing is counted. `found` has what `memoize` looked up; None: nothing is kept.
    `hold` is of the lease under which is written.
    """

    correlation_id: str = ""
    deadline: Deadline = NEVER
    progress: Progress = silent
    unattended: bool = False
    caller: Caller | None = None
    local: bool = False
    meter: Meter | None = field(default=None, repr=False)
    cache_use: CacheUse | None = field(default=None, repr=False)
    found: dict[object, Any] | None = field(default=None, repr=False)
    hold: Hold | None = None

    @property
    def subject(self) -> str | None:
        """The subject of the access token, for logs and the audit."""
        return self.caller.subject if self.caller else None


NO_CALL = Context()
_CURRENT: ContextVar[Context] = ContextVar("context", default=NO_CALL)


def current() -> Context:
    """The context of the call that runs in this thread; outside of calls one without an end and without a caller."""
    return _CURRENT.get()


@contextmanager
def entered(context: Context) -> Iterator[None]:
    """Make `context` the `current` one of the block."""
    token = _CURRENT.set(context)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def bounded_by(deadline: Deadline) -> Iterator[None]:
    """Make `deadline` the `call_deadline` of the block."""
    with entered(replace(_CURRENT.get(), deadline=deadline)):
        yield


@contextmanager
def one_index() -> Iterator[None]:
    """Until the block ends, this thread searches the index that it looks up first, by the model of that index.

    A block within another looks it up anew, as what writes for hours does for each of its steps.
    """
    with entered(replace(_CURRENT.get(), found={})):
        yield


@contextmanager
def holding(hold: Hold | None) -> Iterator[None]:
    """Write under the hold in the block, as `ports.state.Hold` says."""
    with entered(replace(_CURRENT.get(), hold=hold)):
        yield


def hold_in(store: str) -> Hold | None:
    """The hold under which this thread writes, if its lease is kept in that store."""
    hold = _CURRENT.get().hold
    return hold if hold and hold.store.startswith(store) else None


def taken_over(hold: Hold) -> TakenOver:
    """The failure for a write under a hold that has passed to another."""
    return TakenOver(f"another run took over {hold.name!r}; nothing was written", retry_after_s=5)


def call_deadline() -> Deadline:
    """The deadline of the call that runs in this thread; `NEVER` where none does, as in an import."""
    return _CURRENT.get().deadline


def memoize(key: object, find: Callable[[], T]) -> T:
    """What `find` returns for `key`: looked up once in a call or in `one_index`, and each time outside."""
    found = _CURRENT.get().found
    if found is None:
        return find()
    if key not in found:
        found[key] = find()
    made: T = found[key]
    return made


def spend(unit: Unit, amount: int = 1) -> None:
    """Charge the caller of the call that runs in this thread, if any. Raises `BudgetSpent`."""
    if (meter := _CURRENT.get().meter) is not None:
        meter.spend(unit, amount)


def account_of_call() -> str:
    """The account of the call that runs in this thread; "" for the user of this machine and the installation's own."""
    meter = _CURRENT.get().meter
    return meter.account if meter else ""


def count_lookups(hits: int, misses: int, oldest_s: float) -> None:
    """Add to the count of the call that runs in this thread; without one, do nothing."""
    if (use := _CURRENT.get().cache_use) is not None:
        use.hits += hits
        use.misses += misses
        use.oldest_s = max(use.oldest_s, oldest_s)


def searched_copy(as_of: str | None) -> None:
    """Note as of when the copy of an index is that the call which runs in this thread searches."""
    if (use := _CURRENT.get().cache_use) is not None:
        use.index_as_of = max(use.index_as_of or "", as_of or "") or None


class Block(threading.local):
    """The transactions that `reading_at_once` keeps open in a thread, by the store that is read; None outside of it."""

    opened: dict[object, Any] | None = None
    end: ExitStack


BLOCK = Block()


@contextmanager
def reading_at_once() -> Iterator[None]:
    """What this thread reads of a store in the block it reads as of one moment, where the store can.

    It is for what reads several times and writes nothing in between.
    """
    if BLOCK.opened is not None:
        yield
        return
    with ExitStack() as BLOCK.end:
        BLOCK.opened = {}
        try:
            yield
        finally:
            BLOCK.opened = None
