"""Bulk writes. Each document has a status of its own: those refused for the moment are sent again, the others not."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from bio_mcp.adapters.opensearch.client import BUSY_STATUS, Busy, IndexRefused, OpenSearchTransport, kind_of
from bio_mcp.adapters.retry import retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import IndexUnavailable
from bio_mcp.scope import call_deadline

REQUEST_BYTES = 4 << 20  # small domains refuse more than 10 MiB
CONFLICT, NOT_FOUND, NO_ANSWER = 409, 404, 0
PASSING = (*BUSY_STATUS, CONFLICT, NO_ANSWER)


class _Pending(IndexUnavailable):
    """Some documents are not written yet, and none was refused."""


Actions = Callable[[Collection[str]], Mapping[str, bytes]]
"""Ids that are not written yet -> the lines to send for those that still need writing."""


def write(transport: OpenSearchTransport, path: str, ids: Collection[str], actions: Actions) -> None:
    """Send bulk requests until the documents `ids` are written. Before every try `actions` gives their lines, from what
    is stored by then.

    Raises `IndexUnavailable`, which counts the documents that were not written, and whatever `actions` raises. What
    was written stays written.
    """
    pending, deadline = list(ids), call_deadline().share(transport.write_s)

    def send_pending() -> None:
        due = actions(pending) if pending else {}
        answers = _sent(transport, path, due, deadline) if due else {}
        pending[:] = [key for key in due if answers[key][0] in PASSING]
        if refused := [why for status, why in answers.values() if not (status in PASSING or 200 <= status < 300)]:
            raise _unwritten(len(refused) + len(pending), len(ids), refused[0], retryable=False)
        if pending:
            raise _unwritten(len(pending), len(ids), answers[pending[0]][1], retryable=True)

    retry(send_pending, worth=_Pending, backoff=transport.bulk_backoff, deadline=deadline)


def _sent(
    transport: OpenSearchTransport, path: str, due: Mapping[str, bytes], deadline: Deadline
) -> dict[str, tuple[int, str]]:
    """Send each document once; return status and reason by id, `NO_ANSWER` for those without an answer."""
    found = dict.fromkeys(due, (NO_ANSWER, "no answer"))
    for part in _parts(due):
        try:
            answer = transport.once("POST", path, b"".join(part.values()), deadline)
        except Busy:
            break  # the parts after it would only add to its load
        except IndexRefused as error:
            found.update(dict.fromkeys(part, (error.status, error.kind)))
            break
        found.update((key, state) for key, state in _states(answer) if key in part)
    return found


def _parts(due: Mapping[str, bytes]) -> Iterator[dict[str, bytes]]:
    """Divide the lines into requests of at most `REQUEST_BYTES`; a document that is larger has one to itself."""
    part: dict[str, bytes] = {}
    size = 0
    for key, line in due.items():
        if part and size + len(line) > REQUEST_BYTES:
            yield part
            part, size = {}, 0
        part[key] = line
        size += len(line)
    yield part


def _states(answer: Any) -> Iterator[tuple[str, tuple[int, str]]]:
    for item in answer.get("items", ()):
        [outcome] = item.values()
        deleted = outcome["status"] == NOT_FOUND and "error" not in outcome  # it had not been there
        yield outcome["_id"], (200 if deleted else outcome["status"], kind_of(outcome))


def _unwritten(count: int, of: int, why: str, *, retryable: bool) -> IndexUnavailable:
    kind = _Pending if retryable else IndexUnavailable
    return kind(
        f"{count} of {of} documents could not be written to the passage index ({why}). The others are safe; "
        f"{'try again in a minute' if retryable else 'look at its log'}.",
        retryable=retryable,
        unwritten=count,
    )
