"""The sample tools behind each HTTP door: uvicorn, and Lambda behind a bridge."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, cast

import pytest
from mangum import Mangum

from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import in_process
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings
from bio_mcp.tool import resources_in, tools_in
from tests.doors import sample
from tests.doors.lambda_bridge import bridge
from tests.doors.serving import running

NO_BACKENDS = cast(Backends, object())
DEFAULTS = Settings()


def sample_app(settings: Settings = DEFAULTS, **given: Any) -> Any:
    tools, resources = tools_in(sample).values(), resources_in(sample).values()
    server = mcp_server.server(tools, resources, in_process(NO_BACKENDS))
    return mcp_http.serving(server, settings, declared=[*tools, *resources], **given)


@pytest.fixture(scope="session", params=["uvicorn", "lambda"])
def base(request: pytest.FixtureRequest) -> Iterator[str]:
    """The base URL of a server of the sample tools."""
    app = sample_app(Settings(allowed_hosts=("mcp.example.org",), allowed_origins=("https://app.example.org",)))
    made = nullcontext(app) if request.param == "uvicorn" else bridge(lambda: Mangum(app, lifespan="off"))
    with made as served, running(served) as url:
        yield url


@pytest.fixture
def url(base: str) -> str:
    return f"{base}/mcp"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
