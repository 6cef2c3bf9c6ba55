"""The composition root: the only package outside `adapters` that names an adapter.

Each mode has a table of ports to adapters (`embedded`, `aws`), and makes a port on first use and once; `backends` makes
the mode of the process itself once.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bio_mcp.errors import Misconfigured
from bio_mcp.lazy import Lazy
from bio_mcp.settings import Settings
from bio_mcp.wiring.mode import load_from_aws

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.messages import LambdaFunctions
    from bio_mcp.deadline import Deadline
    from bio_mcp.syncing.bulk_load import Loading
    from bio_mcp.wiring.aws import Aws
    from bio_mcp.wiring.embedded import Embedded


def _embedded(settings: Settings) -> "Embedded":
    from bio_mcp.wiring.embedded import Embedded

    return Embedded(settings)


def _aws(settings: Settings) -> "Aws":
    if find_spec("boto3") is None:
        raise Misconfigured("BIO_MCP_MODE is aws, which takes boto3; install the extra aws, as docs/runbook.md says")
    from bio_mcp.wiring.aws import Aws

    return Aws(settings)


MODES: dict[str, Callable[[Settings], "Embedded | Aws"]] = {"embedded": _embedded, "aws": _aws}


def _configured() -> "Embedded | Aws":
    settings = Settings.from_env()
    return MODES[settings.mode](settings)


backends = Lazy(_configured)
"""Returns the backends of this process, by its environment."""


def functions() -> "LambdaFunctions":
    """A client that invokes Lambda functions. Raises `Misconfigured` if boto3 is not installed."""
    made: type[LambdaFunctions] = load_from_aws("bio_mcp.adapters.aws.messages:LambdaFunctions", "calling functions")
    return made()


def loading(deadline: "Deadline") -> "Loading":
    """The steps of bulk loads over the backends of this process."""
    from bio_mcp.syncing.bulk_load import Loading

    made = backends()
    return Loading(made.load_files, made.pubmed_files, made, deadline)


def published_keys(url: str) -> Callable[[], bytes]:
    """A function that fetches the JSON Web Key Set at `url`."""
    from bio_mcp.adapters.oauth import fetch

    return lambda: fetch(url)


def client_documents() -> Callable[[str], bytes]:
    """A function that fetches what a client publishes of itself at an address."""
    from bio_mcp.adapters.oauth import ClientDocuments

    return ClientDocuments().read
