"""What is used of opensearch-py: its transport, its connection, its signer and their errors, and nothing else of it.

`import opensearchpy` loads sixty APIs, a query language and requests: 210 ms of CPU in a cold start. These modules take
10: the packages are entered without being run, what is imported only if it can be is hidden, and the module of signers,
of which one is for requests, finds no more than a base class in place of that library. Beside other threads, which
might import the same at that moment, nothing that others use is hidden.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from types import ModuleType, SimpleNamespace


@contextmanager
def _stand_ins() -> Iterator[None]:
    """What the block imports finds these in place of modules that nobody has loaded; later imports load them whole."""
    placed = []
    alone = threading.active_count() == 1
    for name, stand_in in STAND_INS.items():
        ours = name.startswith("opensearchpy") or find_spec(name) is None
        if name not in sys.modules and (alone or ours):
            sys.modules[name] = stand_in(name)  # type: ignore[assignment]  # None hides a module
            placed.append(name)
    try:
        yield
    finally:
        for name in placed:
            del sys.modules[name]


def _package(name: str) -> ModuleType:
    spec = find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return module_from_spec(spec)


def _requests(name: str) -> ModuleType:
    module = ModuleType(name)
    vars(module)["auth"] = SimpleNamespace(AuthBase=object)
    return module


def _hidden(_name: str) -> None:
    """Importing it fails."""


STAND_INS: dict[str, Callable[[str], ModuleType | None]] = {
    "opensearchpy": _package,
    "opensearchpy.helpers": _package,
    "requests": _requests,
    "asyncio": _hidden,  # 20 ms, for the name of an exception; a server has loaded it
    "simplejson": _hidden,
}


with _stand_ins():
    from opensearchpy.connection.http_urllib3 import Urllib3HttpConnection
    from opensearchpy.exceptions import SerializationError, TransportError
    from opensearchpy.helpers.signer import Urllib3AWSV4SignerAuth
    from opensearchpy.transport import Transport

__all__ = ["SerializationError", "Transport", "TransportError", "Urllib3AWSV4SignerAuth", "Urllib3HttpConnection"]
