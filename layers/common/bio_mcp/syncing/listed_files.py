"""PubMed's files in folders: which there are, in which order they apply, and whether they are whole."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.medline.archives import UNREADABLE
from bio_mcp.literature.pubmed_files import place, published_md5
from bio_mcp.syncing.downloading import md5_of

ENDINGS = (".xml", ".xml.gz", ".xz")
_LONGEST = 10_000  # bytes of a file with an MD5


@dataclass(frozen=True)
class ListedFile:
    """A file of records. `named`: it was asked for by its own name, not found in a folder.

    Size and time are those of its listing.
    """

    path: Path
    named: bool = True
    _listed: os.stat_result | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_listed", _stat(self.path))

    @property
    def size(self) -> int:
        """Bytes; 0 if it cannot be read."""
        return self._listed.st_size if self._listed else 0

    @property
    def modified_ns(self) -> int:
        """When it was last written, in nanoseconds since 1970."""
        return self._listed.st_mtime_ns if self._listed else 0

    @property
    def has_changed(self) -> bool:
        """Whether it was written since it was listed."""
        now = _stat(self.path)
        return now is None or (now.st_size, now.st_mtime_ns) != (self.size, self.modified_ns)

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
    return sorted(files.values(), key=_rank)


def _rank(file: ListedFile) -> tuple[bool, tuple[int, int]]:
    known = place(file.path.name)
    return known is None, known or (0, 0)


def _below(folder: Path) -> Iterator[ListedFile]:
    paths = (Path(above, name) for above, _, names in os.walk(folder, onerror=_refuse) for name in names)
    found = sorted(each for each in paths if each.name.endswith(ENDINGS) and not each.name.startswith("."))
    if not found:
        raise InvalidInput(f"The folder {folder.name} has no file of PubMed XML: {', '.join(ENDINGS)}.")
    yield from (ListedFile(path, named=False) for path in found)


def _refuse(error: OSError) -> None:
    name = Path(error.filename).name
    raise InvalidInput(f"The folder {name} cannot be read; let this user read it, or name what to import.") from error


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(UNREADABLE) from error
