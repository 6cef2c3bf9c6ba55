"""Worker threads for calls, shared among callers."""

from collections.abc import Callable
from typing import TypeVar
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from bio_mcp.callers import ANONYMOUS, Caller, is_anonymous
from bio_mcp.metering import account_of

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
        if caller is None:
            return await self._run(work)
        who = ANONYMOUS.subject if is_anonymous(caller) else account_of(caller)
        async with self._of_callers.setdefault(who, anyio.CapacityLimiter(OF_A_CALLER)):
            return await self._run(work)

    async def _run(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._all)
