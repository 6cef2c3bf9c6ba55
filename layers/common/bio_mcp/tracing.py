"""Spans: one of each call of a tool, and within it one of each request to a service.

Nothing is recorded before a door names a `Tracer`. A span says which tool, which service and which operation, how long
it took and what failed; never what was asked, found, stored or sent.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

End = Callable[[str, Mapping[str, str]], None]
"""Ends a span: with the kind of failure, "" without one, and what is known by then."""


class Tracer(Protocol):
    """Records spans. It raises nothing: a call does not fail for want of a collector."""

    def call(self, tool: str, correlation_id: str) -> AbstractContextManager[Callable[[str], None]]:
        """The span of a call, with what notes the kind of its failure. Requests in the block are within it, in threads
        that run in a copy of its context too, and have its tool and correlation id."""

    def request(self, service: str, operation: str, known: Mapping[str, str]) -> End:
        """Begin the span of a request."""


_tracer: Tracer | None = None


def record(tracer: Tracer | None) -> None:
    """Record by `tracer` from now on, None: nothing."""
    global _tracer
    _tracer = tracer


@contextmanager
def call_span(tool: str, correlation_id: str) -> Iterator[Callable[[str], None]]:
    """The span of a call in the block; see `Tracer.call`."""
    if _tracer is None:
        yield _unnoted
        return
    with _tracer.call(tool, correlation_id) as failed:
        yield failed


def request_span(service: str, operation: str, **known: str) -> End:
    """Begin the span of a request; whoever began it calls what is returned."""
    return _unended if _tracer is None else _tracer.request(service, operation, known)


def _unnoted(_problem: str) -> None:
    """Nothing is recorded."""


def _unended(_problem: str, _known: Mapping[str, str]) -> None:
    """Nothing is recorded."""
