"""Answers, calls and files, of one tenant."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bio_mcp.errors import NotFound
from bio_mcp.ports.answers import Answers, StoredAnswer
from bio_mcp.ports.calls import CallRecord, Calls
from bio_mcp.ports.stores import Blobs
from bio_mcp.tenants.names import Names, first, is_foreign


class TenantAnswers:
    """The port `Answers`, without those that other tenants were given."""

    def __init__(self, answers: Answers, names: Names) -> None:
        self._answers, self._names = answers, names

    def put(self, answer: StoredAnswer) -> None:
        self._answers.put(replace(answer, answer_id=self._names.stored(answer.answer_id)))

    def get(self, answer_id: str) -> StoredAnswer:
        return replace(self._answers.get(self._names.stored(answer_id)), answer_id=answer_id)

    def citing(self, pmid: str) -> list[StoredAnswer]:
        return self._own(self._answers.citing(pmid))

    def flag(self, answer_ids: Sequence[str], pmid: str) -> None:
        self._answers.flag([self._names.stored(each) for each in answer_ids], pmid)

    def flagged(self, limit: int) -> list[StoredAnswer]:
        return first(limit, self._answers.flagged, self._own)

    def _own(self, answers: Iterable[StoredAnswer]) -> list[StoredAnswer]:
        named = ((each, self._names.own(each.answer_id)) for each in answers)
        return [replace(each, answer_id=own) for each, own in named if own is not None]


class TenantCalls:
    """The port `Calls`, without those of other tenants."""

    def __init__(self, calls: Calls, names: Names) -> None:
        self._calls, self._names = calls, names

    def record(self, call: CallRecord) -> None:
        self._calls.record(replace(call, correlation_id=self._names.stored(call.correlation_id)))

    def get(self, correlation_id: str) -> CallRecord:
        return replace(self._calls.get(self._names.stored(correlation_id)), correlation_id=correlation_id)

    def latest(self, limit: int) -> list[CallRecord]:
        return first(limit, self._calls.latest, self._own)

    def _own(self, calls: Iterable[CallRecord]) -> list[CallRecord]:
        named = ((each, self._names.own(each.correlation_id)) for each in calls)
        return [replace(each, correlation_id=own) for each, own in named if own is not None]


class TenantBlobs:
    """The port `Blobs`; a tenant's files are in a folder of its own below each folder."""

    def __init__(self, blobs: Blobs, names: Names) -> None:
        self._blobs, self._names = blobs, names

    def put(self, folder: str, content: bytes, suffix: str = "") -> str:
        key = self._blobs.put(f"{folder}/{self._names.key}" if self._names.key else folder, content, suffix)
        return f"{folder}/{key.rpartition('/')[2]}"

    def get(self, key: str) -> bytes:
        return self._blobs.get(self._stored(key))

    def exists(self, key: str) -> bool:
        try:
            return self._blobs.exists(self._stored(key))
        except NotFound:
            return False

    def uri(self, key: str) -> str:
        return self._blobs.uri(self._stored(key))

    def join(self, keys: Sequence[str]) -> str:
        key = self._blobs.join([self._stored(each) for each in keys])
        return f"{keys[0].rpartition('/')[0]}/{key.rpartition('/')[2]}"

    def stream(self, key: str) -> Iterator[bytes]:
        return self._blobs.stream(self._stored(key))

    def link(self, key: str, name: str, seconds: int) -> str | None:
        return self._blobs.link(self._stored(key), name, seconds)

    def _stored(self, key: str) -> str:
        folder, _, name = key.rpartition("/")
        if any(is_foreign(f"{part}/", "/") for part in folder.split("/")):
            raise NotFound("there is no such file")
        return f"{folder}/{self._names.key}/{name}" if self._names.key else key
