"""The port `Workers` over processes of this machine. A batch whose process died is done again by another one."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

from bio_mcp.adapters.workers.process import ANSWER_S, Died, Worker
from bio_mcp.errors import EmbeddingFailed, Failure
from bio_mcp.literature.medline import OddRecord
from bio_mcp.literature.records import Article
from bio_mcp.ports.stores import Embeddings
from bio_mcp.retrieval.passages import Entry

Known = Mapping[str, Mapping[str, str]]
HARMLESS = Article("1", title="Aspirin")
_log = logging.getLogger(__name__)


class WorkerProcesses:
    """`count` processes, started when they are needed and killed at the end of the `with` block.

    Each makes its model by `make`, which is pickled, and is refused unless that model has this `fingerprint`. One
    that does not answer a batch within `batch_s` seconds is killed.
    """

    def __init__(
        self,
        make: Callable[[], Embeddings],
        count: int,
        *,
        fingerprint: str,
        environment: Mapping[str, str],
        batch_s: float = ANSWER_S,
    ) -> None:
        self.count, self.died = count, 0
        self._make, self.fingerprint, self._environment = make, fingerprint, environment
        self._batch_s = batch_s
        self._threads = ThreadPoolExecutor(count, "worker")  # each waits for one process at a time
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._alive: set[Worker] = set()
        self._closed = False

    def __enter__(self) -> "WorkerProcesses":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            for worker in self._alive:
                worker.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._idle:
            worker.end()

    def prepare(self, articles: Sequence[Article], known: Known) -> "Future[list[Entry | OddRecord]]":
        return self._threads.submit(self._prepare, articles, known)

    def _prepare(self, articles: Sequence[Article], known: Known) -> list[Entry | OddRecord]:
        answer = self._ask(articles, known)
        if isinstance(answer, Died):  # perhaps by no fault of the batch
            answer = self._ask(articles, known)
        if isinstance(answer, list):
            return answer
        return [self._alone(article, known) for article in articles]

    def _alone(self, article: Article, known: Known) -> Entry | OddRecord:
        """The entry of an article of a batch that failed; odd if it is at fault, as a harmless one shows."""
        answer = self._ask([article], known)
        if isinstance(answer, list):
            entry: Entry = answer[0]
            return entry
        if not isinstance(harmless := self._ask([HARMLESS], {}), list):
            raise _failure(harmless)
        why = "the process that embeds it ends each time" if isinstance(answer, Died) else str(answer)
        return OddRecord(f"PMID {article.pmid} cannot be embedded: {why.rstrip('.')}.", retryable=False)

    def _ask(self, articles: Sequence[Article], known: Known) -> Any:
        """A process's answer: entries, a `Failure`, or `Died` if it ended without one."""
        worker, is_new = self._take()
        try:
            if is_new:
                self._check(worker.fingerprint())
            answer = worker.ask((articles, known))
        except (Died, Failure) as ended:
            with self._lock:
                self._alive.discard(worker)
                self.died += isinstance(ended, Died) and not self._closed
            worker.end()
            if isinstance(ended, Failure):
                raise
            _log.warning("a worker process died: %s", ended)
            return ended
        with self._lock:
            self._idle.append(worker)
        return answer

    def _take(self) -> tuple[Worker, bool]:
        """A process, and whether it was just started."""
        with self._lock:
            if self._closed:
                raise EmbeddingFailed("The worker processes were ended.")
            if self._idle:
                return self._idle.pop(), False
            worker = Worker(self._make, self._environment, batch_s=self._batch_s)
            self._alive.add(worker)
            return worker, True

    def _check(self, found: str | Failure) -> None:
        """Raise what keeps a process from working: it has no model, or another one."""
        if isinstance(found, Failure):
            raise found
        if found != self.fingerprint:
            raise EmbeddingFailed("The embedding model was exchanged while papers were embedded; run this again.")


def _failure(found: Failure | Died) -> Failure:
    if isinstance(found, Failure):
        return found
    return EmbeddingFailed(
        "The processes that embed end before they are done; the log says how. Use fewer of them if memory is short."
    )
