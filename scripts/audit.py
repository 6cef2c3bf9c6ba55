"""Audit what is in the repository and what it depends on, for `make audit`: secrets, locks, known vulnerabilities.

Secrets are looked for by their forms (keys, tokens, passwords in addresses); what tests made up stands in
.ci/secrets.json. Every lock must name a version and a hash of each package. Advisories are those of PyPI; where the
registry that is used has none, that is said, and the audit has only the locks to go by.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / ".cache/audit/bin"
MADE_UP = ".ci/secrets.json"  # by file, the SHA-1 of each
BY_CHANCE = ("Base64HighEntropyString", "HexHighEntropyString", "KeywordDetector", "IPPublicDetector")  # hashes, names
LOCKS = ("requirements/*.txt", "layers/*/requirements.txt", "container/requirements.txt")
_PIN = re.compile(r"^(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[\w,-]+\])?==(?P<version>[^\s;\\]+)")


def main(tools: Path = TOOLS) -> int:
    """Print what is wrong; returns how many of the three audits failed."""
    locks = [path for pattern in LOCKS for path in sorted(ROOT.glob(pattern))]
    audits = {
        "secrets": secrets(tools, tracked()),
        "locks": [*unlocked(locks), *unlocked_npm(ROOT / "tests/all/package-lock.json")],
        "advisories": advisories(tools, pins(locks)),
    }
    for name, problems in audits.items():
        print("\n".join([f"{name}: {len(problems)} found", *(f"  {each}" for each in problems)]))
    return sum(map(bool, audits.values()))


def tracked() -> list[str]:
    """Every file of the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [each for each in listed.split("\0") if each and each != MADE_UP]


def secrets(tools: Path, files: Sequence[str], root: Path = ROOT) -> list[str]:
    """Where files hold what looks like a secret and is not known to be made up."""
    options = [word for plugin in BY_CHANCE for word in ("--disable-plugin", plugin)]
    command = [str(tools / "detect-secrets"), "scan", "--all-files", "--no-verify", *options, *files]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if ran.returncode or not ran.stdout.strip():
        raise SystemExit(f"detect-secrets failed: {ran.stderr.strip()[-300:]}")
    made_up = json.loads((ROOT / MADE_UP).read_text())
    found = [(path, each) for path, at in json.loads(ran.stdout)["results"].items() for each in at]
    return [
        f"{path}:{each['line_number']}: {each['type']}"
        for path, each in found
        if each["hashed_secret"] not in made_up.get(path, ())
    ]


def unlocked(locks: Iterable[Path]) -> list[str]:
    """Requirements of locks without a version or a hash."""
    problems = []
    for lock in locks:
        for requirement in re.split(r"(?<!\\)\n", lock.read_text()):
            named = requirement.strip()
            if named and not named.startswith(("#", "-")) and not (_PIN.match(named) and "--hash=sha256:" in named):
                problems.append(f"{lock.parent.name}/{lock.name}: {named.split()[0]} has no version or no hash")
    return problems


def unlocked_npm(lock: Path) -> list[str]:
    """Packages of npm's lock without a hash."""
    packages = json.loads(lock.read_text())["packages"]
    return [f"{lock.name}: {name} has no hash" for name, each in packages.items() if name and not each.get("integrity")]


def pins(locks: Iterable[Path]) -> set[tuple[str, str]]:
    """The name and version of everything that is locked."""
    lines = [line for lock in locks for line in lock.read_text().splitlines()]
    return {(found["name"].lower(), found["version"]) for line in lines if (found := _PIN.match(line))}


def advisories(tools: Path, locked: Iterable[tuple[str, str]]) -> list[str]:
    """Which of the packages have a known vulnerability."""
    versions: dict[str, list[str]] = {}
    for name, version in sorted(locked):
        versions.setdefault(name, []).append(f"{name}=={version}")
    together = zip_longest(*versions.values())  # a requirements file takes one version of a package
    audited = [each for lines in together for each in _audited(tools, list(filter(None, lines)))]
    skipped = [each for each in audited if "skip_reason" in each]
    if skipped:
        print(f"advisories: the registry has none to look in for {len(skipped)} of {len(audited)} packages")
    return [f"{each['name']} {each['version']}: {of['id']}" for each in audited for of in each.get("vulns", ())]


def _audited(tools: Path, lines: Sequence[str]) -> list[dict[str, Any]]:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        requirements.write("\n".join(lines))
        requirements.flush()
        command = [str(tools / "pip-audit"), "--no-deps", "--disable-pip", "--format", "json", "-r", requirements.name]
        ran = subprocess.run([*command, "--progress-spinner", "off"], capture_output=True, text=True, check=False)
    if not ran.stdout.strip():
        raise SystemExit(f"pip-audit failed: {ran.stderr.strip()[-300:]}")
    return list(json.loads(ran.stdout)["dependencies"])


if __name__ == "__main__":
    sys.exit(main())
