"""Lambda's Python image for `sam local`: AWS's own where it can be pulled, else one made of Debian packages.

The stand-in has Debian's Python 3.13 (trixie), the runtime interface client and boto3. It proves packaging, handler,
layers, memory limit and the runtime's protocol; it has Debian's C library and OpenSSL, not those of Amazon Linux.
"""

import platform
import tarfile
import tempfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from tests.sam_local.engine import Unusable, run

ROOT = Path(__file__).parents[2]
PYTHON, SUITE = "3.13", "trixie"
ARCH = {"x86_64": "x86_64", "aarch64": "arm64"}[platform.machine()]
NAME = f"public.ecr.aws/lambda/python:{PYTHON}-{ARCH}"
REQUIREMENTS = ROOT / "requirements/lambda.txt"
UV = ROOT / ".venv/bin/uv"
PACKAGES = [
    f"python{PYTHON}",
    f"python{PYTHON}-minimal",
    f"libpython{PYTHON}-stdlib",
    "libstdc++6",  # the runtime interface client is in C++
    "dash",
    "coreutils",
    "base-files",
    "libc-bin",
    "netbase",
    "media-types",
]
LEFT_OUT = ["/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*"]
BOOTSTRAP = f"""#!/bin/sh
# The order of AWS: the function, its layers, then what the runtime brings.
export PYTHONPATH="$LAMBDA_TASK_ROOT:/opt/python/lib/python{PYTHON}/site-packages:/opt/python:/var/runtime"
cd "$LAMBDA_TASK_ROOT"
exec /usr/bin/python{PYTHON} -m awslambdaric "$_HANDLER"
"""
CONFIGURED = [
    "ENV LANG=en_US.UTF-8 TZ=:/etc/localtime PATH=/var/lang/bin:/usr/local/bin:/usr/bin:/bin:/opt/bin "
    "LD_LIBRARY_PATH=/var/task:/var/task/lib:/opt/lib LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime",
    "WORKDIR /var/task",
    'ENTRYPOINT ["/var/runtime/bootstrap"]',
]


def ensure(env: Mapping[str, str]) -> str:
    """Have the image in the engine that `env` names; gives how: present, pulled or built. Raises `Unusable`."""
    if run(env, "docker", "images", "--quiet", NAME).strip():
        return "present"
    try:
        run(env, "docker", "pull", "--quiet", NAME, timeout=600)
    except Unusable:
        _build(env)
        return "built"
    return "pulled"


def _build(env: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory(prefix="image-") as scratch:
        system, runtime = Path(scratch) / "system.tar", Path(scratch) / "runtime"
        options = [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
        included = f"--include={','.join(PACKAGES)}"
        run(env, "mmdebstrap", "--quiet", "--variant=extract", included, *options, SUITE, system, mirror(env))
        wheels = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--python-version", PYTHON]
        run(env, UV, "pip", "install", "--quiet", *wheels, "--target", runtime, "-r", REQUIREMENTS)
        _add(system, runtime)
        changes = [part for line in CONFIGURED for part in ("--change", line)]
        run(env, "docker", "import", *changes, system, NAME)


def mirror(env: Mapping[str, str]) -> str:
    targets = run(env, "apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(SUITE)", "Created-By: Packages")
    for uri, origin, suite in (line.split()[:3] for line in targets.splitlines() if len(line.split()) >= 3):
        if origin == "Debian" and not suite.endswith(("-security", "-updates", "-backports")):
            return uri
    raise Unusable("apt knows no archive of Debian; run apt-get update, or pull the image by hand")


def _add(system: Path, runtime: Path) -> None:
    """Put the runtime into the tar of the system, without naming a directory that is there already."""
    with tarfile.open(system, "a") as archive:
        for path in sorted(runtime.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.add(path, f"./var/runtime/{path.relative_to(runtime)}", recursive=False)
        bootstrap = tarfile.TarInfo("./var/runtime/bootstrap")
        bootstrap.size, bootstrap.mode = len(BOOTSTRAP), 0o755
        archive.addfile(bootstrap, BytesIO(BOOTSTRAP.encode()))
        for name in {"./var/task", "./opt"} - {each.rstrip("/") for each in archive.getnames()}:
            directory = tarfile.TarInfo(name)
            directory.type, directory.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(directory)
