"""`bio-mcp serve` as a team has it: with access tokens, its own authorization server, and people who were invited."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.doors.auth.minting import SECRET
from tests.doors.auth.test_served_door import serving

PROGRAM = Path(sys.executable).with_name("bio-mcp")


class Served:
    """A server of its own process at `base`, over the data directory `home`."""

    def __init__(self, home: Path, port: int) -> None:
        self.home, self.base = home, f"http://127.0.0.1:{port}"
        self.settings = {"MCP_AUTH_SECRET_KEY": SECRET, "MCP_RESOURCE_URL": f"{self.base}/mcp"}

    def run(self, *command: str) -> str:
        """What a command of the operator's prints."""
        env = {"PATH": os.environ["PATH"], "BIO_MCP_HOME": str(self.home), **self.settings}
        done = subprocess.run([PROGRAM, *command], env=env, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.strip()

    def invite(self, subject: str = "ann", scopes: str = "read,live") -> str:
        """The link that signs a person in."""
        return self.run("admin", "invite", "--subject", subject, "--scopes", scopes)

    def signed_in(self) -> httpx.Client:
        """A client with the cookie of a person who has signed in by a link."""
        link = self.invite()
        client = httpx.Client(base_url=self.base, headers={"origin": self.base}, follow_redirects=True)
        assert client.post("/sign-in", data={"code": link, "next": "/sign-in"}).is_success
        return client


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        port: int = opened.getsockname()[1]
    return port


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server, for as long as a module's tests."""
    made = Served(tmp_path_factory.mktemp("team"), free_port())
    with serving(made.home, "--port", made.base.rpartition(":")[2], **made.settings):
        yield made
