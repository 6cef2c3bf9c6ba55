"""A worker as the process that started it sees it: asked for one batch at a time."""

import contextlib
import os
import pickle
import tempfile
from collections.abc import Callable, Mapping
from threading import Timer
from typing import IO, Any, cast

from bio_mcp.adapters.child_processes import start_module
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.ports.stores import Embeddings

MODULE = "bio_mcp.adapters.workers.worker"
ANSWER_S = 900.0  # seconds for one answer; a batch takes some three on one core
LAST = 2_000  # bytes of standard error that tell how a process died


class Died(Exception):
    """The process ended without an answer; the message is how, and the end of its standard error."""


class Worker:
    """A process that embeds with the model that `make` makes in it. One thread at a time may ask it.

    `make` is pickled. `environment` is all that the process is given of this one's. A process that does not answer
    a batch within `batch_s` seconds is killed. Raises `EmbeddingFailed` if it cannot be started.
    """

    def __init__(
        self, make: Callable[[], Embeddings], environment: Mapping[str, str], *, batch_s: float = ANSWER_S
    ) -> None:
        self._make, self._batch_s = make, batch_s
        given = {**environment, "OMP_NUM_THREADS": "1"}
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed by `end`
        try:
            self._process = start_module(MODULE, environment=given, stderr=self._stderr)
        except OSError as error:
            self._stderr.close()
            raise EmbeddingFailed(
                f"A process that embeds could not be started ({error.strerror}). Use fewer of them if the machine has "
                "no room for so many.",
                retryable=False,
            ) from error

    def fingerprint(self) -> Any:
        """The fingerprint of the model in it, or a `Failure`. To be asked once, before anything else."""
        return self._ask(self._make, ANSWER_S)

    def ask(self, batch: Any) -> Any:
        """The answer to a batch. Raises `Died`."""
        return self._ask(batch, self._batch_s)

    def _ask(self, request: Any, seconds: float) -> Any:
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

    def kill(self) -> None:
        """Kill the process; a thread that waits for its answer gets `Died`."""
        self._process.kill()

    def end(self) -> None:
        """Kill the process and close what it was connected by."""
        self.kill()
        for stream in (self._input, self._output, self._stderr):
            with contextlib.suppress(OSError):
                stream.close()
        self._process.wait()

    def _how(self) -> str:
        self.kill()
        code = self._process.wait()
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - LAST))
        return f"exit code {code}: {self._stderr.read().decode(errors='replace')}"

    @property
    def _input(self) -> IO[bytes]:
        return cast(IO[bytes], self._process.stdin)

    @property
    def _output(self) -> IO[bytes]:
        return cast(IO[bytes], self._process.stdout)
