"""The container image of the function that ingests, built by its recipe and run as Lambda runs it.

Its base is Debian's image where that can be pulled, else one made of Debian's packages. A container has what Lambda
gives a function: no right to write but in /tmp, a user without rights, and memory up to a limit.
"""

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from scripts.image import build as build_image
from scripts.image import lay_out_ingest
from tests.emulated.build import ROOT, build
from tests.sam_local.engine import Unusable, run
from tests.sam_local.image import ARCH, LEFT_OUT, SUITE, mirror

BASE = f"debian:{SUITE}-slim"  # as the recipe names it
STAND_IN = f"bio-mcp/debian:{SUITE}"
NAME = f"bio-mcp/ingest:{ARCH}"
USER, MEMORY, SCRATCH = "993:990", "3008m", "/tmp:size=512m"  # noqa: S108  the container's
START_S, CALL_S = 60.0, 300.0


def ensure(env: Mapping[str, str]) -> str:
    """Build the image of what `sam build` made last; gives its name. Raises `Unusable`."""
    built = build().parent
    context = built.with_name("ingest-image")
    lay_out_ingest(built, ARCH, context)
    try:
        options = ["--quiet", "--network", "host", "--build-arg", f"BASE={base(env)}"]
        build_image("ingest", context, ARCH, NAME, options, env)
    except subprocess.CalledProcessError as problem:
        raise Unusable(f"the image of the function that ingests cannot be built: {problem}") from None
    return NAME


def base(env: Mapping[str, str]) -> str:
    if run(env, "docker", "images", "--quiet", STAND_IN).strip():
        return STAND_IN
    try:
        run(env, "docker", "pull", "--quiet", BASE, timeout=600)
    except Unusable:
        archive = build().parent.with_name("debian.tar")
        options = [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
        run(env, "mmdebstrap", "--quiet", "--variant=minbase", *options, SUITE, archive, mirror(env))
        run(env, "docker", "import", archive, STAND_IN)
        return STAND_IN
    return BASE


class Container:
    """A running function. `invoke` sends it an event, as Lambda's service does."""

    def __init__(self, env: Mapping[str, str], name: str, address: str) -> None:
        self._env, self.name, self._address = env, name, address

    def invoke(self, event: Mapping[str, Any]) -> Any:
        url = f"{self._address}/2015-03-31/functions/function/invocations"
        body = httpx.post(url, json=event, timeout=CALL_S).raise_for_status().json()
        if "errorType" in body:
            raise Unusable(f"the function crashed: {body}\n{self.log}")
        return body

    def execute(self, *command: str) -> str:
        return run(self._env, "docker", "exec", self.name, *command)

    @property
    def log(self) -> str:
        return run(self._env, "docker", "logs", self.name)


@contextmanager
def container(env: Mapping[str, str], image: str, variables: Mapping[str, str]) -> Iterator[Container]:
    """The image with Lambda's runtime interface emulator before it, and these variables."""
    given = [part for name, value in variables.items() for part in ("--env", f"{name}={value}")]
    limits = ["--read-only", "--tmpfs", SCRATCH, "--user", USER, "--memory", MEMORY]
    emulating = ["--volume", f"{_emulator()}:/rie:ro", "--entrypoint", "/rie", "--publish", "127.0.0.1::8080"]
    command = ["python3", "-m", "awslambdaric", "app.handler"]
    name = run(env, "docker", "run", "--detach", *limits, *emulating, *given, image, *command).strip()
    try:
        address = f"http://{run(env, 'docker', 'port', name, '8080/tcp').split()[0]}"
        _wait(address)
        yield Container(env, name, address)
    finally:
        run(env, "docker", "rm", "--force", name)


def _emulator() -> Path:
    found = sorted(ROOT.glob(f".cache/sam/lib/python3*/site-packages/samcli/local/rapid/aws-lambda-rie-{ARCH}"))
    if not found:
        raise Unusable("the SAM CLI, which has Lambda's runtime interface emulator, is not installed in .cache/sam")
    return found[0]


def _wait(address: str) -> None:
    end = time.monotonic() + START_S
    while True:
        try:
            httpx.get(address, timeout=5)  # there is nothing, and that is an answer
        except httpx.TransportError as problem:
            if time.monotonic() > end:
                raise Unusable(f"the container does not answer: {problem}") from None
            time.sleep(0.2)
        else:
            return
