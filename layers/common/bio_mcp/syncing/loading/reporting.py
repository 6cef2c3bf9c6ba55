"""What became of the files of a bulk load."""

import json
from typing import Any

from bio_mcp.ports.loading import LoadFiles
from bio_mcp.syncing.loading.keys import of_run

REPORT = "report"
STAGES = ("fetch", "list", "load")


def as_json(value: Any) -> bytes:
    """A value as it is stored."""
    return json.dumps(value, separators=(",", ":")).encode()


def status_of(run: str, files: LoadFiles) -> dict[str, Any]:
    """How far a run is: the files that each stage has to do, those that are loaded, and those that failed, with why."""
    here = files.tags(of_run(run, ""))
    todo = {stage: _names(run, stage, files) for stage in STAGES if stage in here}
    failed = [json.loads(files.get(of_run(run, each))) for each in sorted(here) if each.startswith("failed/")]
    loaded = [each.removeprefix("loaded/") for each in sorted(here) if each.startswith("loaded/")]
    return {
        "files": len(todo.get("load", [])),
        "loaded": len(loaded),
        "left": sorted(set(todo.get("load", [])) - set(loaded) - {each["file"] for each in failed}),
        "failed": failed,
        "stages": {stage: len(names) for stage, names in todo.items()},
    }


def report_of(run: str, files: LoadFiles) -> dict[str, Any]:
    """The status of a run that is over, with the sum of what was done. A file that ended without a word has failed."""
    found = status_of(run, files)
    silent = [{"file": each, "stage": "load", "reason": "it ended without a word"} for each in found.pop("left")]
    counts: dict[str, int] = {}
    for name in files.tags(of_run(run, "loaded")):
        for what, many in json.loads(files.get(of_run(run, f"loaded/{name}"))).items():
            counts[what] = counts.get(what, 0) + many
    return found | {"left": [], "failed": [*found["failed"], *silent], "counts": counts}


def _names(run: str, stage: str, files: LoadFiles) -> list[str]:
    return [each["name"] for each in json.loads(files.get(of_run(run, stage)))]
