"""PubMed's files in folders: fetched from NCBI, listed in the order in which they apply, and marked once they are in.

A file that is read again could bring back papers that a later file deleted. So the files are skipped from the first on,
as long as each was finished, and after those before it; from the first other one on, all are read. What was finished
after what is said by a sequence, not by a clock, which may be set."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from bio_mcp.deadline import Progress, silent
from bio_mcp.errors import InvalidInput, NcbiUnreadable, NotFound, StoreFailed
from bio_mcp.literature.medline.stream import UNREADABLE
from bio_mcp.literature.pubmed_files import place, published_md5
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import PubmedFiles
from bio_mcp.ports.state import Job

PART = ".part"  # what a file that is not whole yet ends in
TRIES = 2  # what was damaged on its way is fetched once more, from its beginning


def fetch(address: str, published: PubmedFiles, into: Path) -> str:
    """Fetch a file to `into`, and return its MD5. An interrupted fetch is gone on with where it ended.

    Raises `NcbiUnreadable` where the file does not have the MD5 that NCBI publishes, also when fetched anew.
    """
    expected, part = published.md5(address), into.with_name(into.name + PART)
    for _ in range(TRIES):
        published.download(address, part)
        if md5_of(part) == expected:
            part.replace(into)
            return expected
        part.unlink()
    name = address.rpartition("/")[2]
    raise NcbiUnreadable(f"{name} does not have the MD5 that NCBI publishes of it; try again later.", retryable=False)


def md5_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


ENDINGS = (".xml", ".xml.gz", ".xz")
_LONGEST = 10_000  # bytes of a file with an MD5


@dataclass(frozen=True)
class ListedFile:
    """A file of records. `named`: it was asked for by its own name, not found in a folder.

    Size and time are those of its listing.
    """

    path: Path
    named: bool = True
    size: int = field(init=False, compare=False, default=0)  # bytes; 0 if it cannot be read
    modified_ns: int = field(init=False, compare=False, default=0)  # when it was last written, since 1970

    def __post_init__(self) -> None:
        with suppress(OSError):
            listed = self.path.stat()
            object.__setattr__(self, "size", listed.st_size)
            object.__setattr__(self, "modified_ns", listed.st_mtime_ns)

    @property
    def has_changed(self) -> bool:
        """Whether it was written since it was listed."""
        now = ListedFile(self.path)
        return not now.modified_ns or (now.size, now.modified_ns) != (self.size, self.modified_ns)

    @cached_property
    def md5(self) -> str:
        """MD5 of its bytes, in hex. Raises `InvalidInput` if it cannot be read."""
        if not self.path.is_file():  # a pipe would be waited for
            raise InvalidInput(UNREADABLE)
        with _reading():
            return md5_of(self.path)

    def check(self) -> None:
        """Compare it with the `.md5` beside it, where there is one.

        Raises `NcbiUnreadable` if it is not that file, `InvalidInput` if either cannot be read.
        """
        actual, beside = self.md5, self.path.with_name(f"{self.path.name}.md5")
        if not beside.is_file():
            return
        with _reading(), beside.open(encoding="latin-1") as file:
            expected = published_md5(file.read(_LONGEST))
        if expected is None:
            raise NcbiUnreadable(f"{beside.name} has no MD5; download it again.", retryable=False)
        if expected != actual:
            raise NcbiUnreadable(
                f"Its MD5 is not the one in {beside.name}, so it is damaged or not whole; download both again.",
                retryable=False,
            )


def listed(paths: Iterable[Path]) -> list[ListedFile]:
    """The files that the paths name or that are in the folders that they name, each once, in the order in which they
    apply.

    That is NLM's numbering, by year, in which baseline files come before update files; files that are not NLM's follow
    as they are given. Links to folders are not followed. Raises `InvalidInput` for a folder without any, or one that
    cannot be read.
    """
    files: dict[str, ListedFile] = {}
    for path in paths:
        for file in _below(path) if path.is_dir() else [ListedFile(path)]:
            whole_path = os.path.realpath(file.path)
            if whole_path not in files or file.named:
                files[whole_path] = file
    places = {file: place(file.path.name) for file in files.values()}
    return sorted(places, key=lambda file: (places[file] is None, places[file] or (0, 0)))


def _below(folder: Path) -> Iterator[ListedFile]:
    paths = (Path(above, name) for above, _, names in os.walk(folder, onerror=_refuse) for name in names)
    found = sorted(each for each in paths if each.name.endswith(ENDINGS) and not each.name.startswith("."))
    if not found:
        raise InvalidInput(f"The folder {folder.name} has no file of PubMed XML: {', '.join(ENDINGS)}.")
    yield from (ListedFile(path, named=False) for path in found)


def _refuse(error: OSError) -> None:
    name = Path(error.filename).name
    raise InvalidInput(f"The folder {name} cannot be read; let this user read it, or name what to import.") from error


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(UNREADABLE) from error


def mirror(
    published: PubmedFiles, folder: Path, is_finished: Callable[[ListedFile], object], progress: Progress = silent
) -> None:
    """Fetch the baseline and update files that `folder` lacks, each with its MD5 beside it, one after the other.

    The folder is made if its parent is there. A file that is there and not `is_finished` is compared with its MD5, and
    fetched again if it is not that file. An interrupted run is gone on with where it ended. Raises the failures of
    `published`, `NcbiUnreadable` for a file that comes damaged twice, and `StoreFailed` for one that cannot be written;
    what was fetched before stays.
    """
    addresses = published.addresses()
    for number, address in enumerate(addresses):
        path = folder / address
        progress(number, len(addresses), f"fetching {path.name}")
        try:
            folder.mkdir(exist_ok=True)
            if not _is_whole(ListedFile(path), is_finished):
                path.parent.mkdir(exist_ok=True)
                md5 = fetch(address, published, path)
                path.with_name(f"{path.name}.md5").write_text(f"MD5({path.name})= {md5}\n", encoding="ascii")
        except OSError as error:
            raise StoreFailed(f"{path.name} could not be written ({error.strerror}): mend that and repeat.") from error


def _is_whole(file: ListedFile, is_finished: Callable[[ListedFile], object]) -> bool:
    try:
        if not is_finished(file):
            file.check()
    except (InvalidInput, NcbiUnreadable):
        return False
    return True


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


def finished(files: Iterable[ListedFile], backends: Backends) -> list[dict[str, Any]]:
    """The counts of the first files, as many as need not be read again. A file that was named is always read."""
    jobs = list[Job]()
    for file in files:
        job = None if file.named else finished_mark(file, backends)
        if job is None or (jobs and _sequence(job) <= _sequence(jobs[-1])):
            break
        jobs.append(job)
    return [job.progress for job in jobs]


def finished_mark(file: ListedFile, backends: Backends) -> Job | None:
    """The mark of this very file, by size and time, or by size and MD5; None unless it was imported to its end."""
    job = _find(_id(file), backends)
    if job is None:
        return None
    is_same = job.request["size"] == file.size and (
        job.request["modified_ns"] == file.modified_ns or job.request["md5"] == file.md5
    )
    return job if is_same else None


def _sequence(job: Job) -> int:
    """Of two marks with the same, as two imports at once may leave them, nobody knows which is the later."""
    return int(job.request.get("sequence", 0))


def _find(job_id: str, backends: Backends) -> Job | None:
    try:
        return backends.jobs.get(job_id)
    except NotFound:
        return None


def _id(file: ListedFile) -> str:
    return f"{KIND}-{sha256(os.fsencode(file.path.name)).hexdigest()[:32]}"
