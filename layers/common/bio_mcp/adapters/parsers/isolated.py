"""The port `Parser`: each file is read by a child process, whose end is never this one's."""

import logging
import signal
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from bio_mcp.adapters.parsers.child import OUT_OF_MEMORY
from bio_mcp.adapters.parsers.frames import Broken, document_from_json
from bio_mcp.adapters.parsers.process import Child, Limits
from bio_mcp.adapters.parsers.versions import versions
from bio_mcp.deadline import call_deadline
from bio_mcp.errors import DeadlineExceeded, Failure, Misconfigured, UnreadableDocument
from bio_mcp.lazy import lazily
from bio_mcp.literature.parsed import LARGEST_FILE, ParsedDocument

READER = "bio_mcp.adapters.parsers.reading:read"
MOST_IDLE = 2
LONGEST_NAME = 200  # characters; its ending counts
_log = logging.getLogger(__name__)


class IsolatedParser:
    """Reads files in child processes, one for each thread that asks at the same time; an idle one is used again.

    `reader` is the function, as `module:name`, by which a child reads a file. `tesseract` is the program that
    recognises text in images. `environment` is all that a child is given of this process's.
    """

    def __init__(self, limits: Limits, *, tesseract: str, environment: Mapping[str, str], reader: str = READER) -> None:
        self._limits, self._tesseract, self._environment, self._reader = limits, tesseract, environment, reader
        self._idle: list[Child] = []
        self._lock = threading.Lock()

    @lazily
    def version(self) -> str:
        return versions(self._tesseract, self._environment)

    def parse(self, content: bytes, name: str, languages: Sequence[str] = ()) -> ParsedDocument:
        if len(content) > LARGEST_FILE:
            raise UnreadableDocument(f"The file is larger than {LARGEST_FILE >> 20} MB; split it.")
        child = self._take()
        answer = self._ask(child, content, name, languages)
        if answer is None and not child.has_file and not child.timed_out:  # it ended while it was idle
            child.end()
            child = self._start()
            answer = self._ask(child, content, name, languages)
        if answer is None:
            raise self._died(child)
        self._give_back(child, answer)
        if "document" not in answer:
            raise self._refused(answer)
        document: ParsedDocument = answer["document"]
        return document

    def close(self) -> None:
        """End the idle children."""
        with self._lock:
            children, self._idle = self._idle, []
        for child in children:
            child.end()

    def _ask(self, child: Child, content: bytes, name: str, languages: Sequence[str]) -> dict[str, Any] | None:
        """The child's answer, with the document in it; None if it ended without one."""
        try:
            answer = child.ask(content, name[-LONGEST_NAME:], languages)
            if answer and "document" in answer:
                answer["document"] = document_from_json(answer["document"])
            return answer
        except Broken:
            return {"failed": "Broken", "ends": True}
        except BaseException:  # a keyboard interrupt among them
            child.end()
            raise

    def _take(self) -> Child:
        with self._lock:
            while self._idle:
                if (child := self._idle.pop()).is_alive:
                    return child
                child.end()
        return self._start()

    def _start(self) -> Child:
        return Child(self._limits, reader=self._reader, tesseract=self._tesseract, environment=self._environment)

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
        return _damaged(str(answer.get("failed")))

    def _died(self, child: Child) -> Failure:
        """Why the child ended without an answer."""
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
        return _damaged(signal.Signals(-code).name if code < 0 else f"exit code {code}")

    def _too_large(self, or_else: str = "") -> UnreadableDocument:
        return UnreadableDocument(
            f"Reading the file takes more than {self._limits.memory >> 20:,} MB of memory{or_else}; split it, or raise "
            "BIO_MCP_PARSE_MEMORY_MB."
        )


def _damaged(sign: str) -> UnreadableDocument:
    return UnreadableDocument(f"The reader of this file failed ({sign}), so the file may be damaged; save it again.")
