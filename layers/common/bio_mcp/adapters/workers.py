"""The port `Workers`: processes of this machine that embed. A batch whose process died is done again by another."""

import contextlib
import logging
import os
import pickle
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Timer
from typing import IO, Any

from bio_mcp.adapters.child_processes import ChildProcess, own_stdout
from bio_mcp.errors import EmbeddingFailed, Failure
from bio_mcp.literature.medline import OddRecord
from bio_mcp.literature.records import Article, Document
from bio_mcp.ports.stores import Embeddings
from bio_mcp.retrieval.passages import Entry
from bio_mcp.syncing.indexing import entries_of

MODULE = "bio_mcp.adapters.workers"
ANSWER_S = 900.0  # seconds for one answer; a batch takes some three on one core
LAST = 2_000  # bytes of standard error that tell how a process died


class Died(Exception):
    """The process ended without an answer; the message is how, and the end of its standard error."""


class Worker(ChildProcess):
    """A process that embeds with the model of the first message to it. One thread at a time may ask it.

    `environment` is all that the process is given of this one's. Raises `EmbeddingFailed` if it cannot be started.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        given = {**environment, "OMP_NUM_THREADS": "1"}
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed by `end`
        try:
            super().__init__(MODULE, environment=given, stderr=self._stderr)
        except OSError as error:
            self._stderr.close()
            raise EmbeddingFailed(
                f"A process that embeds could not be started ({error.strerror}). Use fewer of them if the machine has "
                "no room for so many.",
                retryable=False,
            ) from error

    def ask(self, request: Any, seconds: float) -> Any:
        """The answer to a batch, or to the first message, which is the model to make: its fingerprint or a `Failure`.

        The process is killed if it does not come within so many seconds. Raises `Died`.
        """
        timer = Timer(seconds, self.kill)
        timer.daemon = True
        timer.start()
        try:
            pickle.dump(request, self._input, pickle.HIGHEST_PROTOCOL)
            self._input.flush()
            return pickle.load(self._output)  # noqa: S301  from a process of ours
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as broken:
            raise Died(self._how()) from broken
        finally:
            timer.cancel()

    def end(self) -> int:
        self._stderr.close()
        return super().end()

    def _how(self) -> str:
        self.kill()
        code = self._process.wait()
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - LAST))
        return f"exit code {code}: {self._stderr.read().decode(errors='replace')}"


Known = Mapping[str, Mapping[str, str]]
HARMLESS = Article("1", title="Aspirin")
_log = logging.getLogger(__name__)


class WorkerProcesses(contextlib.AbstractContextManager["WorkerProcesses"]):
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

    def __exit__(self, *_error: object) -> None:
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
            if isinstance(harmless, Failure):
                raise harmless
            raise EmbeddingFailed(
                "The processes that embed end before they are done; the log says how. Use fewer of them if memory is "
                "short."
            )
        why = "the process that embeds it ends each time" if isinstance(answer, Died) else str(answer)
        return OddRecord(f"PMID {article.pmid} cannot be embedded: {why.rstrip('.')}.", retryable=False)

    def _ask(self, articles: Sequence[Article], known: Known) -> Any:
        """A process's answer: entries, a `Failure`, or `Died` if it ended without one."""
        worker, is_new = self._take()
        try:
            if is_new:
                self._check(worker.ask(self._make, ANSWER_S))
            answer = worker.ask((articles, known), self._batch_s)
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
            worker = Worker(self._environment)
            self._alive.add(worker)
            return worker, True

    def _check(self, found: str | Failure) -> None:
        """Raise what keeps a process from working: it has no model, or another one."""
        if isinstance(found, Failure):
            raise found
        if found != self.fingerprint:
            raise EmbeddingFailed("The embedding model was exchanged while papers were embedded; run this again.")


def main() -> None:
    """Make the model that the first message names, tell its fingerprint, then answer requests until the input ends."""
    requests, answers = sys.stdin.buffer, own_stdout()
    with contextlib.suppress(BrokenPipeError):
        make: Callable[[], Embeddings] = pickle.load(requests)  # noqa: S301  from the process that started this
        for answer in _answers(make, requests):
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


def _answers(make: Callable[[], Embeddings], requests: IO[bytes]) -> Iterator[Any]:
    """Yield the fingerprint, then the entries for each request; a failure in place of either."""
    try:
        embeddings = make()
        yield embeddings.fingerprint
    except Failure as failure:
        yield failure
        return
    with contextlib.suppress(EOFError):
        while True:
            articles, known = pickle.load(requests)  # noqa: S301  from the process that started this
            try:
                yield entries_of([Document(article, "") for article in articles], known, embeddings)
            except Failure as failure:
                yield failure


if __name__ == "__main__":
    main()
