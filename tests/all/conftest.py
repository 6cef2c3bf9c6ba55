"""The product's own catalogue over a small real corpus, as the Lambda handler behind a bridge."""

from collections.abc import Iterator

import pytest
from mangum import Mangum
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import in_process
from tests.all.browsing import chromium, page
from tests.all.conformance_tools import with_fixtures
from tests.doors.lambda_bridge import bridge
from tests.doors.serving import running
from tests.support.opensearch_node.jvm import Node, start
from tests.support.sample_corpus import corpus

__all__ = ["chromium", "opensearch", "page", "url"]


class ByWhatIsStarted(LoadScopeScheduling):
    """Gives one process all tests in the emulator, one all in Docker, and one all that share a node of OpenSearch."""

    def _split_scope(self, nodeid: str) -> str:
        """What is shared, or the first directory or the file of a test."""
        name = nodeid.removeprefix("tests/all/").partition("::")[0].partition("/")[0]
        if name in ("test_sam_local.py", "test_team_image.py"):
            return "docker"
        return "opensearch" if name.startswith(("test_opensearch_", "test_team_index")) else name


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Distribute tests over the processes of `-n`."""
    return ByWhatIsStarted(config, log)


@pytest.fixture(scope="session", params=[False, True], ids=["product", "with-fixtures"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    listed = ("all", "chatgpt", "topics")
    server = mcp_server.server(TOOLS.values(), RESOURCES.values(), in_process(corpus()), listed=listed)
    app = mcp_http.serving(with_fixtures(server) if request.param else server)
    with bridge(lambda: Mangum(app, lifespan="off")) as bridged, running(bridged) as base:
        yield f"{base}/mcp"


@pytest.fixture(scope="session")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A real node for all tests; one that cannot be had or started fails them."""
    node = start(tmp_path_factory.mktemp("opensearch"))
    yield node
    node.stop()
