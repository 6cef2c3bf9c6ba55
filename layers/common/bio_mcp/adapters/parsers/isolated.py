"""The port `Parser`: each file is read by a child process with limits, whose end is never this one's."""

import contextlib
import json
import logging
import re
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from time import monotonic
from typing import Any

from bio_mcp.adapters.child_processes import ChildProcess
from bio_mcp.adapters.parsers.frames import (
    OUT_OF_MEMORY,
    Broken,
    document_from_json,
    line,
    read_line,
    words_from_json,
)
from bio_mcp.errors import DeadlineExceeded, Failure, Misconfigured, UnreadableDocument
from bio_mcp.literature.documents import LARGEST_FILE, PageWord, ParsedDocument
from bio_mcp.scope import call_deadline

MODULE = "bio_mcp.adapters.parsers.child"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may take: `memory` in bytes, `seconds` in all, `quiet_s` seconds without a sign of progress."""

    memory: int
    seconds: float
    quiet_s: float
    pages: int


class Child(ChildProcess):
    """A process that reads one file after the other. Not for several threads.

    `has_file`: it has received the file that it was last asked about; one that ends before was not ended by it.
    It is given `environment` and nothing else of the parent's, so that a file that takes it over finds no key there.
    """

    def __init__(self, limits: Limits, *, reader: str, tesseract: str, environment: Mapping[str, str]) -> None:
        self._limits = limits
        self.timed_out = self.has_file = False
        given = {"memory": limits.memory, "pages": limits.pages, "reader": reader, "tesseract": tesseract}
        environment = {**environment, "OMP_THREAD_LIMIT": "1"}
        super().__init__(MODULE, json.dumps(given), environment=environment, stderr=subprocess.DEVNULL)

    @property
    def is_alive(self) -> bool:
        return not self.timed_out and self._process.poll() is None

    def ask(
        self, content: bytes, name: str, languages: Sequence[str], page: int | None = None
    ) -> dict[str, Any] | None:
        """The answer about a file, with the document in it, or with the words on a `page`; None when the process
        ended, or was ended, without one."""
        self.has_file, self._heard_at = False, monotonic()
        end, done = self._heard_at + min(self._limits.seconds, call_deadline().remaining), threading.Event()
        threading.Thread(target=self._watch, args=(end, done), daemon=True).start()
        try:
            with contextlib.suppress(BrokenPipeError):
                self._input.write(
                    line({"size": len(content), "name": name, "languages": list(languages), "page": page})
                )
                self._input.write(content)
                self._input.flush()
            while (answer := read_line(self._output)) == {}:
                self.has_file, self._heard_at = True, monotonic()
            if answer and "document" in answer:
                answer["document"] = document_from_json(answer["document"])
            elif answer and "words" in answer:
                answer["words"] = words_from_json(answer["words"])
            return answer
        except Broken:
            return {"failed": "Broken", "ends": True}
        except BaseException:  # a keyboard interrupt among them
            self.end()
            raise
        finally:
            done.set()

    def _watch(self, end: float, done: threading.Event) -> None:
        """Kill the process unless it is done by its end, or where it gave no sign of progress for too long."""
        while not done.wait(max(0.0, min(end, self._heard_at + self._limits.quiet_s) - monotonic())):
            if monotonic() >= min(end, self._heard_at + self._limits.quiet_s):
                self.timed_out = True
                self.kill()
                return


READERS = 2  # raise it whenever the same file may be read differently
_PACKAGES = ("lxml", "markdown-it-py", "pypdfium2", "python-docx")


READER = "bio_mcp.adapters.parsers.reading:read"
MOST_IDLE = 2
LONGEST_NAME = 200  # characters; its ending counts
_DAMAGED = "The reader of this file failed ({}), so the file may be damaged; save it again."
_log = logging.getLogger(__name__)


class IsolatedParser:
    """Reads files in child processes, one for each thread that asks at the same time; an idle one is used again.

    `reader` is the function, as `module:name`, by which a child reads a file. `tesseract` is the program that
    recognises text in images. `environment` is all that a child is given of this process's.
    """

    def __init__(self, limits: Limits, *, tesseract: str, environment: Mapping[str, str], reader: str = READER) -> None:
        self._limits, self._tesseract, self._environment = limits, tesseract, environment
        self._start = partial(Child, limits, reader=reader, tesseract=tesseract, environment=environment)
        self._idle: list[Child] = []
        self._lock = threading.Lock()

    @cached_property
    def version(self) -> str:
        """Every version in one line: `1 lxml-6.1 ... tesseract-5.3.0`."""
        found = []
        for name in _PACKAGES:
            try:
                found.append(f"{name}-{version(name)}")
            except PackageNotFoundError:
                found.append(f"{name}-none")
        try:
            asked = [self._tesseract, "--version"]
            ran = subprocess.run(asked, env=dict(self._environment), capture_output=True, timeout=30)
            said = re.search(rb"tesseract v?(\d[\w.-]*)", ran.stdout + ran.stderr)
            program = said[1].decode("ascii", "replace") if said else "unknown"
        except (OSError, subprocess.TimeoutExpired):
            program = "none"
        return " ".join([str(READERS), *found, f"tesseract-{program}"])

    def parse(self, content: bytes, name: str, languages: Sequence[str] = ()) -> ParsedDocument:
        document: ParsedDocument = self._asked("document", content, name, languages)
        return document

    def words(self, content: bytes, page: int, languages: Sequence[str] = ()) -> list[PageWord]:
        words: list[PageWord] = self._asked("words", content, "page.pdf", languages, page)
        return words

    def _asked(self, what: str, content: bytes, name: str, languages: Sequence[str], page: int | None = None) -> Any:
        """What a child answers about the file, under that name. Raises what `parse` does."""
        if len(content) > LARGEST_FILE:
            raise UnreadableDocument(f"The file is larger than {LARGEST_FILE >> 20} MB; split it.")
        child, shown = self._take(), name[-LONGEST_NAME:]
        answer = child.ask(content, shown, languages, page)
        if answer is None and not child.has_file and not child.timed_out:  # it ended while it was idle
            child.end()
            child = self._start()
            answer = child.ask(content, shown, languages, page)
        if answer is None:
            raise self._died(child)
        self._give_back(child, answer)
        if what not in answer:
            raise self._refused(answer)
        return answer[what]

    def close(self) -> None:
        """End the idle children."""
        with self._lock:
            children, self._idle = self._idle, []
        for child in children:
            child.end()

    def _take(self) -> Child:
        with self._lock:
            while self._idle:
                if (child := self._idle.pop()).is_alive:
                    return child
                child.end()
        return self._start()

    def _give_back(self, child: Child, answer: Mapping[str, Any]) -> None:
        with self._lock:
            if not answer.get("ends") and child.is_alive and len(self._idle) < MOST_IDLE:
                self._idle.append(child)
                return
        child.end()

    def _refused(self, answer: Mapping[str, Any]) -> Failure:
        if missing := answer.get("missing"):
            return Misconfigured(f"Reading this kind of file takes {missing}, which is not installed.")
        if answer.get("memory"):
            return self._too_large()
        if refused := answer.get("refused"):
            return UnreadableDocument(str(refused))
        _log.warning("a reader failed: %s at %s", answer.get("failed"), answer.get("where"))
        return UnreadableDocument(_DAMAGED.format(answer.get("failed")))

    def _died(self, child: Child) -> Failure:
        code = child.end()
        if child.timed_out and call_deadline().remaining <= 0:
            return DeadlineExceeded("out of time while a file was read; it needs longer than this call has")
        if child.timed_out:
            return UnreadableDocument(
                f"The file could not be read within {self._limits.seconds:,.0f} s "
                f"({self._limits.quiet_s:,.0f} s without progress); split it, or raise BIO_MCP_PARSE_SECONDS."
            )
        if code == OUT_OF_MEMORY:
            return self._too_large()
        if code == -signal.SIGABRT:  # so ends a library in C++ that gets no memory, but also one that met a fault
            return self._too_large(", or the file is damaged")
        return UnreadableDocument(_DAMAGED.format(signal.Signals(-code).name if code < 0 else f"exit code {code}"))

    def _too_large(self, or_else: str = "") -> UnreadableDocument:
        return UnreadableDocument(
            f"Reading the file takes more than {self._limits.memory >> 20:,} MB of memory{or_else}; split it, or raise "
            "BIO_MCP_PARSE_MEMORY_MB."
        )
