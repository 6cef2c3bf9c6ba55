"""Whether this server can do its work: `GET /ready` asks its store, its index and its model, and has them search."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from uuid import uuid4

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse

from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors.running import Invoke
from bio_mcp.errors import StoreFailed
from bio_mcp.health import FAIL, OK, Finding, examine
from bio_mcp.ports import Backends
from bio_mcp.scope import bounded_by, one_index
from bio_mcp.tool import Context

ANSWERS_S = 4.0  # within which a part answers
HOLDS_S = 5.0  # for which an answer holds: strangers may ask, and each process asks its parts no more often
QUESTION = "heart failure"

Part = Callable[[], object]


def parts_of(backends: Backends) -> dict[str, Part]:
    """What a search needs of this process, and the search itself."""
    from bio_mcp.answering.search import Question, search_papers

    return {
        "store": lambda: backends.documents.get_many(["1"]),
        "index": lambda: backends.passages.count(),
        "model": lambda: backends.embeddings.embed([QUESTION]),
        "search": lambda: search_papers(Question(QUESTION), backends, Deadline(ANSWERS_S)),
    }


def search_by(invoke: Invoke) -> dict[str, Part]:
    """A search, where its parts are in other functions."""

    def search() -> None:
        context = Context(uuid4().hex, Deadline(ANSWERS_S))
        if invoke(TOOLS["rag.search"], {"query": QUESTION, "top_k": 1}, context).failed:
            raise StoreFailed("a search fails")

    return {"search": search}


class Ready:
    """Answers 200 while all `parts` answer, else 503 with the names of those that do not; never with a reason, which
    the log has. `clock` is in seconds and defaults to the time of day, as the monotonic clock of a frozen Lambda
    environment stands still."""

    def __init__(
        self, parts: Mapping[str, Part], clock: Callable[[], float] = time.time, answers_s: float = ANSWERS_S
    ) -> None:
        self._parts, self._clock, self._answers_s = parts, clock, answers_s
        self._threads = {name: anyio.CapacityLimiter(1) for name in parts}  # a part that hangs blocks no other
        self._asking = anyio.Lock()
        self._broken: list[str] = []
        self._asked = float("-inf")

    async def answer(self, _request: Request) -> JSONResponse:
        """Answer by what was found within the last seconds, or is found now."""
        async with self._asking:
            if not 0 <= self._clock() - self._asked < HOLDS_S:
                self._broken = await self._ask()
                self._asked = self._clock()
        body = {"status": "not ready", "broken": self._broken} if self._broken else {"status": "ready"}
        return JSONResponse(body, 503 if self._broken else 200, {"cache-control": "no-store"})

    async def _ask(self) -> list[str]:
        answered: set[str] = set()

        async def ask(name: str) -> None:
            with anyio.move_on_after(self._answers_s):
                check = partial(_answers, name, self._parts[name])
                if await anyio.to_thread.run_sync(check, abandon_on_cancel=True, limiter=self._threads[name]):
                    answered.add(name)

        async with anyio.create_task_group() as group:
            for name in self._parts:
                group.start_soon(ask, name)
        return [name for name in self._parts if name not in answered]


def _answers(name: str, part: Part) -> bool:
    def check() -> Finding:
        part()
        return Finding(OK, "answers")

    with bounded_by(Deadline(ANSWERS_S)), one_index():
        return examine(name, check).state != FAIL
