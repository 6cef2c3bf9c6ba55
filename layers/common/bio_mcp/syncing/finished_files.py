"""Which files were imported to their end, so that they need not be read again.

A file that is read again could bring back papers that a later file deleted. So the files are skipped from the first on,
as long as each was finished, and after those before it; from the first other one on, all are read. What was finished
after what is said by a sequence, not by a clock, which may be set.
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from bio_mcp.errors import NotFound
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.listed_files import ListedFile

KIND = "import"
LAST = f"{KIND}-last"  # the job that has the sequence of the last mark


def unmark(file: ListedFile, backends: Backends) -> None:
    """Take back that `file` is finished, before it is read again: stopped half-way, it may have brought back papers."""
    if job := _find(_id(file), backends):
        backends.jobs.remove(job)


def mark_finished(file: ListedFile, counts: dict[str, Any], backends: Backends) -> None:
    """Note that all of `file` is in the corpus, with the `counts` of its report; unless it was written meanwhile."""
    if file.has_changed:
        return
    now, last = backends.now(), _find(LAST, backends)
    sequence = {"sequence": _sequence(last) + 1 if last else 1}
    what = {"name": os.fsencode(file.path.name).decode(errors="replace"), "size": file.size}
    what |= {"modified_ns": file.modified_ns, "md5": file.md5, **sequence}
    backends.jobs.put(Job(_id(file), KIND, "succeeded", now, now, request=what, progress=counts))
    backends.jobs.put(Job(LAST, KIND, "succeeded", now, now, request=sequence))


def is_finished(file: ListedFile, backends: Backends) -> bool:
    """Whether this very file was imported to its end."""
    return _mark(file, backends) is not None


def finished(files: Iterable[ListedFile], backends: Backends) -> list[dict[str, Any]]:
    """The counts of the first files, as many as need not be read again. A file that was named is always read."""
    counts, jobs = list[dict[str, Any]](), list[Job]()
    for file in files:
        job = None if file.named else _mark(file, backends)
        if job is None or (jobs and not _follows(job, jobs[-1])):
            break
        jobs.append(job)
        counts.append(job.progress)
    return counts


def _mark(file: ListedFile, backends: Backends) -> Job | None:
    """The mark of this very file, by size and time, or by size and MD5."""
    job = _find(_id(file), backends)
    if job is None:
        return None
    is_same = job.request["size"] == file.size and (
        job.request["modified_ns"] == file.modified_ns or job.request["md5"] == file.md5
    )
    return job if is_same else None


def _follows(job: Job, other: Job) -> bool:
    """Whether a file was finished after another one. Marks of a version without sequences come first, by their times;
    of two with the same, as two imports at once may leave them, nobody knows which is the later."""
    if _sequence(job) == _sequence(other) == 0:
        return job.updated >= other.updated
    return _sequence(job) > _sequence(other)


def _sequence(job: Job) -> int:
    return int(job.request.get("sequence", 0))


def _find(job_id: str, backends: Backends) -> Job | None:
    try:
        return backends.jobs.get(job_id)
    except NotFound:
        return None


def _id(file: ListedFile) -> str:
    return f"{KIND}-{sha256(os.fsencode(file.path.name)).hexdigest()[:32]}"
