"""Everything the stack needs, on this machine: started, deployed, and gone after the block."""

import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.emulated.build import ARCH, build
from tests.emulated.clients import connect
from tests.emulated.deploying import NO_CANARY, deploy
from tests.emulated.emulator import Emulator, emulator
from tests.emulated.stack import Stack
from tests.support.eutils_server.client import Running, running
from tests.support.opensearch_node.jvm import Node, free_port, start

NAME = "bio-mcp"
LOOPBACK = "127.0.0.1"
AUTH_SECRET, NCBI_KEY = "bio-mcp/mcp-auth", "bio-mcp/ncbi-key"
CORPUS = "scheduled"  # the query key of the template's schedule
TESTS = Path(__file__).parents[1]
SAMPLES = (
    TESTS.parent / "layers/common/bio_mcp/samples/pubmed.xml.gz",
    TESTS / "data/pubmed/quick600.dev.xml.gz",
)


NOTHING: Mapping[str, str] = MappingProxyType({})
NO_TLS = {
    "https://${SearchDomain.DomainEndpoint}": "http://${SearchDomain.DomainEndpoint}"
}  # the node has no certificate


class Search:
    """An OpenSearch node that can be killed and brought back with its data, at the same address."""

    def __init__(self, directory: Path, host: str) -> None:
        self._directory, self._port = directory, free_port()
        self._settings = {"http.host": f'["{LOOPBACK}", "{host}"]'} if host != LOOPBACK else {}
        self._node: Node | None = None
        self.url = f"http://{host}:{self._port}"

    def start(self) -> None:
        self._node = start(self._directory, self._port, self._settings)

    def kill(self) -> None:
        if self._node is not None:
            self._node.kill()

    def stop(self) -> None:
        if self._node is not None:
            self._node.stop()


@dataclass(frozen=True)
class Cloud:
    """The running parts; `emulator` is None where an endpoint was given.

    `deploy(name, changed, template)` creates or updates the stack of this name, with the parameters of `stack` except
    those that it is given, from the same template or another that was built.
    """

    stack: Stack
    ncbi: Running
    search: Search
    emulator: Emulator | None
    deploy: Callable[..., Stack]
    auth_secret: str = AUTH_SECRET


@contextmanager
def cloud(
    endpoint: str = "",
    *,
    host: str = LOOPBACK,
    files: Sequence[Path] = SAMPLES,
    term: str = "",
    enforcing: bool = True,
    nlm: str = "",
    tier: str = "opensearch",
    own_domain: bool = False,
    template: Path | None = None,
    models: Path | None = None,
    others: Mapping[str, str] = NOTHING,
) -> Iterator[Cloud]:
    """The stack with a local NCBI over `files`, and a schedule for `term` where one is given.

    `endpoint`: that of a LocalStack, say; empty starts an emulator. `host`: the address of this machine at which
    functions find the NCBI, the node and the emulator. `enforcing`: calls need the permissions of the template.
    `nlm`: the address of NLM's files, where bulk loads are wanted; the machine that takes their steps waits a twentieth
    of what it should. `tier`: where the index is; in S3 there is no node. `own_domain`: the stack makes a domain, at
    whose address the node is. `template`: one that was built, else this tree's is. `models`: those of the functions,
    else the template's. `others`: more parameters of the template. Raises what says which of these cannot be had.
    """
    template = template or build()
    with ExitStack() as opened:
        ncbi = opened.enter_context(running(files, host=host))
        search = Search(Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="opensearch-"))), host)
        opened.callback(search.stop)
        if tier == "opensearch":
            search.start()
        at = {"MINISTACK_OPENSEARCH_ENDPOINT": search.url.removeprefix("http://")}
        own = (
            None
            if endpoint
            else opened.enter_context(emulator(host, AUTH=str(enforcing).lower(), SFN_WAIT_SCALE="0.05", **at))
        )
        endpoint = own.url if own else endpoint
        given = {
            "Arch": ARCH,
            "EndpointUrl": endpoint,
            "Canary": "false",
            "CallerBudgets": "calls=100,thrifty:embeddings=2",
            "AuthSecretName": AUTH_SECRET,
            "NcbiApiKeyName": NCBI_KEY,
            "NcbiAdminEmail": "developer@example.org",
            "NcbiBaseUrl": ncbi.base_url,
            "NcbiIdConverterUrl": ncbi.converter_url,
            "IndexTier": tier,
            "OpenSearchUrl": search.url if tier == "opensearch" and not own_domain else "",
            "OpenSearchService": "es" if own_domain else "none",
            **({"LoadsAtOnce": "2", "NcbiFilesUrl": nlm} if nlm else {}),
            **({"Corpus1Key": CORPUS, "Corpus1Term": term} if term else {}),
            **others,
        }
        to = connect(endpoint)
        secret = _secret(to("secretsmanager"), AUTH_SECRET)
        _secret(to("secretsmanager"), NCBI_KEY)
        layers = models or template.parent / "InferenceLayer/models"
        edits = {"/opt/models": str(layers), **NO_TLS, **NO_CANARY} if own else {}  # it unpacks layers elsewhere

        def deployed(name: str, changed: Mapping[str, str] = NOTHING, built: Path = template) -> Stack:
            return Stack(name, endpoint, deploy(to, built, name, {**given, **changed}, edits), secret)

        yield Cloud(deployed(NAME), ncbi, search, own, deployed)


def _secret(store: Any, name: str) -> str:
    try:
        return str(store.get_secret_value(SecretId=name)["SecretString"])
    except store.exceptions.ResourceNotFoundException:
        value = secrets.token_urlsafe(48)
        store.create_secret(Name=name, SecretString=value)
        return value
