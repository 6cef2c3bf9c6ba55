"""Threads for calls: who has how many of them."""

import threading
from dataclasses import replace

import anyio
import pytest

from bio_mcp.callers import ANONYMOUS, Caller
from bio_mcp.doors.running import OF_A_CALLER, THREADS, Threads

pytestmark = pytest.mark.anyio
ADA, BOB = Caller("ada"), Caller("bob")


class Stalled:
    """Calls that wait until they are let go; `begun` is who has a thread."""

    def __init__(self):
        self.threads, self.over = Threads(), threading.Event()
        self.begun, self._begun = [], threading.Semaphore(0)

    async def call(self, caller):
        def work():
            self.begun.append(caller)
            self._begun.release()
            self.over.wait(30)

        await self.threads.run(caller, work)

    async def all_begun(self, many):
        for _ in range(many):
            await anyio.to_thread.run_sync(self._begun.acquire)


async def begun(*callers, of):
    """Who has a thread, of calls that never end; `of` is how many will have one."""
    stalled = Stalled()
    async with anyio.create_task_group() as calls:
        for caller in callers:
            calls.start_soon(stalled.call, caller)
        await stalled.all_begun(of)
        await anyio.sleep(0)
        found = list(stalled.begun)
        stalled.over.set()
    return found


async def test_a_caller_with_many_slow_calls_leaves_threads_to_others():
    found = await begun(*[ADA] * (THREADS + 5), BOB, of=OF_A_CALLER + 1)
    assert (found.count(ADA), found.count(BOB)) == (OF_A_CALLER, 1)


async def test_all_who_come_without_a_token_have_as_many_as_one_caller():
    strangers = [replace(ANONYMOUS, client=str(address)) for address in range(THREADS)]
    found = await begun(*strangers, BOB, of=OF_A_CALLER + 1)
    assert (len(found), found.count(BOB)) == (OF_A_CALLER + 1, 1)


async def test_the_same_subject_of_another_tenant_is_another_caller():
    found = await begun(*[ADA] * THREADS, replace(ADA, tenant="lab"), of=OF_A_CALLER + 1)
    assert replace(ADA, tenant="lab") in found


async def test_the_user_of_this_machine_may_have_every_thread():
    assert len(await begun(*[None] * (THREADS + 5), of=THREADS)) == THREADS
