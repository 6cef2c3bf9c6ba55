"""How this client identifies itself to NCBI."""

from collections.abc import Callable, Iterator, Mapping


class Identity(Mapping[str, str]):
    """The fields sent with every request: tool and, if given, email and api_key.

    `key` is called for every request, so that the key can be rotated while the process runs.
    """

    def __init__(self, tool: str, email: str = "", key: Callable[[], str] | None = None) -> None:
        self._fixed = {name: value for name, value in (("tool", tool), ("email", email)) if value}
        self._key = key

    def __getitem__(self, name: str) -> str:
        return self._key() if name == "api_key" and self._key else self._fixed[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._fixed
        if self._key:
            yield "api_key"

    def __len__(self) -> int:
        return len(self._fixed) + (self._key is not None)
