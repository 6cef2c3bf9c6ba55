"""The template as `sam build` makes it for this machine, of this tree or another, in a directory of its own."""

import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAM = ROOT / ".cache/sam/bin/sam"
BUILT = ROOT / ".cache/emulated/build"
ARCH = {"x86_64": "x86_64", "aarch64": "arm64"}[platform.machine()]
QUIET = {"SAM_CLI_TELEMETRY": "0", "AWS_EC2_METADATA_DISABLED": "true", "AWS_DEFAULT_REGION": "us-east-1"}


class Failed(Exception):
    """The template was not built or not deployed; says why."""


def build(into: Path = BUILT, source: Path = ROOT) -> Path:
    if not SAM.exists():
        raise Failed("the SAM CLI is not installed in .cache/sam; make deploy-local installs it")
    command = [SAM, "build", "--build-dir", into, "--parameter-overrides", f"Arch={ARCH}"]
    env = {**os.environ, **QUIET, "ARCH": ARCH}
    done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise Failed(f"sam build failed:\n{done.stderr[-4_000:]}")
    return into / "template.yaml"
