"""Runs tools and resources for a door, in threads: for MCP, and for the pages of the console."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

import anyio
import anyio.from_thread
import anyio.to_thread

from bio_mcp.call import Outcome, failed_outcome, perform
from bio_mcp.callers import ANONYMOUS, Caller, forbidden, is_anonymous, may
from bio_mcp.deadline import Deadline, Progress, silent
from bio_mcp.doors.auth.tokens import caller_of
from bio_mcp.ports import Backends
from bio_mcp.scope import account_of
from bio_mcp.tool import Context, Resource, Tool

if TYPE_CHECKING:
    from bio_mcp.doors.mcp.listing import RequestContext

Invoke = Callable[[Tool | Resource, Mapping[str, Any], Context], Outcome]


def in_process(backends: Backends, *, local: bool = False) -> Invoke:
    """Run tools and resources in this process, over `backends`; `local`: for the user of this machine."""

    return partial(perform, backends=backends, local=local)


T = TypeVar("T")

THREADS = 40
OF_A_CALLER = 10


class Threads:
    """`THREADS` worker threads, of which each caller has `OF_A_CALLER` at most.

    So do all together who come without a token. The user of this machine may have every one.
    """

    def __init__(self) -> None:
        self._all = anyio.CapacityLimiter(THREADS)
        self._of_callers: WeakValueDictionary[str, anyio.CapacityLimiter] = WeakValueDictionary()

    async def run(self, caller: Caller | None, work: Callable[[], T]) -> T:
        """Run `work` in a thread; a cancelled call leaves the thread to its end."""
        own: AbstractAsyncContextManager[Any] = nullcontext()
        if caller is not None:
            who = ANONYMOUS.subject if is_anonymous(caller) else account_of(caller)
            own = self._of_callers.setdefault(who, anyio.CapacityLimiter(OF_A_CALLER))
        async with own:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._all)


PROGRESS_TIMEOUT_S = 1.0  # for a client that asked for progress and does not read it
QUICK_S = 10  # a tool with a longer time-out may take long


class Running:
    """Runs tools in worker threads. Each kind of tool has its own: those that wait for outside services, those that may
    take long, and quick ones, which a slow call never holds up."""

    def __init__(self, invoke: Invoke) -> None:
        self._invoke = invoke
        self._outside, self._long, self._quick = Threads(), Threads(), Threads()

    async def run(
        self, what: Tool | Resource, arguments: Mapping[str, Any], request: "RequestContext", seconds: float = inf
    ) -> Outcome:
        """Run a tool or resource and return its outcome, which is a failure if the caller's token does not permit the
        call.

        It has its time-out, or `seconds` if those are fewer. If the client disconnects, the call's deadline expires at
        once.
        """
        deadline = Deadline(min(what.timeout, seconds))
        progress = _progress(request, deadline) if "progress_token" in (request.meta or {}) else silent
        context = Context(uuid4().hex, deadline, progress, caller=caller_of(request.request))
        return await self.within(what, arguments, context)

    async def within(self, what: Tool | Resource, arguments: Mapping[str, Any], context: Context) -> Outcome:
        """Run a tool or resource in `context`, as `run` does."""
        caller, deadline = context.caller, context.deadline
        if not may(caller, what.scope):
            return failed_outcome(what, arguments, forbidden(what.name, what.scope), context)
        threads = self._outside if what.open_world else self._long if what.timeout > QUICK_S else self._quick
        try:
            return await threads.run(caller, partial(self._invoke, what, arguments, context))
        except anyio.get_cancelled_exc_class():
            deadline.expire()
            raise


def _progress(context: "RequestContext", deadline: Deadline) -> Progress:
    """A progress callback for the worker thread; it drops what the client cannot receive any more."""

    async def report(done: int, total: int | None, message: str) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError), anyio.move_on_after(PROGRESS_TIMEOUT_S):
            await context.session.report_progress(done, total, message)

    def progress(done: int, total: int | None, message: str) -> None:
        if deadline.remaining > 0:
            anyio.from_thread.run(report, done, total, message)

    return progress
