"""One OpenSearch node in a JVM of its own: bound to loopback, no authentication, gone when it is told to stop."""

import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import httpx

from tests.support.opensearch_node.artefacts import Unusable, fetch

NONE: Mapping[str, str] = MappingProxyType({})
PORTS = range(9210, 9300)  # the runner goes no higher, and walks upwards from a port in use
TRANSPORT = 1_000  # above the HTTP port
BOOT_S, STOP_S = 240.0, 30.0
QUICK_START = ("-XX:TieredStopAtLevel=1",)
# What a packaged node has: all compilers, and SIMD, which this Lucene uses from Java 20 on and tried up to 23.
FAST_CODE = (
    "--add-modules=jdk.incubator.vector",
    "-Dorg.apache.lucene.vectorization.upperJavaFeatureVersion=25",
)
CONFIG = {
    "network.host": "127.0.0.1",
    "discovery.type": "single-node",
    "action.auto_create_index": "false",
    "cluster.routing.allocation.disk.threshold_enabled": "false",  # a full disk must not turn tests red
}
LOGGING = """status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""


@dataclass(frozen=True, slots=True)
class Node:
    """A node that has answered. `jvm` is the process, whose pid alone is ever signalled."""

    url: str
    jvm: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        """Close it in order; by force after half a minute."""
        if self.jvm.poll() is None:
            self.jvm.terminate()
            try:
                self.jvm.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.jvm.kill()
        self.jvm.wait()


def start(
    directory: Path,
    port: int | None = None,
    settings: Mapping[str, str] = NONE,
    heap: str = "512m",
    options: Sequence[str] = QUICK_START,
) -> Node:
    """Start a node whose files are in `directory`, where an earlier one's may be, and wait until it is healthy.

    `settings` are lines of opensearch.yml, `options` the JVM's: `QUICK_START` or `FAST_CODE`. Raises `Unusable`.
    """
    home, port = fetch(), port or free_port()
    if not _free(port):
        raise Unusable(f"port {port} is in use")
    _configure(directory / "node_1/config", port, settings)
    log = directory / "node.log"
    with log.open("ab") as out:
        command = _command(home, directory, port, heap, options)
        jvm = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=directory)
    node = Node(f"http://127.0.0.1:{port}", jvm, log)
    try:
        _wait(node)
    except BaseException:
        node.stop()
        raise
    return node


def free_port() -> int:
    """A port with its transport port, both free at the moment."""
    first = os.getpid() % len(PORTS)
    for port in (*PORTS[first:], *PORTS[:first]):
        if _free(port) and _free(port + TRANSPORT):
            return port
    raise Unusable("no free port for OpenSearch")


def _free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return tried.connect_ex(("127.0.0.1", port)) != 0


def _configure(directory: Path, port: int, settings: Mapping[str, str]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    lines = {**CONFIG, "transport.port": str(port + TRANSPORT), **settings}
    (directory / "opensearch.yml").write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
    (directory / "log4j2.properties").write_text(LOGGING)


def _command(home: Path, directory: Path, port: int, heap: str, options: Sequence[str]) -> list[str]:
    return [
        "java",
        f"-Xms{heap}",
        f"-Xmx{heap}",
        *options,
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        "-Dlog4j.shutdownHookEnabled=false",
        "-cp",
        f"{home}/lib/*{os.pathsep}{home}/plugins/*",
        "org.codelibs.opensearch.runner.OpenSearchRunner",
        *("-basePath", str(directory)),
        *("-numOfNode", "1"),
        *("-baseHttpPort", str(port - 1)),
        *("-clusterName", f"test-{port}"),
        *("-pluginTypes", "org.opensearch.knn.plugin.KNNPlugin"),
    ]


def _wait(node: Node) -> None:
    end = time.monotonic() + BOOT_S
    while not _healthy(node.url):
        if node.jvm.poll() is not None:
            tail = node.log.read_text(errors="replace")[-2_000:]
            raise Unusable(f"The JVM ended with {node.jvm.returncode}; its log ends:\n{tail}")
        if time.monotonic() > end:
            raise Unusable(f"OpenSearch is not healthy after {BOOT_S:.0f} s")
        time.sleep(0.1)


def _healthy(url: str) -> bool:
    asked = f"{url}/_cluster/health?wait_for_status=yellow&timeout=5s"
    try:
        answer = httpx.get(asked, timeout=8)
    except httpx.HTTPError:
        return False
    return answer.status_code == httpx.codes.OK and answer.json()["timed_out"] is False
