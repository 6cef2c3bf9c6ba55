"""The template as `sam build` makes it for this machine, once in a process, in a directory of that process."""

import atexit
import os
import platform
import shutil
import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAM = ROOT / ".cache/sam/bin/sam"
BUILDS = ROOT / ".cache/emulated"  # of processes, by their ids
ARCH = {"x86_64": "x86_64", "aarch64": "arm64"}[platform.machine()]
QUIET = {"SAM_CLI_TELEMETRY": "0", "AWS_EC2_METADATA_DISABLED": "true", "AWS_DEFAULT_REGION": "us-east-1"}


class Failed(Exception):
    """The template was not built or not deployed; says why."""


@cache
def build(source: Path = ROOT) -> Path:
    """The template of a tree, built, with its layers beside it.

    They end with this process; those of killed ones end here. Raises `Failed`.
    """
    if not SAM.exists():
        raise Failed("the SAM CLI is not installed in .cache/sam; make deploy-local installs it")
    for left in BUILDS.glob("*"):
        if not Path("/proc", left.name).exists():
            shutil.rmtree(left, ignore_errors=True)
    own = BUILDS / str(os.getpid())
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    into = own / sha256(bytes(source)).hexdigest()[:8] / "build"  # the SAM CLI writes beside it too
    command = [SAM, "build", "--build-dir", into, "--parameter-overrides", f"Arch={ARCH}"]
    env = {**os.environ, **QUIET, "ARCH": ARCH}
    done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        raise Failed(f"sam build failed:\n{done.stderr[-4_000:]}")
    return into / "template.yaml"
