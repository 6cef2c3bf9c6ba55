"""Recorded answers of the E-utilities: those of this repository, and all of them where the shared data is at hand."""

import json
from pathlib import Path

from bio_mcp.adapters.entrez.transport import Answer

ROOT = Path(__file__).parents[3]
OURS = ROOT / "tests" / "data" / "eutils"
SHARED = ROOT.parent / "shared" / "data" / "eutils"


def entries() -> list[dict]:
    """One entry per recorded answer, with the `folder` it stands in."""
    found = [(OURS, OURS / "index.json"), (SHARED, SHARED / "index.dev.json")]
    by_file: dict[str, dict] = {}
    for folder, index in found:
        if index.exists():
            for entry in json.loads(index.read_text())["entries"]:
                if "status" in entry:
                    by_file.setdefault(entry["file"], {**entry, "folder": folder})
    return list(by_file.values())


def answer(file: str, endpoint: str | None = None, status: int | None = None, headers: dict | None = None) -> Answer:
    """The recorded answer; an error body's file name begins with its status and, mostly, the utility."""
    entry = next(entry for entry in entries() if entry["file"] == file)
    named = entry["endpoint"] if entry["endpoint"] != "any" else "esearch"
    recorded = {name.lower(): value for name, value in (entry.get("headers") or {}).items()}
    body = (entry["folder"] / file).read_bytes()
    if file.endswith(".py"):  # kept by its project as a string in a module
        body = body.split(b"'''")[1]
    return Answer(status or entry["status"], headers if headers is not None else recorded, body, endpoint or named)
