"""Who we are to NCBI."""

from collections.abc import Callable, Iterator, Mapping


class Identity(Mapping[str, str]):
    """What is sent with every request: tool and, where there are any, email and api_key, which `key` gives anew each
    time, so that a key may be replaced while we run."""

    def __init__(self, tool: str, email: str = "", key: Callable[[], str] | None = None) -> None:
        self._known = {name: value for name, value in (("tool", tool), ("email", email)) if value}
        self._key = key

    def __getitem__(self, name: str) -> str:
        return self._key() if name == "api_key" and self._key else self._known[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._known
        if self._key:
            yield "api_key"

    def __len__(self) -> int:
        return len(self._known) + (self._key is not None)
