"""`python scripts/setting_up.py VENV COMMAND...`: run it while no other `make` sets this folder up.

An environment holds its own path. Where its folder was moved or copied, or its Python is gone, what was installed is
removed first, so that the command installs it anew; the embedding model stays.
"""

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

LOCK = Path(".cache/setup.lock")
PLACE = ".place"  # in the environment: where it was made
MODELS = "share"
MOVED = "This folder was moved, or its Python is gone: installing anew what is in"


def main(venv: Path, command: list[str]) -> int:
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another make is setting this folder up: waiting for it.", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not in_place(venv):
            print(MOVED, venv, file=sys.stderr)
            remove_installed(venv)
        venv.mkdir(parents=True, exist_ok=True)
        (venv / PLACE).write_text(str(venv.resolve()), encoding="utf-8")
        return subprocess.run(command, check=False).returncode


def in_place(venv: Path) -> bool:
    """Whether the environment, if there is one, was made here and can be used."""
    place = venv / PLACE
    if place.exists() and place.read_text(encoding="utf-8") != str(venv.resolve()):
        return False
    if not (venv / ".run").exists():
        return True
    try:
        return not subprocess.run(
            [venv / "bin/python", "-c", "import bio_mcp"], capture_output=True, check=False
        ).returncode
    except OSError:
        return False


def remove_installed(venv: Path) -> None:
    """All but the models; the tools of `.cache` are environments too, and are made anew when they are next used."""
    for each in venv.iterdir():
        if each.is_dir() and not each.is_symlink():
            if each.name != MODELS:
                shutil.rmtree(each)
        else:
            each.unlink()
    for stamp in LOCK.parent.glob("*/.installed"):
        stamp.unlink()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
