"""The jars of the node: OpenSearch 2.19.1 as a library with its k-NN plugin, from a Maven repository.

Maven resolves `pom.xml` into a directory of its own, every jar is compared with `artefacts.sha256`, and only then does
the directory get its name: what stands there is whole.
"""

import subprocess
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parents[2] / ".cache/opensearch"
PLUGIN = "opensearch-knn"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
FETCH_S = 240


class Unusable(Exception):
    """The node cannot be had or does not run; says why."""


def fetch(cache: Path = CACHE, command: str = "mvn") -> Path:
    """The directory with `lib/*.jar` and `plugins/*.jar`, fetched unless it is there; named by what is pinned."""
    pinned = (HERE / "artefacts.sha256").read_text()
    home = cache / sha256(pinned.encode()).hexdigest()[:16]
    if home.exists():
        return home
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".fetch-") as scratch:
        whole = Path(scratch) / "whole"
        _copy(whole / "lib", command)
        _unpack(whole)
        _compare(whole, pinned)
        try:
            whole.rename(home)
        except OSError:
            if not home.exists():  # else another process was faster
                raise
    return home


def _copy(into: Path, command: str) -> None:
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={into}"]
    try:
        done = subprocess.run(
            [command, "-B", "-q", "-f", HERE / "pom.xml", COPY, *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=FETCH_S,
        )
    except FileNotFoundError:
        raise Unusable(f"{command} is not installed; `make opensearch` installs it on Debian") from None
    if done.returncode:
        raise Unusable(f"Maven could not fetch OpenSearch:\n{done.stdout[-3_000:]}")


def _unpack(whole: Path) -> None:
    [archive] = (whole / "lib").glob(f"{PLUGIN}-*.zip")
    with zipfile.ZipFile(archive) as plugin:
        for member in plugin.namelist():
            if member.endswith(".jar") and "/" not in member:
                plugin.extract(member, whole / "plugins")
    archive.unlink()


def _compare(whole: Path, pinned: str) -> None:
    wanted = {name: digest for digest, name in (line.split() for line in pinned.splitlines())}
    got = {
        path.relative_to(whole).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(whole.rglob("*.jar"))
    }
    if got != wanted:
        differing = sorted(name for name in got.keys() | wanted.keys() if got.get(name) != wanted.get(name))
        raise Unusable(f"What Maven fetched is not what artefacts.sha256 pins: {', '.join(differing)}")
