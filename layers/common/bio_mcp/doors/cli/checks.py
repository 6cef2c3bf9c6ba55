"""The checks of `bio-mcp doctor`. Each tells what it found and, when that is not well, what to do."""

import logging
import os
import platform
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import cast

from bio_mcp import __version__
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure, NotFound
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings
from bio_mcp.syncing.importing import corpus_size
from bio_mcp.syncing.watermarks import future_warning
from bio_mcp.tool import Request, Response, Tool, tool
from bio_mcp.tools.families import BIO_MCP

log = logging.getLogger("bio_mcp.doctor")

OK, WARN, FAIL = "ok", "warn", "fail"
LITTLE, TOO_LITTLE = 1 << 30, 100 << 20  # bytes of free disk
NCBI_S = 9  # for all tries
RESTORE = (
    "Stop every bio-mcp that uses the file and put back a copy of it, with no corpus.sqlite3-wal beside it; or move it "
    "away, import and sync again."
)


class DoctorRequest(Request):
    ncbi: bool = False


class CheckResult(Response):
    check: str
    state: str
    found: str
    remedy: str


class Diagnosis(Response):
    ok: bool
    checks: list[CheckResult]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `remedy` is what to do, empty when there is nothing to do."""

    state: str
    found: str
    remedy: str = ""


Check = Callable[[Settings, Backends], Finding]


def diagnosis(settings: Settings) -> Tool:
    """The tool that checks the installation configured by `settings`."""

    @tool("corpus.doctor", family=BIO_MCP, timeout=600)
    def doctor(request: DoctorRequest, backends: Backends) -> Diagnosis:
        """Check the installation and its corpus."""
        checks = {**checks_of(settings.mode), "ncbi": ncbi if request.ncbi else not_asked}
        found = {name: examine(partial(check, settings, backends)) for name, check in checks.items()}
        return Diagnosis(
            ok=all(each.state != FAIL for each in found.values()),
            checks=[CheckResult(check=name, **asdict(each)) for name, each in found.items()],
        )

    return doctor


def examine(check: Callable[[], Finding]) -> Finding:
    """The finding; a failure's sentence says itself what to do. A check that breaks down is a finding, too."""
    try:
        return check()
    except Failure as failure:
        return Finding(FAIL, str(failure))
    except Exception as error:
        log.exception("a check of the doctor broke down")
        return Finding(FAIL, f"this check broke down ({type(error).__name__})", "The log says where; look there first.")


def versions(_settings: Settings, _backends: Backends) -> Finding:
    return Finding(OK, f"bio-mcp {__version__} on Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")


def configuration(settings: Settings, _backends: Backends) -> Finding:
    if not settings.ncbi_admin_email:
        return Finding(
            WARN, "readable; no NCBI_ADMIN_EMAIL", "Set it to your address: NCBI writes there before it blocks anyone."
        )
    return Finding(OK, "readable")


def data_directory(settings: Settings, _backends: Backends) -> Finding:
    home = settings.home.expanduser()
    there = next(each for each in (home, *home.absolute().parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        readable = there == home and os.access(home, os.R_OK | os.X_OK)
        found = f"{home} cannot be written" + (": its corpus can be searched and not changed" if readable else "")
        remedy = "Make it writable for this user, or set BIO_MCP_HOME."
        return Finding(WARN if readable else FAIL, found, remedy)
    return space(home, shutil.disk_usage(there).free)


def space(home: Path, free: int) -> Finding:
    """Whether `free` bytes are enough for the next import or sync."""
    found = f"{home}, {free / (1 << 30):.1f} GiB free"
    if free < TOO_LITTLE:
        return Finding(FAIL, found, "Free some space: the next import or sync may not fit.")
    return Finding(WARN if free < LITTLE else OK, found, "Free some space soon." if free < LITTLE else "")


def database(_settings: Settings, backends: Backends) -> Finding:
    from bio_mcp.wiring.embedded import Embedded

    problems = cast(Embedded, backends).integrity().problems
    if not problems:
        return Finding(OK, "whole")
    if all("bio-mcp reindex" in each for each in problems):
        return Finding(FAIL, "; ".join(problems), "Run `bio-mcp reindex`.")
    return Finding(FAIL, "; ".join(problems), RESTORE)


def queue(_settings: Settings, backends: Backends) -> Finding:
    """What the queue has given up and nobody has taken up since."""
    from bio_mcp.wiring.embedded import Embedded

    lost = [
        f"{event['arguments'].get('query_key', event['tool'])}: {reason}"
        for event, reason in cast(Embedded, backends).continuations.dead()
        if _is_lost(event["arguments"].get("job_id"), backends)
    ]
    if not lost:
        return Finding(OK, "nothing was given up")
    return Finding(WARN, f"given up: {'; '.join(lost)}", "Run the sync again: it goes on where it stopped.")


def _is_lost(job_id: str | None, backends: Backends) -> bool:
    try:
        return job_id is None or backends.jobs.get(job_id).state == "stalled"
    except NotFound:
        return False


def model(_settings: Settings, backends: Backends) -> Finding:
    vectors = backends.embeddings.embed(["Is the embedding model at work?"])
    if vectors.shape == (1, backends.embeddings.dim):
        return Finding(OK, backends.embeddings.fingerprint)
    return Finding(FAIL, f"gives vectors of {vectors.shape[1]} dimensions", "Delete the model and run `make setup`.")


def index(_settings: Settings, backends: Backends) -> Finding:
    size = corpus_size(backends)
    if not size.documents:
        return Finding(WARN, "the corpus is empty", "Run `bio-mcp import --sample` or `bio-mcp sync`.")
    backends.passages.ensure_schema(backends.embeddings.fingerprint, backends.embeddings.dim)
    found = f"{size.documents:,} papers, {size.indexed:,} of them indexed as {size.chunks:,} passages"
    if size.documents == size.indexed:
        return Finding(OK, found)
    return Finding(WARN, found, "Run the import or sync that was stopped once more: it indexes what is missing.")


def queries(_settings: Settings, backends: Backends) -> Finding:
    found, today = backends.checkpoints.all(), backends.today()
    doubts = {f"{each.query_key}: {reason}": None for each in found if (reason := future_warning(each, today))}
    if doubts:
        return Finding(WARN, "; ".join(doubts), "Set the clock right and run the sync once more.")
    return Finding(OK, f"{len({each.query_key for each in found})} followed")


def ncbi(_settings: Settings, backends: Backends) -> Finding:
    page = backends.entrez.esearch("all[sb]", retmax=1, deadline=Deadline(NCBI_S))
    return Finding(OK, f"answers; PubMed holds {page.count:,} records")


def not_asked(_settings: Settings, _backends: Backends) -> Finding:
    return Finding(OK, "not asked; `bio-mcp doctor --ncbi` asks it")


def checks_of(mode: str) -> dict[str, Check]:
    """The checks of a mode, in the order in which they are told."""
    kept: dict[str, Check] = {"data directory": data_directory, "database": database, "queue": queue}
    if mode == "aws":
        from bio_mcp.doors.cli.aws_checks import STACK

        kept = STACK
    return {
        "versions": versions,
        "settings": configuration,
        **kept,
        "embedding model": model,
        "corpus": index,
        "queries": queries,
    }
